"""The pooled clients against servers that answer well, badly or not at all."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from orchestrator import Received, orchestrator, tool_passed

from packtrain import (
    CommandError,
    DeadlineError,
    DeviceUnavailableError,
    SyncTrailblazeClient,
    TrailblazeClient,
)
from packtrain._http import response_reader, start
from packtrain._wire import MAX_BODY, MAX_HEAD, WireError

BODY = b'{"visible":true}'
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n7;x=y\r\n" + BODY[:7] + b"\r\n9\r\n" + BODY[7:]
CHUNKED += b"\r\n0\r\ntrailer: x\r\n\r\n"
UNTIL_CLOSED = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n" + BODY
INFORMED = b"HTTP/1.1 100 Continue\r\n\r\n" + PLAIN

Talk = Callable[[socket.socket], None]


@contextmanager
def raw_server(*talks: Talk) -> Iterator[str]:
    """Accepts a connection for each talk, one after the other."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            for talk in talks:
                connection, _ = listener.accept()
                with connection:
                    talk(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join(10)
        assert not thread.is_alive(), "the client did not open as many connections as expected"


def receive(connection: socket.socket) -> bytes:
    """One request."""
    data = b""
    while True:
        data += connection.recv(65536)
        head, end, body = data.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0] or 0)
        if end and len(body) >= length:
            return data


def says(answer: bytes, times: int = 1) -> Talk:
    def talk(connection: socket.socket) -> None:
        for _ in range(times):
            receive(connection)
            connection.sendall(answer)

    return talk


def meta(base_url: str, invocation: str = "i") -> dict[str, Any]:
    device = {"platform": "web", "widthPixels": 1, "heightPixels": 1, "driverType": "none"}
    return {"trailblaze": {"baseUrl": base_url, "sessionId": "s", "invocationId": invocation, "device": device}}


def ask_async(base_url: str, times: int = 1, invocation: str = "i") -> list[bool]:
    async def ask() -> list[bool]:
        client = TrailblazeClient.from_meta(meta(base_url, invocation))
        return [await client.is_visible(text="x") for _ in range(times)]

    return asyncio.run(ask())


def ask_sync(base_url: str, times: int = 1, invocation: str = "i") -> list[bool]:
    client = SyncTrailblazeClient.from_meta(meta(base_url, invocation))
    return [client.is_visible(text="x") for _ in range(times)]


both = pytest.mark.parametrize("ask", [ask_async, ask_sync])


@both
@pytest.mark.parametrize("answer", [PLAIN, CHUNKED, INFORMED])
def test_one_connection_serves_many_requests(ask: Any, answer: bytes) -> None:
    with raw_server(says(answer, times=3)) as url:
        assert ask(url, 3) == [True] * 3


@both
def test_an_answer_may_end_with_the_connection(ask: Any) -> None:
    with raw_server(says(UNTIL_CLOSED), says(UNTIL_CLOSED)) as url:
        assert ask(url, 2) == [True, True]


@both
def test_a_connection_that_is_to_be_closed_is_not_used_again(ask: Any) -> None:
    closing = PLAIN.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1)
    with raw_server(says(closing), says(PLAIN)) as url:
        assert ask(url, 2) == [True, True]


@pytest.mark.parametrize("answer", [PLAIN, CHUNKED, INFORMED])
def test_an_answer_in_single_bytes_is_the_same(answer: bytes) -> None:
    reader = start(response_reader())
    for byte in answer[:-1]:
        reader.send(bytes([byte]))
    with pytest.raises(StopIteration) as ended:
        reader.send(answer[-1:])
    response, keep = ended.value.value
    assert (response.status, response.body, keep) == (200, BODY, True)


