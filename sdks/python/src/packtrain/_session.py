"""One tool call's way to its device: sends commands and callbacks, returns values or raises."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ._context import TrailblazeContext
from ._http import async_pool
from ._http_sync import sync_pool
from ._memory import memory_of
from ._wire import (
    Request,
    Response,
    ToolCallResult,
    WireError,
    command_answer,
    command_request,
    fetch_answer,
    fetch_request,
    not_answered,
    tool_answer,
    tool_request,
)


class AsyncSession:
    """What commands are sent through. The mocks replace it."""

    def __init__(self, context: TrailblazeContext) -> None:
        self.context = context
        self.memory = memory_of(context.invocation_id, context.memory)

    @staticmethod
    def of(ctx: Any) -> AsyncSession | None:
        """The session of a framework's context object, which may bring its own; None outside of one."""
        if hasattr(ctx, "packtrain_session"):
            own: AsyncSession = ctx.packtrain_session()
            return own
        context = TrailblazeContext.from_context(ctx)
        return AsyncSession(context) if context is not None else None

    async def command(self, method: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Carries out a typed command."""
        request = command_request(self.context, method, arguments)
        return command_answer(request, await self._send(request))

    async def fetch(self, name: str, url: str) -> bytes:
        """Fetches what an answer points to."""
        request = fetch_request(self.context, name, url)
        return fetch_answer(request, await self._send(request))

    async def call_tool(self, tool: str, arguments: Mapping[str, Any]) -> ToolCallResult:
        """Calls a tool by name."""
        request = tool_request(self.context, tool, arguments)
        return tool_answer(request, await self._send(request))

    async def _send(self, request: Request) -> Response:
        try:
            return await async_pool().send(request)
        except (OSError, WireError) as error:
            raise not_answered(request, error) from error


class SyncSession:
    """`AsyncSession` for blocking callers."""

    def __init__(self, context: TrailblazeContext) -> None:
        self.context = context
        self.memory = memory_of(context.invocation_id, context.memory)

    @staticmethod
    def of(ctx: Any) -> SyncSession | None:
        """The session of a framework's context object, which may bring its own; None outside of one."""
        if hasattr(ctx, "packtrain_sync_session"):
            own: SyncSession = ctx.packtrain_sync_session()
            return own
        context = TrailblazeContext.from_context(ctx)
        return SyncSession(context) if context is not None else None

    def command(self, method: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Carries out a typed command."""
        request = command_request(self.context, method, arguments)
        return command_answer(request, self._send(request))

    def fetch(self, name: str, url: str) -> bytes:
        """Fetches what an answer points to."""
        request = fetch_request(self.context, name, url)
        return fetch_answer(request, self._send(request))

    def call_tool(self, tool: str, arguments: Mapping[str, Any]) -> ToolCallResult:
        """Calls a tool by name."""
        request = tool_request(self.context, tool, arguments)
        return tool_answer(request, self._send(request))

    def _send(self, request: Request) -> Response:
        try:
            return sync_pool.send(request)
        except (OSError, WireError) as error:
            raise not_answered(request, error) from error


class AsyncCommands:
    """A group of commands."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session


class SyncCommands:
    """A group of commands that block."""

    def __init__(self, session: SyncSession) -> None:
        self._session = session


class AsyncScreenBase:
    """What the fields of a screen point to; it is there until the tool call ends."""

    _session: AsyncSession
    screenshot_url: str
    tree_url: str

    async def screenshot(self) -> bytes:
        """The screenshot as PNG."""
        return await self._session.fetch("screenshot", self.screenshot_url)

    async def tree(self) -> Any:
        """The tree of elements."""
        return json.loads(await self._session.fetch("tree", self.tree_url))


class SyncScreenBase:
    """`AsyncScreenBase` for blocking callers."""

    _session: SyncSession
    screenshot_url: str
    tree_url: str

    def screenshot(self) -> bytes:
        """The screenshot as PNG."""
        return self._session.fetch("screenshot", self.screenshot_url)

    def tree(self) -> Any:
        """The tree of elements."""
        return json.loads(self._session.fetch("tree", self.tree_url))
