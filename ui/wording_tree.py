"""Small words of the pages to look around in: the orders of the tree, who acted, questions to begin with."""

from __future__ import annotations

ORDER = {"order": "Order of the categories: click to change it", "bySize": "by size", "byName": "by name"}
YOU = "You"
TRY_ONE = "Questions to begin with"
