"""Pages of the web, each fetched by its address for whoever named it."""
