"""Doors to a memory from outside Python, all drawn from one table of verbs: command line, MCP, HTTP."""
