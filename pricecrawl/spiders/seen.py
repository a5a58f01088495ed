"""A set of ids in a few bytes each, so that a crawl of a large shop stays flat in memory."""

from __future__ import annotations

from array import array

_START = 1024
_ALL_BITS = 2**64 - 1


class SeenIds:
    """Which ids were met, as 64-bit hashes in an open-addressed table: at most 32 bytes an id.

    Two different ids of one million collide with a probability below 1 in 10 million.
    """

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * _START))
        self._count = 0

    def __len__(self) -> int:
        """How many distinct ids were added."""
        return self._count

    def __contains__(self, key: str) -> bool:
        """True if `key` was added before."""
        return bool(self._slots[self._find(_hash(key))])

    def add(self, key: str) -> bool:
        """Remember `key`; True if it is new."""
        value = _hash(key)
        slot = self._find(value)
        if self._slots[slot]:
            return False
        self._slots[slot] = value
        self._count += 1
        if self._count * 2 > len(self._slots):
            self._grow()
        return True

    def _find(self, value: int) -> int:
        mask = len(self._slots) - 1
        slot = value & mask
        while self._slots[slot] not in (0, value):
            slot = (slot + 1) & mask
        return slot

    def _grow(self) -> None:
        old = self._slots
        self._slots = array("Q", bytes(16 * len(old)))
        for value in old:
            if value:
                self._slots[self._find(value)] = value


def _hash(key: str) -> int:
    # Python's own hash of a text: keyed, 64 bits, and quick. Zero marks an empty slot.
    return hash(key) & _ALL_BITS or 1
