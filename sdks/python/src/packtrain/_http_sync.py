"""The pool of blocking callers: as `_http`, for any thread."""

from __future__ import annotations

import socket
import threading
from collections import defaultdict
from time import monotonic

from ._http import IDLE_TIMEOUT, encode, response_reader, start
from ._wire import REQUEST_TIMEOUT, Address, Request, Response


class SyncPool:
    """The kept connections of blocking callers. A thread takes one for the time of a request."""

    def __init__(self) -> None:
        self._idle: defaultdict[Address, list[tuple[socket.socket, float]]] = defaultdict(list)
        self._lock = threading.Lock()

    def send(self, request: Request) -> Response:
        """Sends a request. OSError, TimeoutError and WireError say that there is no answer."""
        data = encode(request)
        deadline = monotonic() + REQUEST_TIMEOUT
        sock = self._take(request.address) or self._connect(request.address)
        try:
            response, keep = _exchange(sock, data, deadline)
        except BaseException:
            sock.close()
            raise
        if keep:
            with self._lock:
                self._idle[request.address].append((sock, monotonic()))
        else:
            sock.close()
        return response

    def _take(self, address: Address) -> socket.socket | None:
        while True:
            with self._lock:
                if not self._idle[address]:
                    return None
                sock, since = self._idle[address].pop()
            if monotonic() - since <= IDLE_TIMEOUT and _is_open(sock):
                return sock
            sock.close()

    def _connect(self, address: Address) -> socket.socket:
        sock = socket.create_connection((address.host, address.port), REQUEST_TIMEOUT)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock


def _exchange(sock: socket.socket, request: bytes, deadline: float) -> tuple[Response, bool]:
    reader = start(response_reader())
    sock.settimeout(REQUEST_TIMEOUT)
    sock.sendall(request)
    try:
        while True:
            sock.settimeout(max(deadline - monotonic(), 0.001))
            reader.send(sock.recv(65536))
    except StopIteration as end:
        answer: tuple[Response, bool] = end.value
        return answer


def _is_open(sock: socket.socket) -> bool:
    """Whether the peer still keeps an idle connection: there is nothing to read, not even its end."""
    sock.settimeout(0)
    try:
        sock.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


sync_pool = SyncPool()
"""The pool of all blocking callers."""
