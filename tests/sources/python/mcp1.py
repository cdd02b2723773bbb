"""A tool source on the protocol's own Python SDK, version 1. `--port N` serves it over HTTP."""

import json
import sys

from mcp.server.fastmcp import Context, FastMCP

port = int(sys.argv[sys.argv.index("--port") + 1]) if "--port" in sys.argv else None
mcp = FastMCP("mcp1", port=port or 8000)


@mcp.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@mcp.tool()
def echo_meta(ctx: Context) -> str:
    """Returns the `_meta` of the request, as JSON."""
    meta = ctx.request_context.meta
    return json.dumps(meta.model_dump(by_alias=True, mode="json") if meta else None)


if __name__ == "__main__":
    mcp.run(transport="streamable-http" if port else "stdio")
