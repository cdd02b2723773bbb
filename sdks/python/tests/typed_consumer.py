"""What a type checker must accept; lines that it must refuse say which error they are."""

from __future__ import annotations

from typing import Any

from packtrain import Screen, SyncScreen, SyncTrailblazeClient, TrailblazeClient, tool_meta
from packtrain.testing import MockTrailblaze


async def seeds(tb: TrailblazeClient, email: str) -> None:
    await tb.clear_app_data("com.acme")
    await tb.clear_app_data(package_id="com.acme")
    await tb.launch_app(package_id="com.acme")
    await tb.launch_app("com.acme", mode="resume")
    await tb.tap(text="Sign in")
    await tb.input_text(email)
    visible: bool = await tb.is_visible(text="Dashboard", timeout_ms=5000)
    found: bool = await tb.has_text("Welcome back")
    count: int = await tb.get_element_count(id="list_item")
    text: str | None = await tb.get_element_text("total")
    await tb.wait_until_visible(text="Go Online", timeout_ms=10000)
    await tb.mobile.swipe("up", duration_ms=300)
    await tb.web.fill("#name", "Ada")
    value: Any = await tb.web.evaluate_js("1")
    screen: Screen = await tb.capture_screen()
    png: bytes = await screen.screenshot()
    print(visible, found, count, text, value, png, tb.device.platform, tb.memory.get("x"))

    await tb.mobile.swipe("sideways")  # type: ignore[arg-type]
    await tb.tap("Sign in")  # type: ignore[call-arg]
    await tb.input_text()  # type: ignore[call-arg]
    wrong: str = await tb.has_text("x")  # type: ignore[assignment]
    await tb.swipe("up")  # type: ignore[attr-defined]
    print(wrong)


def blocking(tb: SyncTrailblazeClient) -> SyncScreen:
    tb.tap(text="Sign in", index=1, exact=True)
    count: int = tb.get_element_count(text="x")
    output: str = tb.mobile.adb_shell("ls")
    print(count, output)
    tb.launch_app("com.acme", mode="never")  # type: ignore[arg-type]
    return tb.capture_screen()


META: dict[str, Any] = tool_meta(supported_platforms=["android"], is_recordable=False)
BAD = tool_meta(supported_platforms=["desktop"])  # type: ignore[list-item]


def mocked(mock_trailblaze: MockTrailblaze) -> TrailblazeClient:
    mock_trailblaze.stub("is_visible", True)
    return mock_trailblaze.client
