"""A tool source on FastMCP 4."""

import json

from fastmcp import Context, FastMCP

mcp = FastMCP("fastmcp4")


@mcp.tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@mcp.tool
def echo_meta(ctx: Context) -> str:
    """Returns the `_meta` of the request, as JSON."""
    return json.dumps(ctx.request_context.meta)


if __name__ == "__main__":
    mcp.run(show_banner=False)
