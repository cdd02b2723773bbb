"""The trail's memory, as a tool reads and changes it."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any


class Memory:
    """What the trail remembers, as texts. Changes go back with the tool's result."""

    def __init__(self, start: Mapping[str, str] | None = None) -> None:
        self._values = dict(start or {})
        self._delta: dict[str, str] = {}
        self._deletions: dict[str, None] = {}

    def get(self, key: str, default: str | None = None) -> str | None:
        """The text under a key, or the default."""
        return self._values.get(key, default)

    def has(self, key: str) -> bool:
        """Whether there is a text under a key."""
        return key in self._values

    def keys(self) -> list[str]:
        """The keys, oldest first."""
        return list(self._values)

    def set(self, key: str, value: str) -> None:
        """Remembers a text."""
        if not isinstance(value, str):
            raise TypeError(f"memory holds texts; `{key}` would be {type(value).__name__}: use json.dumps")
        self._values[key] = self._delta[key] = value
        self._deletions.pop(key, None)

    def delete(self, key: str) -> None:
        """Forgets a key. A key that is not shown, as a secret, can be deleted too."""
        self._values.pop(key, None)
        self._delta.pop(key, None)
        self._deletions[key] = None

    def changes(self) -> dict[str, Any]:
        """`memoryDelta` and `memoryDeletions` for the result's `_meta.trailblaze`; empty without changes."""
        changes: dict[str, Any] = {}
        if self._delta:
            changes["memoryDelta"] = dict(self._delta)
        if self._deletions:
            changes["memoryDeletions"] = list(self._deletions)
        return changes


_current: ContextVar[tuple[str, Memory] | None] = ContextVar("packtrain_memory", default=None)


def memory_of(invocation_id: str, start: Mapping[str, str]) -> Memory:
    """The memory of a call: clients of the same call share it, and its result finds it."""
    current = _current.get()
    if current is not None and current[0] == invocation_id:
        return current[1]
    return use_memory(invocation_id, Memory(start))


def use_memory(invocation_id: str, memory: Memory) -> Memory:
    """Makes a memory that of the call."""
    _current.set((invocation_id, memory))
    return memory


def current_changes() -> dict[str, Any]:
    """The changes of the call that runs now."""
    current = _current.get()
    return current[1].changes() if current is not None else {}
