"""How tools are declared: a decorator, their metadata, the registry."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import typing
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, ParamSpec, TypedDict

from ._client import TrailblazeClient
from ._context import Platform
from ._results import from_value
from ._wire import dump

MAX_THREADS = 256
"""How many tools that are not `async` run at the same time; the others wait."""


P = ParamSpec("P")


def trailblaze_tool(function: Callable[P, Any]) -> Callable[P, Coroutine[Any, Any, Any]]:
    """Below `@mcp.tool`: memory that was changed goes back with whatever the tool returns.

    A tool that is not `async` runs in a thread, so that it may block. The tool has no output schema.
    """
    hints = typing.get_type_hints(function, include_extras=True)
    hints.pop("return", None)
    signature = inspect.signature(function)
    parameters = [p.replace(annotation=hints.get(p.name, p.annotation)) for p in signature.parameters.values()]

    @functools.wraps(function)
    async def tool(*args: P.args, **kwargs: P.kwargs) -> Any:
        for value in (*args, *kwargs.values()):
            if hasattr(type(value), "request_context"):
                TrailblazeClient.maybe_from_context(value)  # so that threads and tasks share its memory
        if inspect.iscoroutinefunction(function):
            return from_value(await function(*args, **kwargs))
        call = functools.partial(contextvars.copy_context().run, function, *args, **kwargs)
        return from_value(await asyncio.get_running_loop().run_in_executor(_threads(), call))

    del tool.__wrapped__  # frameworks would read the names of types in the wrong module
    tool.__annotations__ = hints
    tool.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=parameters, return_annotation=inspect.Signature.empty
    )
    return tool


@functools.cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="packtrain-tool")


def tool_meta(
    *,
    is_for_llm: bool | None = None,
    is_recordable: bool | None = None,
    requires_host: bool | None = None,
    requires_context: bool | None = None,
    supported_platforms: Sequence[Platform] | None = None,
    supported_drivers: Sequence[str] | None = None,
    toolset: str | None = None,
) -> dict[str, Any]:
    """The value of `meta=` of a tool. What is not given is as by default.

    `is_for_llm=False`: agents do not see the tool. `is_recordable=False`: the calls it makes are recorded in its
    place. `requires_host=True`: only where this computer drives the device. `requires_context=True`: it needs a device.
    """
    given = {
        "isForLlm": is_for_llm,
        "isRecordable": is_recordable,
        "requiresHost": requires_host,
        "requiresContext": requires_context,
        "supportedPlatforms": None if supported_platforms is None else list(supported_platforms),
        "supportedDrivers": None if supported_drivers is None else list(supported_drivers),
        "toolset": toolset,
    }
    return {f"trailblaze/{key}": value for key, value in given.items() if value is not None}


class RegistryTool(TypedDict, total=False):
    """What the registry says of a tool."""

    platforms: list[Literal["android", "ios", "web"]]
    groups: list[str]
    exposedToLlm: bool
    isRecordable: bool
    isDelegating: bool


class RegistryGroup(TypedDict, total=False):
    """What the registry says of a group."""

    description: str
    defaultEnabled: bool


def registry_resource(
    mcp: Any,
    *,
    tools: Mapping[str, RegistryTool],
    groups: Mapping[str, RegistryGroup] | None = None,
    version: str | None = None,
) -> None:
    """Serves `trailblaze://registry`: platforms, groups and delegating tools of a server."""
    server = {"name": mcp.name, **({"version": version} if version else {})}
    registry = dump({"tools": tools, "groups": groups or {}, "serverInfo": server})

    def trailblaze_registry() -> str:
        return registry

    mcp.resource("trailblaze://registry", name="registry", mime_type="application/json")(trailblaze_registry)
