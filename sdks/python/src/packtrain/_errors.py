"""What a command can fail with. Each message is the server's, and says what to do."""

from __future__ import annotations

import sys
from typing import Any, TypeVar

E = TypeVar("E", bound="CommandError")


class CommandError(Exception):
    """A command or a called tool did not do what it was asked.

    `code` is the wire's (`"invalid_argument"` ...), `command` the command or tool.
    """

    def __new__(cls: type[E], *args: Any, **kwargs: Any) -> E:
        """An error that is a `ToolError` of the loaded frameworks too."""
        return super().__new__(_reported(cls))

    def __init__(self, message: str, *, code: str = "unknown", command: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.command = command


def _reported(cls: type[E]) -> type[E]:
    """Frameworks report a `ToolError` without a traceback; mcp 2 tells callers the message of nothing else."""
    loaded = [sys.modules[name] for name in _FRAMEWORKS if name in sys.modules]
    bases = (cls, *(module.ToolError for module in loaded if not issubclass(cls, module.ToolError)))
    if bases not in _reported_classes:
        _reported_classes[bases] = type(cls.__name__, bases, {"__module__": cls.__module__}) if bases[1:] else cls
    found: type[E] = _reported_classes[bases]
    return found


_FRAMEWORKS = ("fastmcp.exceptions", "mcp.server.mcpserver.exceptions")
_reported_classes: dict[tuple[type, ...], Any] = {}


class InvalidArgumentError(CommandError):
    """An argument is invalid."""


class CommandFailedError(CommandError):
    """The screen or the app said no: not visible, an assertion that does not hold."""


class WrongPlatformError(CommandError):
    """The command does not exist on the platform of this device."""


class InvocationEndedError(CommandError):
    """The tool call has ended: something it left behind went on."""


class DeadlineError(CommandError):
    """The command took too long."""


class DeviceUnavailableError(CommandError):
    """The device, or the run it belongs to, is gone."""


class CancelledError(CommandError):
    """The run or the step was cancelled. Not `asyncio.CancelledError`."""


class NeedsDeviceError(CommandError):
    """The tool was called outside of a session, so it has no device."""


class ToolCallError(CommandError):
    """A tool that was called by name failed. `tool` is its name."""

    def __init__(self, message: str, *, tool: str) -> None:
        super().__init__(message, code="failed_precondition", command=tool)
        self.tool = tool


_BY_CODE: dict[str, type[CommandError]] = {
    "invalid_argument": InvalidArgumentError,
    "failed_precondition": CommandFailedError,
    "unimplemented": WrongPlatformError,
    "unauthenticated": InvocationEndedError,
    "deadline_exceeded": DeadlineError,
    "unavailable": DeviceUnavailableError,
    "canceled": CancelledError,
}


def error_of_code(code: str, message: str, command: str) -> CommandError:
    """The error of a wire code; an unknown code makes a plain `CommandError`."""
    return _BY_CODE.get(code, CommandError)(message, code=code, command=command)