@pytest.mark.parametrize("answer", [PLAIN, CHUNKED])
def test_what_follows_an_answer_ends_the_connection(answer: bytes) -> None:
    with pytest.raises(StopIteration) as ended:
        start(response_reader()).send(answer + b"HTTP/1.1")
    assert ended.value.value[1] is False


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-x\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % (MAX_BODY + 1),
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-5\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffff\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc",
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * (MAX_HEAD + 10),
    ],
)
def test_nonsense_is_refused(answer: bytes) -> None:
    with pytest.raises(WireError):
        start(response_reader()).send(answer)


@both
def test_nonsense_is_a_command_error(ask: Any) -> None:
    with raw_server(says(b"SSH-2.0-x\r\n\r\n")) as url, pytest.raises(CommandError) as failed:
        ask(url)
    assert failed.value.code == "unknown" and str(failed.value).startswith("IsVisible: not an HTTP/1.1 answer")


@both
@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 OK\r\nconte", PLAIN[:-3], CHUNKED[:-20]])
def test_a_connection_that_breaks_is_an_unavailable_device(ask: Any, answer: bytes) -> None:
    with raw_server(says(answer)) as url, pytest.raises(DeviceUnavailableError) as failed:
        ask(url)
    assert failed.value.code == "unavailable"
    assert f"could not reach {url}" in str(failed.value)
    assert str(failed.value).endswith("the run has probably ended")


@both
def test_nobody_listening_is_an_unavailable_device(ask: Any) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # bound, not listening: nobody else gets the port
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(DeviceUnavailableError, match=f"could not reach {url} .*the run has probably ended"):
            ask(url)


@pytest.mark.parametrize("blocking", [False, True])
def test_an_idle_connection_that_the_server_closed_is_replaced(blocking: bool) -> None:
    closed = threading.Event()

    def once(connection: socket.socket) -> None:
        says(PLAIN)(connection)
        connection.shutdown(socket.SHUT_WR)
        closed.set()
        assert connection.recv(1) == b""  # the client closed its end

    async def main(base_url: str) -> None:
        client = TrailblazeClient.from_meta(meta(base_url))
        assert await client.is_visible(text="x")
        await asyncio.to_thread(closed.wait)
        assert await client.is_visible(text="x")

    with raw_server(once, says(PLAIN)) as url:
        if blocking:
            assert ask_sync(url) == [True]
            closed.wait()
            assert ask_sync(url) == [True]
        else:
            asyncio.run(main(url))


def test_a_cancelled_call_closes_its_connection_and_only_that() -> None:
    arrived, gone, release = threading.Event(), threading.Event(), threading.Event()

    def answer(received: Received) -> tuple[int, Any]:
        if received.body["action"]["tool_name"] == "held":
            arrived.set()
            if received.closed_by_client():
                gone.set()
        return tool_passed("done")

    async def main(base_url: str) -> None:
        client = TrailblazeClient.from_meta(meta(base_url))
        wait = asyncio.get_running_loop().run_in_executor
        held = asyncio.create_task(client.call_tool("held"))
        assert await wait(None, arrived.wait, 10)
        held.cancel()
        with pytest.raises(asyncio.CancelledError):
            await held
        assert await wait(None, gone.wait, 10)
        assert (await client.call_tool("other")).text_content == "done"

    with orchestrator(answer) as far:
        asyncio.run(main(far.base_url))
        release.set()


def test_two_hundred_calls_at_once_do_not_wait_for_each_other() -> None:
    all_here = threading.Barrier(200)

    def answer(received: Received) -> tuple[int, Any]:
        all_here.wait(30)
        return tool_passed(received.body["action"]["arguments_json"])

    async def main(base_url: str) -> list[Any]:
        client = TrailblazeClient.from_meta(meta(base_url))
        return await asyncio.gather(*(client.tools.echo(n=n) for n in range(200)))

    with orchestrator(answer) as far:
        assert asyncio.run(main(far.base_url)) == [f'{{"n":{n}}}' for n in range(200)]


