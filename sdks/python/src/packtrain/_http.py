"""HTTP/1.1 with kept connections, one pool for each event loop.

Only what callbacks need: no TLS, no proxy, no cookies, no redirects. A request that was
sent is never sent again, because the device may have done what it asks.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Generator

from ._wire import MAX_BODY, MAX_HEAD, REQUEST_TIMEOUT, Address, Request, Response, WireError

MAX_IDLE = 256
"""Kept connections for each address; what is above is closed when it becomes idle."""

IDLE_TIMEOUT = 20.0
"""A connection that was idle for longer is not used again, in seconds."""


def encode(request: Request) -> bytes:
    """A request as bytes, in one piece."""
    head = [f"{request.method} {request.path} HTTP/1.1", f"host: {request.address.host_header}"]
    head += [f"{name}: {value}" for name, value in request.headers.items()]
    if request.method != "GET":
        head.append(f"content-length: {len(request.body)}")
    if any("\r" in line or "\n" in line for line in head):
        raise WireError("a header or the path has a line break")
    return "\r\n".join(head).encode("latin-1") + b"\r\n\r\n" + request.body


Reader = Generator[None, bytes, "tuple[Response, bool]"]


def response_reader() -> Reader:
    """Takes an answer in pieces, the empty piece for the end; returns it, and whether the connection can be kept."""
    data = bytearray()
    while True:
        head = (yield from _until(data, b"\r\n\r\n")).decode("latin-1").split("\r\n")
        version, _, rest = head[0].partition(" ")
        if not version.startswith("HTTP/1.") or not rest[:3].isdigit():
            raise WireError(f"not an HTTP/1.1 answer: {head[0][:80]!r}")
        if not rest.startswith("1"):
            break
    status = int(rest[:3])
    fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
    connection = fields.get("connection", "").lower()
    keep = "close" not in connection and (version != "HTTP/1.0" or "keep-alive" in connection)
    if status in (204, 304):
        body = b""
    elif "chunked" in fields.get("transfer-encoding", "").lower():
        body = yield from _chunks(data)
    elif "content-length" in fields:
        body = yield from _take(data, _size(fields["content-length"], 10))
    else:
        while piece := (yield):
            data += piece
            _size(str(len(data)), 10)
        return Response(status, bytes(data)), False
    return Response(status, body), keep and not data


def _chunks(data: bytearray) -> Generator[None, bytes, bytes]:
    pieces, total = [], 0
    while size := _size((yield from _until(data, b"\r\n")).partition(b";")[0].decode("latin-1"), 16):
        total = _size(str(total + size), 10)
        piece = yield from _take(data, size + 2)
        if piece[-2:] != b"\r\n":
            raise WireError("a chunk is longer than it says")
        pieces.append(piece[:-2])
    while (yield from _until(data, b"\r\n")):
        pass  # trailers
    return b"".join(pieces)


def _until(data: bytearray, mark: bytes) -> Generator[None, bytes, bytes]:
    while (end := data.find(mark)) < 0 and len(data) <= MAX_HEAD:
        data += yield from _more()
    if not 0 <= end <= MAX_HEAD:
        raise WireError(f"the head of the answer is larger than {MAX_HEAD} bytes")
    found = bytes(data[:end])
    del data[: end + len(mark)]
    return found


def _take(data: bytearray, size: int) -> Generator[None, bytes, bytes]:
    while len(data) < size:
        data += yield from _more()
    taken = bytes(data[:size])
    del data[:size]
    return taken


def _more() -> Generator[None, bytes, bytes]:
    piece = yield
    if not piece:
        raise ConnectionResetError("the connection was closed before the answer")
    return piece


def _size(text: str, base: int) -> int:
    try:
        size = int(text, base) if text.isalnum() else -1
    except ValueError:
        size = -1
    if not 0 <= size <= MAX_BODY:
        raise WireError(f"the answer has a size of {text[:80]!r}, at most {MAX_BODY} bytes are read")
    return size


def start(reader: Reader) -> Reader:
    """Makes a reader ready for its first piece."""
    next(reader)
    return reader


class _Connection(asyncio.Protocol):
    """A kept connection: one request at a time."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        self._reader: Reader | None = None
        self._answer: asyncio.Future[tuple[Response, bool]] | None = None
        self.idle_since = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        if self._reader is None or self._answer is None or self._answer.done():
            self.transport.abort()  # nobody asked
            return
        try:
            self._reader.send(data)
        except StopIteration as end:
            self._answer.set_result(end.value)
        except (OSError, WireError) as error:
            self._fail(error)

    def connection_lost(self, exc: Exception | None) -> None:
        if exc is not None:
            self._fail(exc)
        elif self._answer is not None and not self._answer.done():
            self.data_received(b"")

    async def exchange(self, request: bytes, timeout: float) -> tuple[Response, bool]:
        """Sends a request; its answer, and whether the connection can be used again."""
        if self.transport.is_closing():
            raise ConnectionResetError("the connection was closed")
        loop = asyncio.get_running_loop()
        self._reader = start(response_reader())
        self._answer = answer = loop.create_future()
        timer = loop.call_later(timeout, self._fail, TimeoutError())
        try:
            self.transport.write(request)
            response, keep = await answer
            return response, keep and not self.transport.is_closing()
        except BaseException:  # cancelled too: the peer sees that nobody waits
            self.transport.abort()
            raise
        finally:
            timer.cancel()
            self._reader = self._answer = None

    def _fail(self, error: Exception) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)


class AsyncPool:
    """The kept connections of one event loop."""

    def __init__(self) -> None:
        self._idle: defaultdict[Address, list[_Connection]] = defaultdict(list)

    async def send(self, request: Request) -> Response:
        """Sends a request. OSError, TimeoutError and WireError say that there is no answer."""
        data = encode(request)
        loop = asyncio.get_running_loop()
        connection = self._take(request.address, loop.time()) or await self._connect(request.address)
        response, keep = await connection.exchange(data, REQUEST_TIMEOUT)
        idle = self._idle[request.address]
        if keep and len(idle) < MAX_IDLE:
            connection.idle_since = loop.time()
            idle.append(connection)
        else:
            connection.transport.close()
        return response

    def _take(self, address: Address, now: float) -> _Connection | None:
        idle = self._idle[address]
        while idle:
            connection = idle.pop()
            if not connection.transport.is_closing() and now - connection.idle_since <= IDLE_TIMEOUT:
                return connection
            connection.transport.close()
        return None

    async def _connect(self, address: Address) -> _Connection:
        connecting = asyncio.get_running_loop().create_connection(_Connection, address.host, address.port)
        try:
            _, connection = await asyncio.wait_for(connecting, REQUEST_TIMEOUT)
        except asyncio.TimeoutError:  # not the built-in one before Python 3.11
            raise TimeoutError from None
        return connection


_pools: dict[asyncio.AbstractEventLoop, AsyncPool] = {}


def async_pool() -> AsyncPool:
    """The pool of the running event loop."""
    loop = asyncio.get_running_loop()
    pool = _pools.get(loop)
    if pool is None:
        for old in [old for old in list(_pools) if old.is_closed()]:
            _pools.pop(old, None)
        pool = _pools[loop] = AsyncPool()
    return pool
