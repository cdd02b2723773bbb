"""Tool servers of every framework as processes, called by an MCP client over both transports.

PACKTRAIN_TEST_PYTHONS is a JSON object: for each of fastmcp2, fastmcp3, fastmcp4, mcp1 and mcp2 a Python that has it.
"""

from __future__ import annotations

import asyncio
import http.client
import ipaddress
import json
import os
import subprocess
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from orchestrator import Received, orchestrator, tool_passed

HERE = Path(__file__).resolve().parent
FRAMEWORKS = ["fastmcp2", "fastmcp3", "fastmcp4", "mcp1", "mcp2"]
both = pytest.mark.parametrize("transport", ["stdio", "http"])
every = pytest.mark.parametrize("framework", FRAMEWORKS)


def python(framework: str) -> str:
    pythons = json.loads(os.environ["PACKTRAIN_TEST_PYTHONS"])
    return str(pythons[framework])


def environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FASTMCP", "PYTEST"))}
    return {**kept, "PYTHONPATH": str(HERE.parent / "src"), "PYTHONDONTWRITEBYTECODE": "1"}


@asynccontextmanager
async def over_stdio(framework: str, script: Path = HERE / "server.py") -> AsyncIterator[ClientSession]:
    server = [str(script), framework]
    parameters = StdioServerParameters(command=python(framework), args=server, env=environment())
    with tempfile.TemporaryFile("w+") as errors:
        async with stdio_client(parameters, errlog=errors) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            yield session


