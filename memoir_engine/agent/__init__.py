"""A conversation with tools over the memory: what is looked back upon, what is shown, what is kept."""
