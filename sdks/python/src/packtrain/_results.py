"""What tools return. Every helper adds the changes of the call's memory."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any

from ._memory import current_changes
from ._wire import dump


def success(text: str | None = None, structured: Mapping[str, Any] | None = None) -> Any:
    """The tool passed. Without a text, the text is the data as JSON."""
    if text is None and structured is not None:
        text = dump(structured)
    return _result(text, structured=structured)


def error(message: str) -> Any:
    """The tool failed, and the step fails with the message."""
    return _result(message, is_error=True)


def fatal_error(message: str) -> Any:
    """The tool failed, and nothing should be retried or continued."""
    return _result(message, is_error=True, meta={"variant": "FatalError"})


def missing_required_args(names: Sequence[str]) -> Any:
    """The tool was called without arguments that it needs."""
    message = f"Missing required argument{'' if len(names) == 1 else 's'}: {', '.join(names)}"
    return _result(message, is_error=True, meta={"variant": "MissingRequiredArgs", "missing": list(names)})


def delegate(calls: Sequence[Mapping[str, Any]]) -> Any:
    """What is to be done instead: `[{"tool": "tapOnElementWithText", "args": {"text": "Sign in"}}]`."""
    delegates = [{"tool": call["tool"], "args": dict(call.get("args") or {})} for call in calls]
    return success(None, {"success": True, "_trailblaze_delegates": delegates})


def from_value(value: Any) -> Any:
    """The result of a tool that returned a plain value, as the frameworks make it; results stay as they are."""
    if _is_result(value):
        return value
    from pydantic_core import to_jsonable_python

    plain = to_jsonable_python(value)
    if plain is None:
        return success()
    structured = plain if isinstance(plain, dict) else {"result": plain}
    return success(plain if isinstance(plain, str) else dump(plain), structured)


def _is_result(value: Any) -> bool:
    """Whether a framework knows the value as a result or as content already."""
    items = value if isinstance(value, (list, tuple)) and value else [value]
    return any(type(item).__module__.split(".")[0] in ("mcp", "mcp_types", "fastmcp") for item in items)


def _result(
    text: str | None,
    *,
    structured: Mapping[str, Any] | None = None,
    is_error: bool = False,
    meta: Mapping[str, Any] | None = None,
) -> Any:
    from mcp.types import CallToolResult

    wire: dict[str, Any] = {"content": [] if text is None else [{"type": "text", "text": text}]}
    if structured is not None:
        wire["structuredContent"] = dict(structured)
    if is_error:
        wire["isError"] = True
    trailblaze = {**(meta or {}), **current_changes()}
    if trailblaze:
        wire["_meta"] = {"trailblaze": trailblaze}
    result = CallToolResult.model_validate(wire)
    return _fastmcp_result(result) if _in_fastmcp() else result


def _in_fastmcp() -> bool:
    """Whether a tool of the package `fastmcp` runs now; tools of the package `mcp` return its own results."""
    if "fastmcp.server.context" not in sys.modules:
        return False
    try:
        import_module("fastmcp.server.dependencies").get_context()
    except RuntimeError:
        return False
    return True


def _fastmcp_result(result: Any) -> Any:
    """A result as FastMCP passes it through. FastMCP 2 has no errors among its own, so it is told what to send."""
    wire = result.model_dump(by_alias=True, exclude_none=True)
    wrapped = _fastmcp_class()(
        content=result.content, structured_content=wire.get("structuredContent"), meta=wire.get("_meta")
    )
    wrapped._mcp_result = result
    return wrapped


@cache
def _fastmcp_class() -> Any:
    base = getattr(import_module("fastmcp.tools"), "ToolResult", None)
    base = base or import_module("fastmcp.tools.tool").ToolResult
    members = {"_mcp_result": None, "to_mcp_result": lambda self: self._mcp_result, "__module__": "fastmcp.tools"}
    return type("ToolResult", (base,), members)
