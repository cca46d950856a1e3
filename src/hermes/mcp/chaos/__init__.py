"""An MCP server that fails on demand, and the runner that proves with it that the client keeps its promises."""
