"""HTTP/1.1 with kept connections, one pool for each event loop.

Only what callbacks need: no TLS, no proxy, no cookies, no redirects. A request that was
sent is never sent again, because the device may have done what it asks.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict

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


class ResponseReader:
    """Reads one answer out of pieces."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._body = bytearray()
        self._status = 0
        self._length: int | None = None
        self._chunked = False
        self._chunk_left = 0
        self._trailer = False
        self.keep = True

    def feed(self, data: bytes) -> Response | None:
        """Takes a piece; the answer once it is complete."""
        self._data += data
        if not self._status and not self._head():
            return None
        if len(self._data) + len(self._body) > MAX_BODY + MAX_HEAD or (self._length or 0) > MAX_BODY:
            raise WireError(f"the answer is larger than {MAX_BODY} bytes")
        if self._chunked:
            return Response(self._status, bytes(self._body)) if self._chunks() else None
        if self._length is None or len(self._data) < self._length:
            return None
        body = bytes(self._data[: self._length])
        self.keep = self.keep and len(self._data) == self._length
        return Response(self._status, body)

    def end(self) -> Response | None:
        """The peer closed: the answer, if that ends it."""
        if self._status and self._length is None and not self._chunked:
            self.keep = False
            return Response(self._status, bytes(self._data))
        return None

    def _head(self) -> bool:
        while True:
            end = self._data.find(b"\r\n\r\n")
            if end > MAX_HEAD or (end < 0 and len(self._data) > MAX_HEAD):
                raise WireError(f"the head of the answer is larger than {MAX_HEAD} bytes")
            if end < 0:
                return False
            lines = self._data[:end].decode("latin-1").split("\r\n")
            del self._data[: end + 4]
            version, _, rest = lines[0].partition(" ")
            if not version.startswith("HTTP/1.") or not rest[:3].isdigit():
                raise WireError(f"not an HTTP/1.1 answer: {lines[0][:80]!r}")
            if not rest.startswith("1"):
                break
        self._status = int(rest[:3])
        fields = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            fields[name.lower()] = value.strip()
        connection = fields.get("connection", "").lower()
        self.keep = "close" not in connection and (version != "HTTP/1.0" or "keep-alive" in connection)
        self._chunked = "chunked" in fields.get("transfer-encoding", "").lower()
        if self._status in (204, 304):
            self._chunked, self._length = False, 0
        elif not self._chunked and (length := fields.get("content-length")) is not None:
            if not (length.isascii() and length.isdigit()):
                raise WireError(f"bad content-length {length[:80]!r}")
            self._length = int(length)
        return True

    def _chunks(self) -> bool:
        while True:
            if self._chunk_left:
                if len(self._data) < self._chunk_left:
                    return False
                self._body += self._data[: self._chunk_left - 2]
                if self._data[self._chunk_left - 2 : self._chunk_left] != b"\r\n":
                    raise WireError("bad chunk")
                del self._data[: self._chunk_left]
                self._chunk_left = 0
            end = self._data.find(b"\r\n")
            if end > MAX_HEAD or (end < 0 and len(self._data) > MAX_HEAD):
                raise WireError("bad chunk size")
            if end < 0:
                return False
            line = bytes(self._data[:end])
            del self._data[: end + 2]
            if self._trailer:
                if not line:
                    self.keep = self.keep and not self._data
                    return True
                continue
            try:
                size = int(line.partition(b";")[0], 16)
            except ValueError:
                raise WireError(f"bad chunk size {line[:80]!r}") from None
            if not 0 <= size <= MAX_BODY:
                raise WireError(f"the answer is larger than {MAX_BODY} bytes")
            self._trailer = size == 0
            self._chunk_left = size + 2 if size else 0


class _Connection(asyncio.Protocol):
    """A kept connection: one request at a time."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        self._reader: ResponseReader | None = None
        self._answer: asyncio.Future[Response] | None = None
        self.idle_since = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        if self._reader is None:
            self.transport.abort()  # nobody asked
            return
        try:
            response = self._reader.feed(data)
        except WireError as error:
            self.fail(error)
            return
        if response is not None:
            self._done(response)

    def connection_lost(self, exc: Exception | None) -> None:
        response = self._reader.end() if self._reader is not None else None
        if response is not None:
            self._done(response)
        else:
            self.fail(exc or ConnectionResetError("the connection was closed before the answer"))

    async def exchange(self, request: bytes, timeout: float) -> tuple[Response, bool]:
        """Sends a request; its answer, and whether the connection can be used again."""
        if self.transport.is_closing():
            raise ConnectionResetError("the connection was closed")
        loop = asyncio.get_running_loop()
        self._reader = reader = ResponseReader()
        self._answer = answer = loop.create_future()
        timer = loop.call_later(timeout, self.fail, TimeoutError())
        try:
            self.transport.write(request)
            return await answer, reader.keep and not self.transport.is_closing()
        except BaseException:  # cancelled too: the peer sees that nobody waits
            self.transport.abort()
            raise
        finally:
            timer.cancel()
            self._reader = self._answer = None

    def fail(self, error: Exception) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)

    def _done(self, response: Response) -> None:
        self._reader = None
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(response)


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
