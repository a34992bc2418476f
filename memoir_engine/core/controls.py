"""Control characters in names: shown as marks, so that a name reads as it is written.

`"\\u202egpj.exe.txt"` would be shown as "txt.exe.jpg", and an escape sequence would colour or clear a terminal. A name is kept
with the marks in their place, so that every door shows them and two names that differ stay two. Texts keep theirs: spans count
characters.
Source: Unicode UAX #9 (directional formatting), UTR #36 §2 (visual spoofing).
"""

from __future__ import annotations

import re

PICTURES = 0x2400  # where Unicode begins to draw the controls of ASCII
DELETE, DELETE_PICTURE = "\x7f", "\u2421"
CONTROLS = re.compile(
    "[\x01-\x1f\x7f-\x9f"  # of a terminal; NUL is refused by the database
    "\u202a-\u202e\u2066-\u2069"  # that turn the direction of what follows
    "\u2028\u2029"  # that end a line
    "\u200b\u2060-\u2064\ufeff]"  # that cannot be seen; joiners are left, which scripts and emoji need
)


def marked(name: str) -> str:
    """Return the name with each control character as a mark: the picture that Unicode has of it, or its number in brackets.

    A name of nothing but white space stays what it is: it is refused as empty.
    """
    return name if not name.strip() else CONTROLS.sub(lambda found: _mark(found[0]), name)


def _mark(control: str) -> str:
    if control == DELETE:
        return DELETE_PICTURE
    return chr(PICTURES + ord(control)) if control < " " else f"[U+{ord(control):04X}]"