def test_threads_share_blocking_connections_without_mixing_answers() -> None:
    with orchestrator(lambda received: tool_passed(received.body["action"]["arguments_json"])) as far:
        client = SyncTrailblazeClient.from_meta(meta(far.base_url))
        wrong: list[Any] = []

        def work(thread: int) -> None:
            for n in range(20):
                value = client.tools.echo(n=[thread, n])
                if value != f'{{"n":[{thread},{n}]}}':
                    wrong.append(value)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert wrong == [] and len(far.received) == 320
        assert far.connections <= 16


def test_each_event_loop_has_its_own_connections() -> None:
    with orchestrator(lambda _: (200, {"visible": True})) as far:
        assert ask_async(far.base_url, 3) == [True] * 3
        assert ask_async(far.base_url, 3) == [True] * 3
        assert far.connections == 2


@pytest.mark.parametrize("client", ["TrailblazeClient", "SyncTrailblazeClient"])
def test_the_deadline_comes_from_the_environment(client: str) -> None:
    code = f"""
import asyncio, inspect, sys
import packtrain
async def main():
    tb = packtrain.{client}.from_meta({{"trailblaze": {{"baseUrl": sys.argv[1], "sessionId": "s", "invocationId": "i",
        "device": {{"platform": "web", "widthPixels": 1, "heightPixels": 1, "driverType": "x"}}}}}})
    try:
        value = tb.has_text("x")
        if inspect.isawaitable(value): await value
    except packtrain.DeadlineError as error: print(error.code, error.command, error)
asyncio.run(main())
"""
    with orchestrator(lambda received: (200, str(received.closed_by_client()))) as far:
        environment = {**os.environ, "TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS": "100", "http_proxy": "http://127.0.0.1:1"}
        done = subprocess.run(
            [sys.executable, "-c", code, far.base_url], env=environment, capture_output=True, text=True, timeout=60
        )
        expected = f"deadline_exceeded HasText HasText: no answer from {far.base_url} within 0.1 s\n"
        assert (done.stdout, done.stderr) == (expected, "")
    assert DeadlineError.__mro__[1] is CommandError


@both
def test_another_scheme_is_refused(ask: Any) -> None:
    with pytest.raises(ValueError, match="`https://127.0.0.1:1` is not an http:// URL"):
        ask("https://127.0.0.1:1")


@both
def test_a_line_break_does_not_become_a_header(ask: Any) -> None:
    with pytest.raises(CommandError, match="line break"):
        ask("http://127.0.0.1:1", invocation="i\r\nx: y")


SCREEN = {"width": 1, "height": 2, "text": "x", "screenshotUrl": "/screens/1.png?x=1", "treeUrl": "http://else/s/1"}


def screens(received: Received) -> tuple[int, Any]:
    if received.method == "POST":
        return 200, SCREEN
    assert received.headers["authorization"] == "Bearer invocation-1"
    if received.path == "/screens/1.png?x=1":
        return 200, b"\x89PNG\r\n"
    return 404, {"code": "not_found", "message": f"no tree at {received.path}"}


def test_a_screen_fetches_with_the_credential_and_from_nobody_else() -> None:
    async def main(found: dict[str, Any]) -> None:
        screen = await TrailblazeClient.from_meta(found).capture_screen()
        assert (screen.width, screen.truncated, screen.title) == (1, False, None)
        assert await screen.screenshot() == b"\x89PNG\r\n"
        with pytest.raises(CommandError, match="no tree at /s/1") as failed:
            await screen.tree()
        assert failed.value.code == "not_found"

    with orchestrator(screens) as far:
        asyncio.run(main(far.meta()))
        screen = SyncTrailblazeClient.from_meta(far.meta()).capture_screen()
        assert screen.screenshot() == b"\x89PNG\r\n"
        with pytest.raises(CommandError, match="no tree at /s/1"):
            screen.tree()


def test_a_tree_is_json() -> None:
    answer = lambda received: (200, SCREEN if received.method == "POST" else {"nodes": [1]})  # noqa: E731
    with orchestrator(answer) as far:
        assert SyncTrailblazeClient.from_meta(far.meta()).capture_screen().tree() == {"nodes": [1]}
