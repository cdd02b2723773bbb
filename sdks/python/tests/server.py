"""A tool server as an author writes it. The first argument says of which framework it is made."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

import uvicorn
from pydantic import BaseModel

import packtrain
from packtrain import SyncTrailblazeClient, TrailblazeClient, _http_server, tool_meta, trailblaze_tool

if sys.argv[1] == "mcp1":
    from mcp.server.fastmcp import Context, FastMCP
elif sys.argv[1] == "mcp2":
    from mcp.server.mcpserver import Context
    from mcp.server.mcpserver import MCPServer as FastMCP
else:
    from fastmcp import Context, FastMCP

mcp: Any = FastMCP("acme")


@mcp.tool(meta=tool_meta(supported_platforms=["android"], is_recordable=False, toolset="auth"))
async def acme_signIn(email: str, ctx: Context) -> str:
    """Signs in."""
    tb = TrailblazeClient.from_context(ctx)
    await tb.clear_app_data("com.acme")
    await tb.clear_app_data(package_id="com.acme")
    await tb.launch_app(package_id="com.acme", mode="resume")
    await tb.tap(text="Sign in")
    await tb.input_text(email)
    if not await tb.is_visible(text="Dashboard", timeout_ms=5000):
        return "not there"
    await tb.has_text("Welcome back")
    count = await tb.get_element_count(id="list_item")
    await tb.wait_until_visible(text="Go Online", timeout_ms=10000)
    await tb.mobile.swipe("up")
    return f"{count} on {tb.device.platform} for {tb.memory.get('who')}"


@mcp.tool()
@trailblaze_tool
def acme_blocking(ctx: Context, name: str = "Ada") -> str:
    """Blocks."""
    tb = SyncTrailblazeClient.from_context(ctx)
    tb.memory.set("name", name)
    print("this must not reach the wire")
    return str(tb.tools.echo(name=name))


@mcp.tool()
@trailblaze_tool
async def acme_remember(n: int, ctx: Context) -> dict[str, Any]:
    """Changes memory and returns a plain value."""
    tb = TrailblazeClient.from_context(ctx)
    tb.memory.set("n", str(n))
    tb.memory.delete("who")
    echo = await tb.tools.echo(n=n)
    return {"n": n, "echo": echo}


@mcp.tool()
async def acme_result(kind: str, ctx: Context):  # type: ignore[no-untyped-def]
    """Returns what the helpers make."""
    tb = TrailblazeClient.maybe_from_context(ctx)
    if tb is not None:
        tb.memory.set("kind", kind)
    return {
        "success": lambda: packtrain.success("fine", {"a": [1, None]}),
        "nothing": lambda: packtrain.success(),
        "error": lambda: packtrain.error("bad"),
        "fatal_error": lambda: packtrain.fatal_error("worse"),
        "missing_required_args": lambda: packtrain.missing_required_args(["a", "b"]),
        "delegate": lambda: packtrain.delegate([{"tool": "tap", "args": {"text": "x"}}]),
    }[kind]()


@mcp.tool()
def acme_blockingResult(ctx: Context):  # type: ignore[no-untyped-def]
    """Blocks, where the framework runs it, and returns what a helper makes."""
    tb = SyncTrailblazeClient.from_context(ctx)
    tb.memory.set("k", "v")
    return packtrain.error(tb.tools.echo())


@mcp.tool()
@trailblaze_tool
async def acme_decorated(kind: str) -> Any:
    """Plain values and results of a decorated tool, without a context."""
    return {"text": "x", "none": None, "list": [1], "error": packtrain.error("bad")}[kind]


@mcp.tool()
async def acme_held(ctx: Context) -> str:
    """Waits for its callback."""
    return str(await TrailblazeClient.from_context(ctx).tools.held())


@mcp.tool()
async def acme_noisy(ctx: Context, times: int = 2) -> list[str]:
    """Tells the client what it does, and returns what it knows of its request."""
    for n in range(times):
        await ctx.info(f"line {n}")
        await ctx.report_progress(n, times)
    request = ctx.request_context.request
    body = await request.body()
    return [request.url.path, request.headers["content-length"], str(len(body)), str(request.client[1] > 0)]


class Name(BaseModel):
    """What `acme_asks` asks for."""

    value: str


@mcp.tool()
async def acme_asks(ctx: Context) -> str:
    """Asks the client for a name."""
    answer = await ctx.elicit("Name?", Name)
    return f"Hello {answer.data.value}"


@mcp.tool()
async def acme_slow(seconds: float) -> str:
    """Takes its time."""
    await asyncio.sleep(seconds)
    return "done"


packtrain.registry_resource(
    mcp,
    tools={"acme_signIn": {"platforms": ["android"], "groups": ["auth"], "isDelegating": False}},
    groups={"auth": {"description": "Sign in and out", "defaultEnabled": True}},
    version="1.0.0",
)

_http_server.HEADERS_TIMEOUT = float(os.environ.get("HEADERS_TIMEOUT", _http_server.HEADERS_TIMEOUT))
startup = uvicorn.Server.startup


async def announced(self: Any, sockets: Any = None) -> None:
    """Tells the test the port as soon as the server listens."""
    await startup(self, sockets)
    print("port", self.servers[0].sockets[0].getsockname()[1], file=sys.stderr, flush=True)


uvicorn.Server.startup = announced  # type: ignore[method-assign]

if __name__ == "__main__":
    packtrain.run(mcp)
