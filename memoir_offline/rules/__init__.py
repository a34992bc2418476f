"""English rules by which the offline model draws and compares facts. Pure."""
