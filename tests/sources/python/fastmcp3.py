"""A tool source on FastMCP 3."""

import json

from fastmcp import Context, FastMCP

mcp = FastMCP("fastmcp3")


@mcp.tool
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@mcp.tool
def echo_meta(ctx: Context) -> str:
    """Returns the `_meta` of the request, as JSON."""
    meta = ctx.request_context.meta
    return json.dumps(meta.model_dump(by_alias=True, mode="json") if meta else None)


if __name__ == "__main__":
    mcp.run(show_banner=False)
