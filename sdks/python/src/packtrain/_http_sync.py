"""The pool of blocking callers: HTTP/1.1 with kept connections, for any thread."""

from __future__ import annotations

import http.client
import socket
import threading
from collections import defaultdict
from time import monotonic

from ._http import IDLE_TIMEOUT, encode
from ._wire import MAX_BODY, REQUEST_TIMEOUT, Address, Request, Response, WireError


class SyncPool:
    """The kept connections of blocking callers, in any thread."""

    def __init__(self) -> None:
        self._idle: defaultdict[Address, list[tuple[http.client.HTTPConnection, float]]] = defaultdict(list)
        self._lock = threading.Lock()

    def send(self, request: Request) -> Response:
        """Sends a request. OSError and WireError say that there is no answer."""
        connection = self._take(request.address)
        try:
            if connection.sock is None:
                connection.connect()
            connection.sock.sendall(encode(request))
            answer = http.client.HTTPResponse(connection.sock, method=request.method)
            answer.begin()
            body = answer.read(MAX_BODY + 1)
            if len(body) > MAX_BODY:
                raise WireError(f"the answer is larger than {MAX_BODY} bytes")
        except http.client.IncompleteRead as error:
            connection.close()
            raise ConnectionResetError("the connection was closed before the answer") from error
        except http.client.RemoteDisconnected:
            connection.close()
            raise
        except http.client.HTTPException as error:
            connection.close()
            raise WireError(f"not an HTTP/1.1 answer: {error!r}") from error
        except BaseException:
            connection.close()
            raise
        if answer.will_close:
            connection.close()
        else:
            answer.close()
            with self._lock:
                self._idle[request.address].append((connection, monotonic()))
        return Response(answer.status, body)

    def _take(self, address: Address) -> http.client.HTTPConnection:
        while True:
            with self._lock:
                if not self._idle[address]:
                    break
                connection, since = self._idle[address].pop()
            if monotonic() - since <= IDLE_TIMEOUT and _is_open(connection.sock):
                return connection
            connection.close()
        return http.client.HTTPConnection(address.host, address.port, timeout=REQUEST_TIMEOUT)


def _is_open(sock: socket.socket) -> bool:
    """Whether the peer still keeps an idle connection: there is nothing to read, not even its end."""
    timeout = sock.gettimeout()
    sock.settimeout(0)
    try:
        sock.recv(1, socket.MSG_PEEK)
        return False
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        sock.settimeout(timeout)


sync_pool = SyncPool()
"""The pool of all blocking callers."""
