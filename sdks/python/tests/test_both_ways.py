"""A call means the same whichever way it goes: through the framework's HTTP layers or past them.

A request goes past them when the framework has accepted one with the same head. The header `x-way` makes heads that it
has not seen. Answers that came past them have a length.
"""

from __future__ import annotations

import asyncio
import http.client
import io
import json
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from orchestrator import Received, orchestrator
from test_servers import answers, every, http_server

NAMES = iter(range(10**9))


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: Any
    is_direct: bool

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Answer)
        return (self.status, self.headers, self.body) == (other.status, other.headers, other.body)


class Reader(io.BufferedReader):
    """What arrives; the next answer may have arrived with one."""

    def close(self) -> None:
        pass


class Connection:
    """A connection to a server, and the session that it opened."""

    def __init__(self, port: int, session: str = "") -> None:
        self.port, self.session = port, session
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.reader = Reader(socket.SocketIO(self.socket, "r"))
        if not session:
            client: dict[str, Any] = {"protocolVersion": "2025-06-18", "clientInfo": {"name": "x", "version": "1"}}
            client["capabilities"] = {"elicitation": {"form": {}}}
            opened = self.post(self.message("initialize", client))
            self.session = opened.headers["mcp-session-id"]
            self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
            assert not self.post(self.message("tools/list", {})).is_direct

    @staticmethod
    def message(method: str, params: Any, **more: Any) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": next(NAMES), "method": method, "params": params, **more}

    def send(self, body: Any, **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        all = {
            "host": f"127.0.0.1:{self.port}",
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
            "content-length": str(len(data)),
            **({"mcp-session-id": self.session, "mcp-protocol-version": "2025-06-18"} if self.session else {}),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in all.items())
        self.socket.sendall(f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + data)

    def send_head(self, method: str) -> None:
        head = f"host: 127.0.0.1:{self.port}\r\nmcp-session-id: {self.session}\r\naccept: application/json, text/event-stream"
        self.socket.sendall(f"{method} /mcp HTTP/1.1\r\n{head}\r\n\r\n".encode())

    def makefile(self, _mode: str) -> Reader:
        """As of a socket."""
        return self.reader

    def receive(self) -> Answer:
        response = http.client.HTTPResponse(self, method="POST")  # type: ignore[arg-type]
        response.begin()
        headers = {name.lower(): value for name, value in response.getheaders()}
        is_stream = headers.get("content-type") == "text/event-stream"
        is_direct = is_stream and "content-length" in headers
        text = response.read().decode()
        lines = [line.partition("data: ")[2] for line in text.split("\r\n") if line.startswith("data: ")]
        for name in ("date", "content-length", "transfer-encoding"):
            headers.pop(name, None)
        return Answer(response.status, headers, [json.loads(line) for line in lines] if is_stream else text, is_direct)

    def post(self, body: Any, **headers: str) -> Answer:
        self.send(body, **headers)
        return self.receive()

    def call(self, name: str, arguments: Any, meta: Any = None, **headers: str) -> Answer:
        params = {"name": name, "arguments": arguments, **({"_meta": meta} if meta else {})}
        return self.post(self.message("tools/call", params), **headers)

    def both_ways(self, body: Any) -> tuple[Answer, Answer]:
        past, through = self.post(body), self.post(body, x_way=str(next(NAMES)))
        assert not through.is_direct
        return past, through


class Servers:
    """A server of each framework, which all tests of this file share."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()
        self.enough = asyncio.Event()
        self.ports: dict[str, asyncio.Future[int]] = {}
        self.holders: list[asyncio.Task[None]] = []

    async def hold(self, framework: str) -> None:
        async with http_server(framework) as (port, _):
            self.ports[framework].set_result(port)
            await self.enough.wait()

    async def port(self, framework: str) -> int:
        if framework not in self.ports:
            self.ports[framework] = self.loop.create_future()
            self.holders.append(self.loop.create_task(self.hold(framework)))
        return await self.ports[framework]

    async def end(self) -> None:
        self.enough.set()
        await asyncio.gather(*self.holders)

    def run(self, what: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(what, self.loop).result(120)


shared: Servers


@pytest.fixture(scope="module", autouse=True)
def servers() -> Iterator[None]:
    global shared
    shared = Servers()
    with pytest.MonkeyPatch.context() as patch:
        # However busy the computer is, short answers come in one piece.
        patch.setenv("HEADERS_TIMEOUT", "60")
        yield
    shared.run(shared.end())
    shared.loop.call_soon_threadsafe(shared.loop.stop)
    shared.thread.join()
    shared.loop.close()


def with_own_server(framework: str, use: Callable[[Connection], None]) -> None:
    async def main() -> None:
        async with http_server(framework) as (port, _):
            await asyncio.to_thread(lambda: use(Connection(port)))

    asyncio.run(asyncio.wait_for(main(), 120))


def with_server(framework: str, use: Callable[[Connection], None]) -> None:
    use(Connection(shared.run(shared.port(framework))))


CALLS: list[tuple[str, Any]] = [
    ("acme_remember", {"n": 1}),
    ("acme_remember", {"n": "2"}),
    ("acme_remember", {"n": "x"}),
    ("acme_remember", {"n": None}),
    ("acme_remember", {"n": float("nan")}),
    ("acme_remember", {}),
    ("acme_remember", {"n": 1, "more": [1, {"a": None}]}),
    ("acme_remember", None),
    ("acme_blocking", {}),
    ("acme_blocking", {"name": "Ünï\u2028"}),
    ("acme_blockingResult", {}),
    ("acme_signIn", {"email": "ada@x.org"}),
    ("acme_nothing", {}),
    ("acme_slow", {"seconds": 0.0}),
    *(("acme_result", {"kind": kind}) for kind in ("success", "nothing", "error", "fatal_error", "delegate", "none")),
    *(("acme_decorated", {"kind": kind}) for kind in ("text", "none", "list", "error", "nothing")),
]


@every
def test_the_same_calls_have_the_same_answers(framework: str) -> None:
    def use(connection: Connection) -> None:
        for name, arguments in CALLS:
            for meta in (None, far.meta("i", memory={"who": "Ada"}), {"progressToken": 3, "fastmcp": {"version": "1"}}):
                params = {"name": name, "arguments": arguments, **({"_meta": meta} if meta else {})}
                past, through = connection.both_ways(connection.message("tools/call", params))
                assert past == through, (name, arguments, meta)
                assert past.is_direct or past.status != 200 or "error" in past.body[-1], (name, arguments, meta)

    with orchestrator(answers) as far:
        with_server(framework, use)


@every
def test_what_is_no_plain_call_is_the_frameworks(framework: str) -> None:
    call = {"name": "acme_decorated", "arguments": {"kind": "text"}}
    message = Connection.message
    bodies: list[Any] = [
        b"", b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":',
        message("tools/call", call, jsonrpc="1.0"), message("tools/call", call, id=None),
        message("tools/call", call, id=True), message("tools/call", call, id=1.5), message("tools/call", call, id=[1]),
        message("tools/call", [call]), message("tools/call", None), message("tools/call", {}),
        message("tools/call", {"name": 1}), message("tools/call", {**call, "arguments": []}),
        message("tools/call", {**call, "_meta": 1}), message("tools/call", {**call, "_meta": {"progressToken": [1]}}),
        message("tools/call", {**call, "more": 1}), message("tools/call", call, more=1), message("tools/call", call, id="a"),
        message("tools/list", {}), message("ping", {}), message("nothing", {}), [message("tools/call", call)],
        {"jsonrpc": "2.0", "method": "tools/call", "params": call}, {"jsonrpc": "2.0", "id": 1, "result": {}},
    ]  # fmt: skip

    def use(connection: Connection) -> None:
        for body in bodies:
            past, through = connection.both_ways(body)
            assert past == through, body
        assert connection.call("acme_decorated", {"kind": "text"}).is_direct

    with_server(framework, use)


@every
def test_notifications_come_in_order_before_the_answer(framework: str) -> None:
    def use(connection: Connection) -> None:
        params = {"name": "acme_noisy", "arguments": {"times": 5}, "_meta": {"progressToken": "p"}}
        for _ in range(3):
            body = connection.message("tools/call", params)
            past, through = connection.both_ways(body)
            assert past == through
            assert [event.get("method") for event in past.body].count("notifications/progress") == 5
            *_, last = past.body
            size = str(len(json.dumps(body)))
            assert [part["text"] for part in last["result"]["content"]][-4:] == ["/mcp", size, size, "True"] or (
                json.loads(last["result"]["content"][0]["text"]) == ["/mcp", size, size, "True"]
            )

    with_server(framework, use)


@every
def test_a_question_of_a_tool_reaches_the_client_and_its_answer_the_tool(framework: str) -> None:
    def use(connection: Connection) -> None:
        other = Connection(connection.port, connection.session)
        both = []
        for headers in ({}, {"x_way": str(next(NAMES))}):
            connection.send(connection.message("tools/call", {"name": "acme_asks"}, id=7), **headers)
            while not (line := connection.reader.readline()).startswith(b"data: "):
                assert line, "the server closed the connection"
            question = json.loads(line[6:])
            assert (question["method"], question["params"]["message"]) == ("elicitation/create", "Name?")
            result = {"action": "accept", "content": {"value": "Ada"}}
            assert other.post({"jsonrpc": "2.0", "id": question.pop("id"), "result": result}).status == 202
            while not (line := connection.reader.readline()).startswith(b"data: "):
                assert line, "the server closed the connection"
            both.append((question, json.loads(line[6:])))
            while connection.reader.readline() != b"0\r\n":
                pass
            assert connection.reader.readline() == b"\r\n"
        assert both[0] == both[1] and both[0][1]["result"]["content"][0]["text"] == "Hello Ada"

    with_server(framework, use)


@every
def test_guards_hold_whatever_was_accepted_before(framework: str) -> None:
    def use(connection: Connection) -> None:
        assert connection.call("acme_decorated", {"kind": "text"}).is_direct
        refused: list[dict[str, str]] = [
            {"host": "evil.example"}, {"mcp_session_id": "0" * 32}, {"content_type": "text/plain"}, {"accept": "text/html"},
            {"mcp_protocol_version": "1999-01-01"},
        ]  # fmt: skip
        if framework.startswith("mcp"):  # FastMCP looks at no origins
            refused.append({"origin": "http://evil.example"})
        for headers in refused:
            answers = [Connection(connection.port, connection.session) for _ in range(2)]
            statuses = [one.call("acme_decorated", {"kind": "text"}, **headers).status for one in answers]
            assert 400 <= statuses[0] < 500 and statuses[0] == statuses[1], (headers, statuses)
        assert connection.call("acme_decorated", {"kind": "text"}).is_direct

        # A session that was ended takes no calls, though its head was accepted.
        connection.send_head("DELETE")
        assert connection.receive().status == 200
        assert connection.call("acme_decorated", {"kind": "text"}).status == 404

    with_server(framework, use)


@every
def test_a_cancelled_call_is_answered_as_by_the_framework(framework: str) -> None:
    arrived = threading.Semaphore(0)

    def held(received: Received) -> tuple[int, Any]:
        arrived.release()
        received.closed_by_client()
        return answers(received)

    def use(connection: Connection) -> None:
        other = Connection(connection.port, connection.session)
        both = []
        for headers in ({}, {"x_way": str(next(NAMES))}):
            connection.send(connection.message("tools/call", {"name": "acme_held", "_meta": far.meta()}, id=7), **headers)
            assert arrived.acquire(timeout=30)
            cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}
            assert other.post(cancelled).status == 202
            both.append(connection.receive())
        assert both[0] == both[1] and "cancelled" in both[0].body[0]["error"]["message"]
        assert (both[0].is_direct, both[1].is_direct) == (True, False)

        # A client that goes away cancels nothing: its session goes on.
        connection.send(connection.message("tools/call", {"name": "acme_held", "_meta": far.meta()}, id=7))
        assert arrived.acquire(timeout=30)
        connection.socket.close()
        assert other.call("acme_decorated", {"kind": "text"}).is_direct

        # A session that is ended takes its calls with it, and no other session.
        ended = Connection(connection.port)
        assert ended.call("acme_decorated", {"kind": "text"}).is_direct
        ended.send(connection.message("tools/call", {"name": "acme_held", "_meta": far.meta()}, id=8))
        assert arrived.acquire(timeout=30)
        last = Connection(connection.port, ended.session)
        last.send_head("DELETE")
        assert last.receive().status == 200
        assert other.call("acme_decorated", {"kind": "text"}).is_direct
        assert Connection(connection.port).call("acme_decorated", {"kind": "text"}).is_direct

    with orchestrator(held) as far:
        with_server(framework, use)


@pytest.mark.parametrize("framework", ["mcp1", "mcp2"])
def test_a_long_call_has_its_headers_first_and_early_requests_wait(
    framework: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HEADERS_TIMEOUT")

    def use(connection: Connection) -> None:
        def call(seconds: float) -> bytes:
            params = {"name": "acme_slow", "arguments": {"seconds": seconds}}
            return json.dumps(connection.message("tools/call", params)).encode()

        connection.send(call(1.5))
        assert connection.socket.recv(1, socket.MSG_PEEK)  # the headers, long before the answer
        connection.send(call(0.0))
        slow, quick = connection.receive(), connection.receive()
        assert not slow.is_direct
        assert slow.body[0]["result"]["isError"] is False and slow.headers == quick.headers
        assert slow.body[0]["id"] < quick.body[0]["id"]

    with_own_server(framework, use)
