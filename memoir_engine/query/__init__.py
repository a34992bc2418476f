"""Questions answered by walking the category tree: select, retrieve, fit, answer."""
