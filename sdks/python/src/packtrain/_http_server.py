"""Tool calls over HTTP/1.1 without the framework's HTTP layers, which cost more than a short call itself.

A request is taken here only when the framework has accepted one with the same head, its length aside: the verdict on
Host, Origin, Accept, protocol version and session holds for this one too. The body must be a plain `tools/call`. The
call enters its session behind the framework's transport, so arguments, context, notifications and cancellation stay
the framework's. All else goes to uvicorn and the framework as it arrived.
"""

from __future__ import annotations

import contextvars
import logging
import math
import re
from typing import Any

import h11
from starlette.requests import Request
from uvicorn.protocols.http.h11_impl import H11Protocol

from ._entrances import SCOPE_KEY, AcceptedHead, SessionEntrance, StreamEntrance

MAX_HEADS = 64
"""Heads that are kept: those that were used last."""
HEADERS_TIMEOUT = 1.0
"""How long the headers of an answer wait for the answer itself, in seconds."""
PING_INTERVAL = 15.0
"""How often a client hears of a call that takes longer, in seconds: as often as from the framework."""

_LENGTH = re.compile(rb"\r\ncontent-length: ?([0-9]{1,9})\r\n", re.IGNORECASE)
_UNUSUAL = re.compile(
    rb"\r\n(?:transfer-encoding|expect|upgrade|te|trailer|x-forwarded-[a-z]+|connection(?!: keep-alive\r\n)) *:", re.IGNORECASE
)
_NEEDED = ("_event_store", "_terminated", "_request_streams", "_create_event_data")
"""What is used of a transport."""
_KNOWN_MIDDLEWARE = {"HostOriginGuardMiddleware", "RequestContextMiddleware"}