@asynccontextmanager
async def http_server(framework: str) -> AsyncIterator[tuple[int, asyncio.subprocess.Process]]:
    process = await asyncio.create_subprocess_exec(
        python(framework), str(HERE / "server.py"), framework, "--transport", "http", "--port", "0",
        env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stderr is not None and process.stdout is not None
    said = b""
    try:
        while not said.startswith(b"port "):
            said = await process.stderr.readline()
            assert said, "the server ended before it listened"
        drain = asyncio.create_task(process.stderr.read())
        yield int(said.split()[1]), process
    finally:
        if process.returncode is None:
            process.terminate()
        printed = await process.stdout.read()
        await process.wait()
    assert b"this must not" not in printed and printed == b""
    await drain


@asynccontextmanager
async def over_http(framework: str) -> AsyncIterator[ClientSession]:
    async with http_server(framework) as (port, _):
        async with streamable_http_client(f"http://127.0.0.1:{port}/mcp") as (read, write, _id):
            async with ClientSession(read, write) as session:
                await session.initialize()
                yield session


Use = Callable[[ClientSession], Awaitable[None]]
Call = Callable[[str, str, Use], None]


@pytest.fixture(scope="module")
def call() -> Iterator[Call]:
    """Uses the server of a framework and transport, which all tests of this file share."""
    loop = asyncio.new_event_loop()
    sessions: dict[tuple[str, str], asyncio.Future[ClientSession]] = {}
    holders: list[asyncio.Task[None]] = []
    enough = asyncio.Event()

    async def hold(framework: str, transport: str) -> None:
        session = sessions[framework, transport]
        try:
            async with (over_stdio if transport == "stdio" else over_http)(framework) as started:
                session.set_result(started)
                await enough.wait()
        finally:
            if not session.done():
                session.set_exception(ConnectionError("the server did not start"))

    def call(framework: str, transport: str, use: Use) -> None:
        async def main() -> None:
            if (framework, transport) not in sessions:
                sessions[framework, transport] = loop.create_future()
                holders.append(loop.create_task(hold(framework, transport)))
            await use(await sessions[framework, transport])

        loop.run_until_complete(asyncio.wait_for(main(), 120))

    async def end() -> None:
        enough.set()
        await asyncio.gather(*holders)

    yield call
    loop.run_until_complete(asyncio.wait_for(end(), 120))
    loop.close()


def text(result: types.CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def answers(received: Received) -> tuple[int, Any]:
    """Commands succeed; the tool `echo` says its arguments and whose call it was."""
    if received.path == "/scripting/callback":
        action = received.body["action"]
        return tool_passed(f"{received.body['invocation_id']}: {action['arguments_json']}")
    return 200, {"visible": True, "found": True, "count": 3}


@every
@both
def test_tools_reach_their_device_and_return_what_they_should(framework: str, transport: str, call: Call) -> None:
    async def use(session: ClientSession) -> None:
        listed = {tool.name: tool for tool in (await session.list_tools()).tools}
        meta = listed["acme_signIn"].meta or {}
        assert meta["trailblaze/supportedPlatforms"] == ["android"]
        assert meta["trailblaze/isRecordable"] is False
        assert meta["trailblaze/toolset"] == "auth"
        assert set(listed["acme_remember"].inputSchema["properties"]) == {"n"}
        assert listed["acme_remember"].inputSchema["properties"]["n"]["type"] == "integer"
        assert listed["acme_blocking"].inputSchema.get("required", []) == []
        assert listed["acme_blocking"].description == "Blocks."

        signed_in = await session.call_tool("acme_signIn", {"email": "ada@x.org"}, meta=far.meta(memory={"who": "Ada"}))
        assert (text(signed_in), signed_in.isError) == ("3 on android for Ada", False)
        prefix = "/packtrain.v1.Commands/"
        assert [(r.path.removeprefix(prefix), r.body) for r in far.received] == [
            ("ClearAppData", {"packageId": "com.acme"}),
            ("ClearAppData", {"packageId": "com.acme"}),
            ("LaunchApp", {"packageId": "com.acme", "mode": "LAUNCH_MODE_RESUME"}),
            ("Tap", {"text": "Sign in"}),
            ("InputText", {"text": "ada@x.org"}),
            ("IsVisible", {"text": "Dashboard", "timeoutMs": 5000}),
            ("HasText", {"text": "Welcome back"}),
            ("GetElementCount", {"id": "list_item"}),
            ("WaitUntilVisible", {"text": "Go Online", "timeoutMs": 10000}),
            ("Swipe", {"direction": "DIRECTION_UP"}),
        ]

        blocking = await session.call_tool("acme_blocking", {"name": "Bob"}, meta=far.meta("b"))
        assert (text(blocking), blocking.isError) == ('b: {"name":"Bob"}', False)
        assert blocking.meta == {"trailblaze": {"memoryDelta": {"name": "Bob"}}}
        assert blocking.structuredContent == {"result": 'b: {"name":"Bob"}'}

        outside = await session.call_tool("acme_signIn", {"email": "x"})
        assert outside.isError
        assert "needs a device: the tool was called outside of a Packtrain session" in text(outside)

        registry = (await session.read_resource("trailblaze://registry")).contents[0]  # type: ignore[arg-type]
        assert isinstance(registry, types.TextResourceContents)
        assert json.loads(registry.text) == {
            "tools": {"acme_signIn": {"platforms": ["android"], "groups": ["auth"], "isDelegating": False}},
            "groups": {"auth": {"description": "Sign in and out", "defaultEnabled": True}},
            "serverInfo": {"name": "acme", "version": "1.0.0"},
        }

    with orchestrator(answers) as far:
        call(framework, transport, use)


@every
@both
def test_results_arrive_as_the_helpers_made_them(framework: str, transport: str, call: Call) -> None:
    delegates = {"success": True, "_trailblaze_delegates": [{"tool": "tap", "args": {"text": "x"}}]}
    expected: dict[str, tuple[list[str], Any, bool, dict[str, Any]]] = {
        "success": (["fine"], {"a": [1, None]}, False, {}),
        "nothing": ([], None, False, {}),
        "error": (["bad"], None, True, {}),
        "fatal_error": (["worse"], None, True, {"variant": "FatalError"}),
        "missing_required_args": (
            ["Missing required arguments: a, b"], None, True, {"variant": "MissingRequiredArgs", "missing": ["a", "b"]},
        ),
        "delegate": ([json.dumps(delegates, separators=(",", ":"))], delegates, False, {}),
    }  # fmt: skip

    async def use(session: ClientSession) -> None:
        for kind, (texts, structured, is_error, meta) in expected.items():
            for inside in (True, False):
                result = await session.call_tool("acme_result", {"kind": kind}, meta=far.meta() if inside else None)
                assert [content.text for content in result.content if content.type == "text"] == texts
                assert (result.structuredContent, result.isError) == (structured, is_error)
                more = {"memoryDelta": {"kind": kind}} if inside else {}
                assert (result.meta or {}).get("trailblaze", {}) == {**meta, **more}

        plain: list[tuple[str, list[str], Any]] = [
            ("text", ["x"], {"result": "x"}),
            ("none", [], None),
            ("list", ["[1]"], {"result": [1]}),
        ]
        for kind, texts, value in plain:
            result = await session.call_tool("acme_decorated", {"kind": kind})
            assert [content.text for content in result.content if content.type == "text"] == texts
            assert (result.structuredContent, result.isError) == (value, False)
        blocking = await session.call_tool("acme_blockingResult", {}, meta=far.meta("b"))
        assert (text(blocking), blocking.isError) == ("b: {}", True)
        assert blocking.meta == {"trailblaze": {"memoryDelta": {"k": "v"}}}
        failed = await session.call_tool("acme_decorated", {"kind": "error"})
        assert (text(failed), failed.isError) == ("bad", True)

    with orchestrator(answers) as far:
        call(framework, transport, use)


@every
def test_what_a_command_fails_with_reaches_the_caller(framework: str, call: Call) -> None:
    async def use(session: ClientSession) -> None:
        failed = await session.call_tool("acme_signIn", {"email": "x"}, meta=far.meta())
        said_by_mcp = "" if framework.startswith("fastmcp") else "Error executing tool acme_signIn: "
        assert failed.isError and text(failed) == said_by_mcp + refusal["message"]

    refusal = {"code": "failed_precondition", "message": 'no visible element with text "Sign in"'}
    with orchestrator(lambda _: (400, refusal)) as far:
        call(framework, "stdio", use)


@every
@both
def test_fifty_calls_at_once_keep_apart(framework: str, transport: str, call: Call) -> None:
    everybody = threading.Barrier(50)

    def together(received: Received) -> tuple[int, Any]:
        everybody.wait(60)  # answers only when all fifty wait
        return answers(received)

    async def use(session: ClientSession) -> None:
        async def one(n: int) -> types.CallToolResult:
            meta = far.meta(f"invocation-{n}", memory={"who": str(n)})
            if n % 2:
                return await session.call_tool("acme_blocking", {"name": str(n)}, meta=meta)
            return await session.call_tool("acme_remember", {"n": n}, meta=meta)

        for n, result in enumerate(await asyncio.gather(*(one(n) for n in range(50)))):
            assert not result.isError
            if n % 2:
                assert text(result) == f'invocation-{n}: {{"name":"{n}"}}'
                assert result.meta == {"trailblaze": {"memoryDelta": {"name": str(n)}}}
            else:
                assert result.structuredContent == {"n": n, "echo": f'invocation-{n}: {{"n":{n}}}'}
                assert result.meta == {"trailblaze": {"memoryDelta": {"n": str(n)}, "memoryDeletions": ["who"]}}
        sessions = {(r.body["session_id"], r.body["invocation_id"]) for r in far.received}
        assert sessions == {("session-1", f"invocation-{n}") for n in range(50)}

    with orchestrator(together) as far:
        call(framework, transport, use)


@every
@both
def test_a_cancelled_call_cancels_its_callback(framework: str, transport: str, call: Call) -> None:
    arrived, gone = threading.Event(), threading.Event()

    def answer(received: Received) -> tuple[int, Any]:
        if received.body["action"]["tool_name"] == "held":
            arrived.set()
            if received.closed_by_client():
                gone.set()
        return answers(received)

    async def use(session: ClientSession) -> None:
        wait = asyncio.get_running_loop().run_in_executor
        request = session._request_id
        held = asyncio.create_task(session.call_tool("acme_held", {}, meta=far.meta()))
        assert await wait(None, arrived.wait, 30)
        params = types.CancelledNotificationParams(requestId=request, reason="enough")
        await session.send_notification(types.ClientNotification(types.CancelledNotification(params=params)))
        assert await wait(None, gone.wait, 30)
        if transport == "stdio" and framework in ("fastmcp4", "mcp2"):
            held.cancel()  # nothing answers it
        else:
            # Not cancelled: at the moment of an answer that would end the session of mcp 1's client.
            with pytest.raises(McpError, match="Request cancelled"):
                await held
        after = await session.call_tool("acme_remember", {"n": 1}, meta=far.meta())
        assert not after.isError

    with orchestrator(answer) as far:
        call(framework, transport, use)


@pytest.mark.parametrize("framework", ["fastmcp4", "mcp2"])
def test_the_newer_protocol_carries_the_same(framework: str) -> None:
    arrived, gone = threading.Event(), threading.Event()

    def answer(received: Received) -> tuple[int, Any]:
        if received.body["action"]["tool_name"] == "held":
            arrived.set()
            if received.closed_by_client():
                gone.set()
        return answers(received)

    async def main(meta: dict[str, Any]) -> None:
        wait = asyncio.get_running_loop().run_in_executor
        async with http_server(framework) as (port, _):
            client = await asyncio.create_subprocess_exec(
                python("mcp2"), str(HERE / "modern_client.py"), f"http://127.0.0.1:{port}/mcp", json.dumps(meta),
                env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            )  # fmt: skip
            assert client.stdin is not None and client.stdout is not None
            assert await wait(None, arrived.wait, 60)
            client.stdin.write(b"cancel\n")
            assert json.loads(await client.stdout.readline()) == [
                ['{"n":1,"echo":"m: {\\"n\\":1}"}', {"n": 1, "echo": 'm: {"n":1}'}, False,
                 {"memoryDelta": {"n": "1"}, "memoryDeletions": ["who"]}],
                ['m: {"name":"Ada"}', {"result": 'm: {"name":"Ada"}'}, False, {"memoryDelta": {"name": "Ada"}}],
                ["worse", None, True, {"variant": "FatalError", "memoryDelta": {"kind": "fatal_error"}}],
            ]  # fmt: skip
            assert await wait(None, gone.wait, 30)
            client.stdin.close()
            assert await client.wait() == 0

    with orchestrator(answer) as far:
        asyncio.run(asyncio.wait_for(main(far.meta("m")), 120))


def listening(port: int) -> set[str]:
    """The IPv4 addresses at which somebody listens on a port: by /proc, on macOS by lsof."""
    table = Path("/proc/net/tcp")
    if table.exists():
        sockets = [line.split() for line in table.read_text().splitlines()[1:]]
        places = [local.split(":") for _, local, _, state, *_ in sockets if state == "0A"]
        found = [address for address, its in places if int(its, 16) == port]
        return {str(ipaddress.ip_address(bytes.fromhex(address)[::-1])) for address in found}
    told = subprocess.run(["lsof", "-nP", f"-i4TCP:{port}", "-sTCP:LISTEN", "-Fn"], capture_output=True, text=True)
    return {line[1:].rpartition(":")[0] for line in told.stdout.splitlines() if line.startswith("n")}


@every
def test_http_refuses_another_host_and_listens_on_this_computer_only(framework: str) -> None:
    def post(port: int, host: str) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        ping = json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "initialize",
                "params": {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {},
                    "clientInfo": {"name": "x", "version": "1"},
                },
            }
        )
        accept = "application/json, text/event-stream"
        connection.request("POST", "/mcp", ping, {"Host": host, "Content-Type": "application/json", "Accept": accept})
        status = connection.getresponse().status
        connection.close()
        return status

    async def main() -> None:
        async with http_server(framework) as (port, _):
            assert await asyncio.to_thread(post, port, f"127.0.0.1:{port}") == 200
            assert await asyncio.to_thread(post, port, f"localhost:{port}") == 200
            assert 400 <= await asyncio.to_thread(post, port, "evil.example") < 500
            assert await asyncio.to_thread(listening, port) == {"127.0.0.1"}

    asyncio.run(asyncio.wait_for(main(), 60))


