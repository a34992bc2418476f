"""A question walked down the category tree: select, retrieve, fit, answer."""
