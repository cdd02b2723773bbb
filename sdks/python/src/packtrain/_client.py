"""The clients tools work with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from ._context import Device, TrailblazeContext, needs_device
from ._generated import AsyncCore, AsyncMobile, AsyncWeb, SyncCore, SyncMobile, SyncWeb
from ._session import Session
from ._wire import ToolCallResult, tool_answer, tool_request

C = TypeVar("C", bound="Client")


class Client:
    """What both clients have."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.context = session.context
        """What the call is for."""
        self.memory = session.memory
        """What the trail remembers."""

    @classmethod
    def from_context(cls: type[C], ctx: Any) -> C:
        """The client of the call `ctx` belongs to. Raises `NeedsDeviceError` outside of a session."""
        return cls(needs_device(Session.of(ctx)))

    @classmethod
    def maybe_from_context(cls: type[C], ctx: Any) -> C | None:
        """`from_context`, or None outside of a session."""
        session = Session.of(ctx)
        return cls(session) if session is not None else None

    @classmethod
    def from_meta(cls: type[C], meta: Mapping[str, Any] | None) -> C:
        """The client of a call with this `_meta`, for servers without a context object."""
        return cls(Session(needs_device(TrailblazeContext.from_meta(meta))))

    @property
    def device(self) -> Device:
        """The device: `tb.device.platform`."""
        return self.context.device


class TrailblazeClient(Client, AsyncCore):
    """The device of one tool call. Make one in each call, with `from_context`.

    Commands of all platforms are methods; `mobile` and `web` have the others. `tools` calls any tool by name.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.mobile = AsyncMobile(session)
        """Commands of Android and iOS."""
        self.web = AsyncWeb(session)
        """Commands of web pages."""
        self.tools = Tools(self)
        """Any tool by name: `await tb.tools.pressKey(key="BACK")`."""

    async def call_tool(self, name: str, args: Mapping[str, Any] | None = None) -> ToolCallResult:
        """Calls a tool by name: built-in, of this source or of another. Raises `ToolCallError` if it fails."""
        request = tool_request(self.context, name, args or {})
        return tool_answer(request, await self._session.send(request))


class SyncTrailblazeClient(Client, SyncCore):
    """`TrailblazeClient` for tools that are not `async`: the same methods, they block. Threads may share it."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.mobile = SyncMobile(session)
        """Commands of Android and iOS."""
        self.web = SyncWeb(session)
        """Commands of web pages."""
        self.tools = SyncTools(self)
        """Any tool by name: `tb.tools.pressKey(key="BACK")`."""

    def call_tool(self, name: str, args: Mapping[str, Any] | None = None) -> ToolCallResult:
        """Calls a tool by name: built-in, of this source or of another. Raises `ToolCallError` if it fails."""
        request = tool_request(self.context, name, args or {})
        return tool_answer(request, self._session.send_blocking(request))


class Tools:
    """Tools as methods. They return the structured content, or else the text."""

    def __init__(self, client: TrailblazeClient) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        if name.startswith("__"):
            raise AttributeError(name)

        async def call(**args: Any) -> Any:
            return (await self._client.call_tool(name, args)).value

        return call


class SyncTools:
    """`Tools` for blocking callers."""

    def __init__(self, client: SyncTrailblazeClient) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda **args: self._client.call_tool(name, args).value
