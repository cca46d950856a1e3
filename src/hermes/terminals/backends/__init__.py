"""One file per kind of place; they do not know each other, and what they share lies beside this folder."""
