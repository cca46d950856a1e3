"""Shell commands: read down to the programs that they start, and judged by rules."""
