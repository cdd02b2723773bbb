"""One tool call's way to its device: sends commands and callbacks, returns values or raises."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ._context import TrailblazeContext
from ._http import async_pool
from ._http_sync import sync_pool
from ._memory import Memory, memory_of
from ._wire import (
    Request,
    Response,
    WireError,
    command_answer,
    command_request,
    fetch_answer,
    fetch_request,
    not_answered,
)


class Session:
    """What a call is for, its memory, and the way requests go. The mocks replace it."""

    def __init__(self, context: TrailblazeContext, memory: Memory | None = None) -> None:
        self.context = context
        self.memory = memory or memory_of(context.invocation_id, context.memory)

    @staticmethod
    def of(ctx: Any) -> Session | None:
        """The session of a framework's context object, which may bring its own; None outside of one."""
        if hasattr(ctx, "packtrain_session"):
            own: Session = ctx.packtrain_session()
            return own
        context = TrailblazeContext.from_context(ctx)
        return Session(context) if context is not None else None

    async def send(self, request: Request) -> Response:
        """Sends a request."""
        try:
            return await async_pool().send(request)
        except (OSError, WireError) as error:
            raise not_answered(request, error) from error

    def send_blocking(self, request: Request) -> Response:
        """Sends a request and blocks."""
        try:
            return sync_pool.send(request)
        except (OSError, WireError) as error:
            raise not_answered(request, error) from error


class AsyncCommands:
    """A group of commands."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def _command(self, method: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        request = command_request(self._session.context, method, arguments)
        return command_answer(request, await self._session.send(request))


class SyncCommands:
    """A group of commands that block."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def _command(self, method: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        request = command_request(self._session.context, method, arguments)
        return command_answer(request, self._session.send_blocking(request))


class AsyncScreenBase:
    """What the fields of a screen point to."""

    _session: Session
    screenshot_url: str
    tree_url: str

    async def screenshot(self) -> bytes:
        """The screenshot as PNG."""
        request = fetch_request(self._session.context, "screenshot", self.screenshot_url)
        return fetch_answer(request, await self._session.send(request))

    async def tree(self) -> Any:
        """The tree of elements."""
        request = fetch_request(self._session.context, "tree", self.tree_url)
        return json.loads(fetch_answer(request, await self._session.send(request)))


class SyncScreenBase:
    """`AsyncScreenBase` for blocking callers."""

    _session: Session
    screenshot_url: str
    tree_url: str

    def screenshot(self) -> bytes:
        """The screenshot as PNG."""
        request = fetch_request(self._session.context, "screenshot", self.screenshot_url)
        return fetch_answer(request, self._session.send_blocking(request))

    def tree(self) -> Any:
        """The tree of elements."""
        request = fetch_request(self._session.context, "tree", self.tree_url)
        return json.loads(fetch_answer(request, self._session.send_blocking(request)))
