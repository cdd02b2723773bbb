"""A tool source on the protocol's own Python SDK, version 2. `--port N` serves it over HTTP."""

import json
import sys

from mcp.server import MCPServer
from mcp.server.mcpserver import Context

mcp = MCPServer("mcp2")


@mcp.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@mcp.tool()
def echo_meta(ctx: Context) -> str:
    """Returns the `_meta` of the request, as JSON."""
    return json.dumps(ctx.request_context.meta)


if __name__ == "__main__":
    if "--port" in sys.argv:
        mcp.run(transport="streamable-http", port=int(sys.argv[sys.argv.index("--port") + 1]))
    else:
        mcp.run()
