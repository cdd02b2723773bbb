"""A tool source written with the SDK: a tool that makes forty callbacks, and one that makes one."""

from fastmcp import Context, FastMCP
from packtrain import TrailblazeClient, run

mcp = FastMCP("drive")


@mcp.tool
async def bench_echo() -> str:
    return "ok"


@mcp.tool
async def bench_drive(ctx: Context) -> str:
    client = TrailblazeClient.from_context(ctx)
    for _ in range(40):
        await client.call_tool("bench_act", {})
    return "ok"


@mcp.tool
async def bench_step(ctx: Context) -> str:
    await TrailblazeClient.from_context(ctx).call_tool("bench_act", {})
    return "ok"


if __name__ == "__main__":
    run(mcp)
