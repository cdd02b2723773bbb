"""Where a `tools/call` enters its session behind the framework's transport, in mcp 1 and in mcp 2. Knows no sockets."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from anyio import BrokenResourceError, ClosedResourceError
from starlette.requests import Request

SCOPE_KEY = "packtrain.accepted"
"""Where a request's scope has its `AcceptedHead`."""


class AcceptedHead:
    """The head of a request that the framework accepted, and what it handled the request with."""

    transport: Any = None
    session: tuple[Any, Any] | None = None
    """The session and what its lifespan gave; in mcp 1."""
    context: contextvars.Context
    scope: dict[str, Any]
    answer = b""
    """The headers of its answer."""


class StreamEntrance:
    """mcp 2: the stream that the transport feeds."""

    def __init__(self, server: Any, manager: Any) -> None:
        from mcp.server import streamable_http

        self._wire: Any = streamable_http

    def read(self, body: bytes, accepted: AcceptedHead) -> tuple[Any, Any] | None:
        """The id and the call in a body; None if the framework has to see it."""
        call = _call_in(self._wire.pydantic_core.from_json, self._wire.JSONRPCRequest, body)
        return (call.id, call) if call is not None else None

    def enter(self, accepted: AcceptedHead, call: Any, request: Request, exchange: Any) -> None:
        """Starts a call."""
        transport, context = accepted.transport, accepted.context.copy()
        message = transport._create_session_message(call, request, str(call.id), "")
        for variable, value in accepted.context.items():
            if isinstance(value, Request):
                context.run(variable.set, request)

        async def run() -> None:
            try:
                await transport._read_stream_writer.send(message)
            except (ClosedResourceError, BrokenResourceError):  # its session has ended
                exchange.end()

        exchange.task = context.run(asyncio.ensure_future, run())


class SessionEntrance:
    """mcp 1: the server's handler of messages. What the session does before it would be a quarter of a short call."""

    def __init__(self, server: Any, manager: Any) -> None:
        from mcp import types
        from mcp.server import lowlevel, streamable_http
        from mcp.shared import message, session

        self._types: Any = types
        self._wire: Any = streamable_http
        self._new_responder: Any = session.RequestResponder
        self._new_metadata = message.ServerMessageMetadata
        self._ends_calls = type(server).run is lowlevel.Server.run  # FastMCP's own lets them outlive their session
        self._manager = manager
        self._handle: Callable[..., Awaitable[None]] = server._handle_message
        server._handle_message = self._watched

    async def _watched(self, message: Any, session: Any, lifespan: Any, raise_exceptions: bool = False) -> None:
        request = getattr(getattr(message, "message_metadata", None), "request_context", None)
        accepted = request.scope.get(SCOPE_KEY) if isinstance(request, Request) else None
        if accepted is not None:
            accepted.session, accepted.context = (session, lifespan), contextvars.copy_context()
        await self._handle(message, session, lifespan, raise_exceptions)

    def read(self, body: bytes, accepted: AcceptedHead) -> tuple[Any, Any] | None:
        """The id and the call in a body; None if the framework has to see it."""
        message = _call_in(self._wire.json.loads, self._wire.JSONRPCRequest, body) if accepted.session else None
        if message is None:
            return None
        with suppress(ValueError):
            wire = message.model_dump(by_alias=True, mode="json", exclude_none=True)
            return message.id, self._types.CallToolRequest(method=wire["method"], params=wire["params"])
        return None

    def enter(self, accepted: AcceptedHead, call: Any, request: Request, exchange: Any) -> None:
        """Starts a call; it ends with the server, before the server's lifespan does."""
        assert accepted.session is not None
        session, lifespan = accepted.session
        responder = session._in_flight[exchange.id] = self._new_responder(
            request_id=exchange.id,
            request_meta=call.params.meta,
            request=self._types.ClientRequest.model_construct(call),
            session=_Answering(session, exchange, self._wire.EventMessage),
            on_complete=lambda done: session._in_flight.pop(done.request_id, None),
            message_metadata=self._new_metadata(request_context=request),
        )
        exchange.ends_call = self._ends_calls

        async def run() -> None:
            exchange.task = asyncio.current_task()
            try:
                if not exchange.is_cancelled:
                    await session._received_request(responder)
                    await self._handle(responder, session, lifespan)
            except asyncio.CancelledError:
                if not exchange.is_cancelled:  # its session ends, and no other task of the server with it
                    raise
            except Exception:
                logging.getLogger(__name__).exception("A call failed beside its answer")
                exchange.end()

        accepted.context.copy().run(self._manager._task_group.start_soon, run)


class _Answering:
    """A session as its call sees it, whose answer goes to the exchange at once."""

    def __init__(self, session: Any, exchange: Any, new_event: Any) -> None:
        self._session, self._exchange, self._new_event = session, exchange, new_event
        self._write_stream = self

    async def _send_response(self, **answer: Any) -> None:
        await type(self._session)._send_response(self, **answer)

    async def send(self, message: Any) -> None:
        """As of the session's stream."""
        stream = self._session._write_stream
        if stream.statistics().tasks_waiting_receive:
            await self._exchange.send(self._new_event(message.message))
        else:
            await stream.send(message)  # behind notifications that are on their way


def _call_in(load: Callable[[bytes], Any], request_type: Any, body: bytes) -> Any:
    """The JSON-RPC request in a body that is a `tools/call` and nothing else, or None."""
    with suppress(ValueError, RecursionError):
        raw = load(body)
        is_call = type(raw) is dict and raw.get("method") == "tools/call" and type(raw.get("params")) is dict
        return request_type.model_validate(raw) if is_call and len(raw) == 4 else None
    return None
