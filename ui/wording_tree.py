"""Small words of the pages to look around in: the orders of the tree, who acted."""

from __future__ import annotations

ORDER = {"order": "Order of the categories: click to change it", "bySize": "by size", "byName": "by name"}
YOU = "You"
