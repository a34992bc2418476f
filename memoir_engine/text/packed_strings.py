"""Where the texts stand in MessagePack, as LangGraph's serialiser writes it: to take words out and leave the rest as it is.

Invariant: names of fields and of classes are no texts; what is replaced has as many bytes as before, so every length still holds.
Pure. Source: the MessagePack specification; DESIGN §6 (erasure).
"""

from __future__ import annotations

from collections.abc import Callable

_FIXED = {0xCA: 4, 0xCB: 8, 0xCC: 1, 0xCD: 2, 0xCE: 4, 0xCF: 8, 0xD0: 1, 0xD1: 2, 0xD2: 4, 0xD3: 8}
_BYTES = {0xC4: 1, 0xC5: 2, 0xC6: 4}
_TEXTS = {0xD9: 1, 0xDA: 2, 0xDB: 4}
_EXTENSIONS = {0xC7: 1, 0xC8: 2, 0xC9: 4}
_LISTS = {0xDC: 2, 0xDD: 4}
_MAPS = {0xDE: 2, 0xDF: 4}
_ARGUMENT = 2  # of an extension: its module, its class, what it is made of, how

Span = tuple[int, int]


def replaced(data: bytes, change: Callable[[str], str]) -> bytes:
    """change: gives a text of as many bytes. What cannot be read as MessagePack comes back as it was."""
    found = bytearray(data)
    for start, end in texts(data):
        try:
            before = data[start:end].decode()
        except UnicodeDecodeError:
            continue
        after = change(before).encode()
        if len(after) == end - start:
            found[start:end] = after
    return bytes(found)


def texts(data: bytes) -> list[Span]:
    """Where they begin and end, in bytes."""
    found: list[Span] = []
    try:
        end = _walk(data, 0, found)
    except IndexError:
        return []
    return found if end == len(data) else []


def _walk(data: bytes, at: int, found: list[Span] | None) -> int:
    """The end of the value that begins there. found: None where its texts are names."""
    mark = data[at]
    if 0xA0 <= mark <= 0xBF or mark in _TEXTS:
        start, length = _sized(data, at, mark & 0x1F if mark <= 0xBF else None, _TEXTS)
        if found is not None:
            found.append((start, _checked(data, start + length)))
        return _checked(data, start + length)
    if 0x80 <= mark <= 0x8F or mark in _MAPS:
        start, count = _sized(data, at, mark & 0x0F if mark <= 0x8F else None, _MAPS)
        for _ in range(count):
            start = _walk(data, _walk(data, start, None), found)
        return start
    if 0x90 <= mark <= 0x9F or mark in _LISTS:
        start, count = _sized(data, at, mark & 0x0F if mark <= 0x9F else None, _LISTS)
        for _ in range(count):
            start = _walk(data, start, found)
        return start
    if mark in _EXTENSIONS or 0xD4 <= mark <= 0xD8:
        return _extension(data, at, mark, found)
    if mark in _BYTES:
        start, length = _sized(data, at, None, _BYTES)
        return _checked(data, start + length)
    return _checked(data, at + 1 + _FIXED.get(mark, 0))


def _extension(data: bytes, at: int, mark: int, found: list[Span] | None) -> int:
    start, length = _sized(data, at, 1 << (mark - 0xD4) if mark >= 0xD4 else None, _EXTENSIONS)
    start, end = start + 1, _checked(data, start + 1 + length)
    if not length or not (0x90 <= data[start] <= 0x9F):
        return end
    count, place = data[start] & 0x0F, start + 1
    for number in range(count):
        place = _walk(data[:end], place, found if number == _ARGUMENT else None)
    return end


def _sized(data: bytes, at: int, small: int | None, wide: dict[int, int]) -> Span:
    """Where what follows begins, and how much of it there is."""
    if small is not None:
        return at + 1, small
    size = wide[data[at]]
    return at + 1 + size, int.from_bytes(data[at + 1 : _checked(data, at + 1 + size)])


def _checked(data: bytes, end: int) -> int:
    if end > len(data):
        raise IndexError(end)
    return end
