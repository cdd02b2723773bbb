"""The sign-up tool in Python. `--transport http --port N` serves it on loopback to any number of
clients at once; without, it speaks over standard input and output."""

import argparse
import json

import httpx
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError

mcp = FastMCP("signup-py")
# One client for all calls keeps its connections; Limits() sets no limit on how many.
http = httpx.AsyncClient(timeout=130, limits=httpx.Limits(), trust_env=False)


async def call(context: dict, tool: str, **arguments) -> None:
    """Calls a tool on the device of this invocation."""
    action = {"type": "call_tool", "tool_name": tool, "arguments_json": json.dumps(arguments)}
    request = {"version": 1, "session_id": context["sessionId"], "invocation_id": context["invocationId"], "action": action}
    response = await http.post(f"{context['baseUrl']}/scripting/callback", json=request)
    response.raise_for_status()
    result = response.json()["result"]
    if not result.get("success"):
        raise ToolError(f"{tool}: {result.get('error_message') or result.get('message')}")


@mcp.tool(name="shop_signUpPy", meta={"trailblaze/supportedPlatforms": ["android", "ios", "web"], "trailblaze/requiresContext": True})
async def sign_up(name: str, email: str, ctx: Context) -> str:
    """Creates an account in the shop, from the sign-in screen."""
    context = getattr(ctx.request_context.meta, "trailblaze", None)
    if context is None:
        raise ToolError("needs a device: there is no _meta.trailblaze")
    if context["device"]["platform"] == "web":
        await call(context, "web_click", ref='link "Create account"')
        await call(context, "web_type", ref='textbox "Full name"', text=name)
        await call(context, "web_type", ref='textbox "Email"', text=email)
        await call(context, "web_click", ref='button "Sign up"')
        await call(context, "web_verifyTextVisible", text=f"Welcome, {name}")
    else:
        await call(context, "tapOnElementWithText", text="Create account")
        await call(context, "tapOnElementWithText", text="Full name")
        await call(context, "inputText", text=name)
        await call(context, "tapOnElementWithText", text="Email")
        await call(context, "inputText", text=email)
        await call(context, "tapOnElementWithText", text="Sign up")
        await call(context, "assertVisibleWithText", text=f"Welcome, {name}")
    return f"Signed up {name}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--transport", choices=["stdio", "http"], default="stdio")
    parser.add_argument("--port", type=int, default=8000)
    options = parser.parse_args()
    where = {"host": "127.0.0.1", "port": options.port} if options.transport == "http" else {}
    mcp.run(transport=options.transport, show_banner=False, **where)
