"""What FastMCP 3 and 4 do in each call for middleware and providers that a server may not have."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from typing import Any

_HOOKS = ("__call__", "_dispatch_handler", "on_message", "on_request", "on_call_tool")


def lighten(mcp: Any) -> None:
    """Has the calls of a server do without it."""
    if hasattr(mcp, "_get_tool") and hasattr(mcp, "providers"):
        mcp._get_tool = partial(_get_tool, mcp, mcp._get_tool)
        if not hasattr(mcp, "_dispatch_component_middleware"):  # FastMCP 4 does more there
            mcp.call_tool = partial(_call_tool, mcp, mcp.call_tool)


async def _get_tool(mcp: Any, original: Callable[..., Any], name: str, version: Any = None) -> Any:
    tool = None
    if len(mcp.providers) == 1:
        with suppress(Exception):  # asked again, the framework says what it means
            tool = await mcp.providers[0].get_tool(name, version)
    return tool if tool is not None and tool.auth is None else await original(name, version)


async def _call_tool(mcp: Any, original: Any, *args: Any, run_middleware: bool = True, **more: Any) -> Any:
    is_needed = run_middleware and any(_has_state(m) or _looks_at_calls(m.__class__) for m in mcp.middleware)
    return await original(*args, run_middleware=is_needed, **more)


@cache
def _looks_at_calls(middleware: type) -> bool:
    from fastmcp.server.middleware import Middleware

    is_usual = issubclass(middleware, Middleware)
    return not is_usual or any(getattr(middleware, hook) is not getattr(Middleware, hook) for hook in _HOOKS)


def _has_state(middleware: Any) -> bool:
    return bool(getattr(middleware, "__dict__", True))