@every
def test_a_server_on_standard_input_ends_with_it(framework: str) -> None:
    done = subprocess.run(
        [python(framework), str(HERE / "server.py"), framework],
        env=environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b"")


@pytest.mark.parametrize("framework", ["fastmcp2", "fastmcp3", "fastmcp4"])
def test_the_first_tool_of_the_readme_works(framework: str, tmp_path: Path) -> None:
    readme = (HERE.parent / "README.md").read_text("utf-8")
    tools, _, rest = readme.partition("```python\n# tools.py")[2].partition("```")
    test = rest.partition("```python\nimport asyncio")[2].partition("```")[0]
    (tmp_path / "tools.py").write_text(tools)
    assert len(tools.splitlines()) <= 21

    async def main() -> None:
        async with over_stdio(framework, tmp_path / "tools.py") as session:
            result = await session.call_tool("acme_signIn", {"email": "ada@x.org"}, meta=far.meta())
            assert text(result) == "Signed in as ada@x.org"

    with orchestrator(answers) as far:
        asyncio.run(asyncio.wait_for(main(), 60))
    assert len(far.received) == 4

    if framework != "fastmcp2":  # whose tools are no functions
        (tmp_path / "test_tools.py").write_text("import asyncio" + test)
        command = [python(framework), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "packtrain.pytest_plugin"]
        done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=60)
        assert "1 passed" in done.stdout, done.stdout
