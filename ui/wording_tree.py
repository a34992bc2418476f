"""What the tree and the drawers say beside what is in `wording`: orders, what a drawer shows of a category."""

from __future__ import annotations

ORDER = {"order": "Order of the categories: click to change it", "bySize": "by size", "byName": "by name"}
