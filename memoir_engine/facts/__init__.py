"""Facts drawn from conversations, and how they meet what is known: services without a database of their own."""
