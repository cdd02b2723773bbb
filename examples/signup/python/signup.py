"""The sign-up tool in Python. With `--transport http --port N` it serves any number of devices at
once; without, it speaks over standard input and output."""

from fastmcp import Context, FastMCP
from packtrain import TrailblazeClient, run, tool_meta

mcp = FastMCP("signup-py")


@mcp.tool(meta=tool_meta(requires_context=True))
async def shop_signUpPy(name: str, email: str, ctx: Context) -> str:
    """Creates an account in the shop, from the sign-in screen."""
    client = TrailblazeClient.from_context(ctx)
    await client.tap(text="Create account")
    await client.tap(text="Full name")
    await client.input_text(name)
    await client.tap(text="Email")
    await client.input_text(email)
    await client.tap(text="Sign up")
    await client.assert_visible(text=f"Welcome, {name}")
    return f"Signed up {name}"


if __name__ == "__main__":
    run(mcp)
