"""A tool source on FastMCP, over HTTP: types a word twenty times on the device of its call."""

import json
import os
import sys

import httpx
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("mark-py")
http = httpx.AsyncClient(timeout=130, limits=httpx.Limits(), trust_env=False)


@mcp.tool
async def mark_py(word: str, ctx: Context) -> str:
    """Types."""
    on = ctx.request_context.meta.trailblaze
    for n in range(20):
        arguments = json.dumps({"text": f"{word}p{n};", "hideKeyboardAfter": False})
        action = {"type": "call_tool", "tool_name": "inputText", "arguments_json": arguments}
        body = {"version": 1, "session_id": on["sessionId"], "invocation_id": on["invocationId"], "action": action}
        answer = await http.post(f"{on['baseUrl']}/scripting/callback", json=body)
        result = answer.json()["result"]
        if not result.get("success"):
            raise ToolError(result.get("error_message") or result.get("message"))
    return str(os.getpid())


mcp.run(transport="http", host="127.0.0.1", port=int(sys.argv[sys.argv.index("--port") + 1]), show_banner=False)
