"""Editing the tree by hand: what is asked, what it comes to, and the writing of it."""
