"""The programs that the bench starts: bare floors, and Hermes with a ruler at its side."""
