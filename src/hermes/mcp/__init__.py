"""The MCP client that never loses a server."""
