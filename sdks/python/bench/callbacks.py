"""What a callback costs: `call_tool` of the SDK against the same by httpx, aiohttp and the blocking client.

    PYTHONPATH=src python bench/callbacks.py [rounds] [calls per slice]

Needs httpx, and aiohttp if it is to be compared. The echo runs in another process and answers at once; slices
alternate, so that all see the same machine. A figure is the median of the slices' medians.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from multiprocessing.connection import Connection
from typing import Any

import httpx

from packtrain import SyncTrailblazeClient, TrailblazeClient

ANSWER = b'{"result":{"type":"call_tool_result","success":true,"text_content":"Typed Ada"}}'


class Echo(asyncio.Protocol):
    """Answers every request, read by its length."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport
        self.data = b""

    def data_received(self, data: bytes) -> None:
        self.data += data
        head, end, body = self.data.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r")[0] or 0)
        if end and len(body) >= length:
            self.data = b""
            head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(ANSWER)
            self.transport.write(head + ANSWER)


def serve(port: Connection) -> None:
    """The other process."""

    async def main() -> None:
        server = await asyncio.get_running_loop().create_server(Echo, "127.0.0.1", 0)
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


def report(name: str, medians: list[float], base: float) -> None:
    """A line of figures."""
    p50 = statistics.median(medians)
    print(
        f"{name:14} p50 {p50 * 1e6:7.1f} us  slices {min(medians) * 1e6:7.1f}..{max(medians) * 1e6:7.1f}"
        f"  of httpx {p50 / base:5.3f}"
    )


async def measure(port: int, rounds: int, calls: int) -> None:
    """Alternating slices of all clients."""
    base = f"http://127.0.0.1:{port}"
    device = {"platform": "android", "widthPixels": 1080, "heightPixels": 2400, "driverType": "none"}
    meta = {"trailblaze": {"baseUrl": base, "sessionId": "s", "invocationId": "i", "device": device}}
    tb, blocking = TrailblazeClient.from_meta(meta), SyncTrailblazeClient.from_meta(meta)
    url = base + "/scripting/callback"

    def body() -> dict[str, Any]:
        action = {"type": "call_tool", "tool_name": "inputText", "arguments_json": json.dumps({"text": "Ada"})}
        return {"version": 1, "session_id": "s", "invocation_id": "i", "action": action}

    async with httpx.AsyncClient(timeout=130, trust_env=False) as client:

        async def by_httpx() -> None:
            assert (await client.post(url, json=body())).json()["result"]["success"]

        async def by_sdk() -> None:
            assert (await tb.call_tool("inputText", {"text": "Ada"})).success

        async def by_blocking() -> None:
            assert blocking.call_tool("inputText", {"text": "Ada"}).success

        contenders: dict[str, Callable[[], Awaitable[None]]] = {
            "httpx": by_httpx,
            "sdk": by_sdk,
            "sdk, blocking": by_blocking,
        }
        session: Any = None
        try:
            import aiohttp

            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=60)
            session = aiohttp.ClientSession(
                connector=connector, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False, auto_decompress=False
            )
            headers = {"content-type": "application/json"}

            async def by_aiohttp() -> None:
                async with session.post(url, data=json.dumps(body()).encode(), headers=headers) as answer:
                    assert json.loads(await answer.read())["result"]["success"]

            contenders["aiohttp, tuned"] = by_aiohttp
        except ImportError:
            pass
        medians: dict[str, list[float]] = {name: [] for name in contenders}
        for round in range(-2, rounds):  # two to warm up
            for name, call in contenders.items():
                times = []
                for _ in range(calls):
                    start = time.perf_counter()
                    await call()
                    times.append(time.perf_counter() - start)
                if round >= 0:
                    medians[name].append(statistics.median(times))
        if session is not None:
            await session.close()
    for name, values in medians.items():
        report(name, values, statistics.median(medians["httpx"]))


def main() -> None:
    """The command line."""
    rounds, calls = [int(arg) for arg in sys.argv[1:]] + [20, 200][len(sys.argv) - 1 :]
    ours, theirs = multiprocessing.Pipe()
    echo = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    echo.start()
    try:
        asyncio.run(measure(ours.recv(), rounds, calls))
    finally:
        echo.terminate()
        echo.join()


if __name__ == "__main__":
    main()