class AcceptedHeads:
    """What the framework has accepted. One for each server."""

    def __init__(self, route: Any) -> None:
        self._endpoint, self._app = route.endpoint, route.app
        self._entrance: Any = None
        self._heads: dict[bytes, AcceptedHead] = {}
        route.app = self._watched

    @staticmethod
    def of(app: Any) -> AcceptedHeads | None:
        """Watches an app; None if something unknown looks at its requests, as authorization does."""
        routes = [route for route in app.routes if getattr(route, "path", None) == "/mcp"]
        is_plain = len(routes) == 1 and hasattr(routes[0].endpoint, "session_manager")
        is_known = {middleware.cls.__name__ for middleware in app.user_middleware} <= _KNOWN_MIDDLEWARE
        return AcceptedHeads(routes[0]) if is_plain and is_known else None

    def _sessions(self) -> Any:
        return self._endpoint.session_manager._server_instances

    async def _watched(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """The endpoint, and a note of how it handles a request whose head was proposed."""
        accepted: AcceptedHead | None = scope.get(SCOPE_KEY)

        async def sending(message: dict[str, Any]) -> None:
            if accepted is not None and message["type"] == "http.response.start" and message["status"] == 200:
                headers = list(message["headers"])
                session = (b"mcp-session-id", getattr(accepted.transport, "mcp_session_id", "").encode())
                if (b"content-type", b"text/event-stream") in headers and session in headers:
                    accepted.answer = b"".join(b"%s: %s\r\n" % header for header in headers)
            await send(message)

        if accepted is not None and accepted.transport is None:
            if self._entrance is None:
                server = self._endpoint.session_manager.app
                new_entrance = SessionEntrance if hasattr(server, "_handle_message") else StreamEntrance
                self._entrance = new_entrance(server, self._endpoint.session_manager)
            session = dict(scope["headers"]).get(b"mcp-session-id", b"").decode("latin-1")
            transport = self._sessions().get(session)
            if all(hasattr(transport, name) for name in _NEEDED) and transport._event_store is None:
                accepted.transport, accepted.context = transport, contextvars.copy_context()
                accepted.scope = {name: value for name, value in scope.items() if name != SCOPE_KEY}
                accepted.scope["state"] = dict(scope.get("state") or {})
        await self._app(scope, receive, sending)

    def propose(self, key: bytes, head: bytes) -> AcceptedHead | None:
        """Watches what the framework makes of a head, unless more may hang on it than is known here."""
        is_plain = head.startswith(b"POST /mcp HTTP/1.1\r\n") and head.count(b"\n") == head.count(b"\r\n")
        if not is_plain or _UNUSUAL.search(head) or head.lower().count(b"\r\ncontent-length") != 1:
            return None
        if key not in self._heads and len(self._heads) >= MAX_HEADS:
            del self._heads[next(iter(self._heads))]
        return self._heads.setdefault(key, AcceptedHead())

    def take(self, key: bytes, body: bytes, protocol: ToolCallProtocol) -> Exchange | None:
        """Starts the call in a request; None if the framework has to see it."""
        if (accepted := self._heads.pop(key, None)) is None:
            return None
        transport = accepted.transport
        idle = getattr(transport, "idle_scope", None)
        is_open = transport and self._sessions().get(transport.mcp_session_id) is transport and not transport._terminated
        if transport and not is_open or idle and idle.cancel_called:
            return None
        self._heads[key] = accepted  # now the last used
        found = self._entrance.read(body, accepted) if accepted.answer and is_open else None
        most = getattr(self._endpoint.session_manager, "max_request_body_size", None) or math.inf
        if found is None or str(found[0]) in transport._request_streams or len(body) > most:
            return None
        length = (b"content-length", b"%d" % len(body))
        headers = [length if header[0] == length[0] else header for header in accepted.scope["headers"]]
        state = dict(accepted.scope["state"])
        request = Request({**accepted.scope, "client": protocol.client, "headers": headers, "state": state})
        request._body = body
        exchange = Exchange(protocol, accepted, found[0])
        try:
            self._entrance.enter(accepted, found[1], request, exchange)
        except Exception:
            logging.getLogger(__name__).exception("A call could not be entered; the framework has it")
            exchange.leave()
            exchange._forget()
            return None
        return exchange


class ToolCallProtocol(H11Protocol):
    """A connection: uvicorn's, but for the calls that are taken here."""

    def __init__(self, heads: AcceptedHeads, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._heads = heads
        self._exchange: Exchange | None = None
        self._early = b""
        self._stops = False

    def data_received(self, data: bytes) -> None:
        if self._exchange is not None:
            self._early += data
            return self.flow.pause_reading()
        head, end, body = data.partition(b"\r\n\r\n")
        head += b"\r\n"
        length = _LENGTH.search(head)
        is_idle = not self.conn.trailing_data[0] and self.conn.our_state is self.conn.their_state is h11.IDLE
        if not is_idle or not end or length is None or int(length[1]) != len(body):
            return super().data_received(data)
        key = head[: length.start(1)] + head[length.end(1) :]
        self._exchange = self._heads.take(key, body, self)
        if self._exchange is not None:
            return self._unset_keepalive_if_required()
        before = self.scope
        super().data_received(data)
        # The framework sees it in the next turn of the event loop.
        if self.scope is not before and (accepted := self._heads.propose(key, head)) is not None:
            self.scope[SCOPE_KEY] = accepted  # type: ignore[literal-required]

    def exchanged(self) -> None:
        """The exchange is over."""
        self._exchange = None
        if self._stops:
            return super().shutdown()
        self.on_response_complete()
        if self._early and not self.transport.is_closing():
            data, self._early = self._early, b""
            self.data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        try:
            if self._exchange is not None:
                self._exchange.leave()
        finally:
            super().connection_lost(exc)

    def shutdown(self) -> None:
        self._stops = True
        if self._exchange is None:
            super().shutdown()


class Exchange:
    """A call and its answer. The transport has it in place of both ends of the call's stream."""

    task: Any = None
    ends_call = False
    """Whether the call ends with its session."""
    is_cancelled = False

    def __init__(self, protocol: ToolCallProtocol, accepted: AcceptedHead, id: Any) -> None:
        self.id = id
        self._protocol, self._accepted, self._transport = protocol, accepted, accepted.transport
        self._is_streaming = self.is_over = False
        self._transport._request_streams[str(id)] = (self, self)
        self._count(1)
        self._timer = protocol.loop.call_later(HEADERS_TIMEOUT, self._wait)

    def _count(self, more: int) -> None:
        """A session with a request in flight is not idle."""
        if (idle := getattr(self._transport, "idle_scope", None)) is not None:
            self._transport._requests_in_flight += more
            is_busy = self._transport._requests_in_flight
            idle.deadline = math.inf if is_busy else self._protocol.loop.time() + self._transport._idle_timeout

    async def send(self, event: Any) -> None:
        """Takes what the session says of this call; its answer comes last."""
        is_answer = not hasattr(getattr(event.message, "root", event.message), "method")
        try:
            data = b"event: message\r\ndata: %s\r\n\r\n" % self._transport._create_event_data(event)["data"].encode()
        except Exception:
            logging.getLogger(__name__).exception("An answer could not be encoded")
            self._forget()
            return self.end()
        if not self.is_over:
            self._write(data, is_answer)
            if is_answer:
                self._finish()
            elif self._protocol.flow.write_paused:
                await self._protocol.flow.drain()
        elif is_answer:
            self._forget()

    def _write(self, data: bytes, is_last: bool = False) -> None:
        pieces: list[bytes] = []
        is_whole = is_last and not self._is_streaming
        if not self._is_streaming:
            framing = b"content-length: %d\r\n\r\n" % len(data) if is_whole else b"transfer-encoding: chunked\r\n\r\n"
            lines = [b"%s: %s\r\n" % header for header in self._protocol.server_state.default_headers]
            pieces = [b"HTTP/1.1 200 OK\r\n", *lines, self._accepted.answer, framing]
        if data:
            pieces.append(data if is_whole else b"%x\r\n%s\r\n" % (len(data), data))
        if is_last and self._is_streaming:
            pieces.append(b"0\r\n\r\n")
        self._is_streaming = True
        self._protocol.transport.write(b"".join(pieces))

    def _wait(self) -> None:
        self._write(b": ping\r\n\r\n" if self._is_streaming else b"")
        self._timer = self._protocol.loop.call_later(PING_INTERVAL, self._wait)

    def _finish(self) -> None:
        self._forget()
        self.leave()
        self._protocol.exchanged()

    def end(self) -> None:
        """The answer ends without a result."""
        if not self.is_over:
            self._write(b"", is_last=True)
            self._finish()

    def leave(self) -> None:
        """Nothing more goes to the client."""
        self.is_over = True
        self._timer.cancel()
        self._count(-1)

    def _forget(self) -> None:
        if self in self._transport._request_streams.get(str(self.id), ()):
            del self._transport._request_streams[str(self.id)]

    async def aclose(self) -> None:
        """As of a stream: the session ends."""
        self.end()
        self.is_cancelled = self.ends_call
        if self.is_cancelled and self.task is not None:
            self.task.cancel()
