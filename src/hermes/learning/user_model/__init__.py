"""The user model: what is known about a person, and questions about it."""
