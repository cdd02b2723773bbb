from fastmcp import Context
from packtrain import TrailblazeClient


async def __NAME__(open: str, expect: str, ctx: Context) -> str:
    """Taps something by its text and waits until another text appears, on Android, iOS and web.

    Args:
        open: What to tap, by a part of its text.
        expect: What must appear then.
    """
    client = TrailblazeClient.from_context(ctx)
    if await client.is_visible(text=expect):
        return f"{expect} was there already"
    await client.tap(text=open)
    await client.wait_until_visible(text=expect)
    return f"Opened {open}"
