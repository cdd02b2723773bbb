"""The clients tools work with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ._context import Device, TrailblazeContext, needs_device
from ._generated import AsyncCore, AsyncMobile, AsyncWeb, SyncCore, SyncMobile, SyncWeb
from ._session import AsyncSession, SyncSession
from ._wire import ToolCallResult

__all__ = ["SyncTools", "SyncTrailblazeClient", "Tools", "TrailblazeClient"]


class TrailblazeClient(AsyncCore):
    """The device of one tool call. Make one in each call, with `from_context`.

    Commands of all platforms are methods; `mobile` and `web` have the others. `tools` calls any tool by name.
    """

    def __init__(self, session: AsyncSession) -> None:
        super().__init__(session)
        self.context = session.context
        """What the call is for."""
        self.mobile = AsyncMobile(session)
        """Commands of Android and iOS."""
        self.web = AsyncWeb(session)
        """Commands of web pages."""
        self.memory = session.memory
        """What the trail remembers."""
        self.tools = Tools(session)
        """Any tool by name: `await tb.tools.pressKey(key="BACK")`."""

    @classmethod
    def from_context(cls, ctx: Any) -> TrailblazeClient:
        """The client of the call `ctx` belongs to. Raises `NeedsDeviceError` outside of a session."""
        return cls(needs_device(AsyncSession.of(ctx)))

    @classmethod
    def maybe_from_context(cls, ctx: Any) -> TrailblazeClient | None:
        """`from_context`, or None outside of a session."""
        session = AsyncSession.of(ctx)
        return cls(session) if session is not None else None

    @classmethod
    def from_meta(cls, meta: Mapping[str, Any] | None) -> TrailblazeClient:
        """The client of a call with this `_meta`, for servers without a context object."""
        return cls(AsyncSession(needs_device(TrailblazeContext.from_meta(meta))))

    @property
    def device(self) -> Device:
        """The device: `tb.device.platform`."""
        return self.context.device

    async def call_tool(self, name: str, args: Mapping[str, Any] | None = None) -> ToolCallResult:
        """Calls a tool by name: built-in, of this source or of another. Raises `ToolCallError` if it fails."""
        return await self._session.call_tool(name, args or {})


class SyncTrailblazeClient(SyncCore):
    """`TrailblazeClient` for tools that are not `async`: the same methods, they block. Threads may share it."""

    def __init__(self, session: SyncSession) -> None:
        super().__init__(session)
        self.context = session.context
        """What the call is for."""
        self.mobile = SyncMobile(session)
        """Commands of Android and iOS."""
        self.web = SyncWeb(session)
        """Commands of web pages."""
        self.memory = session.memory
        """What the trail remembers."""
        self.tools = SyncTools(session)
        """Any tool by name: `tb.tools.pressKey(key="BACK")`."""

    @classmethod
    def from_context(cls, ctx: Any) -> SyncTrailblazeClient:
        """The client of the call `ctx` belongs to. Raises `NeedsDeviceError` outside of a session."""
        return cls(needs_device(SyncSession.of(ctx)))

    @classmethod
    def maybe_from_context(cls, ctx: Any) -> SyncTrailblazeClient | None:
        """`from_context`, or None outside of a session."""
        session = SyncSession.of(ctx)
        return cls(session) if session is not None else None

    @classmethod
    def from_meta(cls, meta: Mapping[str, Any] | None) -> SyncTrailblazeClient:
        """The client of a call with this `_meta`, for servers without a context object."""
        return cls(SyncSession(needs_device(TrailblazeContext.from_meta(meta))))

    @property
    def device(self) -> Device:
        """The device: `tb.device.platform`."""
        return self.context.device

    def call_tool(self, name: str, args: Mapping[str, Any] | None = None) -> ToolCallResult:
        """Calls a tool by name: built-in, of this source or of another. Raises `ToolCallError` if it fails."""
        return self._session.call_tool(name, args or {})


class Tools:
    """Tools as methods. They return the structured content, or else the text."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        if name.startswith("__"):
            raise AttributeError(name)

        async def call(**args: Any) -> Any:
            return (await self._session.call_tool(name, args)).value

        return call


class SyncTools:
    """`Tools` for blocking callers."""

    def __init__(self, session: SyncSession) -> None:
        self._session = session

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda **args: self._session.call_tool(name, args).value
