"""The contract: the data that every part of Hermes exchanges, and the seams between the parts."""
