"""Logging in to MCP servers: once by a person, ever after by refresh, shared by all processes of a home."""
