"""Tools tested without a device, as the README says, with the fixtures of the plugin."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import packtrain
from packtrain import CommandFailedError, NeedsDeviceError, SyncTrailblazeClient, TrailblazeClient, trailblaze_tool
from packtrain.testing import Call, MockTrailblaze


async def sign_in(email: str, ctx: Any) -> str:
    tb = TrailblazeClient.from_context(ctx)
    if await tb.is_visible(text="Skip"):
        await tb.tap(text="Skip")
    await tb.input_text(email)
    if tb.device.platform == "web":
        await tb.web.click("#go")
    matches = await tb.tools.findMatches(selector={"text": "Row"})
    tb.memory.set("email", email)
    screen = await tb.capture_screen()
    return f"{matches} {screen.text} {await screen.screenshot()!r} {await screen.tree()}"


def test_calls_are_recorded_and_stubs_answer(mock_trailblaze: MockTrailblaze) -> None:
    mock = mock_trailblaze
    mock.stub("is_visible", True)
    mock.stub("findMatches", [1, 2])
    mock.stub("capture_screen", {"width": 1, "height": 1, "text": "Hi", "screenshotUrl": "s", "treeUrl": "t"})
    mock.files["screenshot"] = b"PNG"
    assert asyncio.run(sign_in("a@b", mock.ctx)) == "[1, 2] Hi b'PNG' {}"
    assert mock.names == ["is_visible", "tap", "input_text", "findMatches", "capture_screen"]
    assert mock.calls[1] == Call("command", "tap", {"text": "Skip"})
    assert mock.calls[3] == Call("tool", "findMatches", {"selector": {"text": "Row"}})
    assert mock.memory.changes() == {"memoryDelta": {"email": "a@b"}}
    mock.reset()
    assert mock.names == []


def test_without_stubs_commands_return_what_is_empty(mock_trailblaze_web: MockTrailblaze) -> None:
    mock = mock_trailblaze_web
    assert asyncio.run(sign_in("a@b", mock.ctx)) == "None  b'' {}"
    assert mock.names == ["is_visible", "input_text", "click", "findMatches", "capture_screen"]
    client = mock.sync_client
    assert (client.get_element_count(text="x"), client.has_text("x"), client.get_element_text("x")) == (0, False, None)


def test_stubs_answer_in_order_raise_and_compute(mock_trailblaze_ios: MockTrailblaze) -> None:
    mock = mock_trailblaze_ios
    client = mock.sync_client
    assert client.device.platform == "ios"
    mock.stub("is_visible", False, True)
    assert [client.is_visible(text="x") for _ in range(3)] == [False, True, True]
    mock.stub("tap", CommandFailedError("not there", code="failed_precondition", command="Tap"))
    with pytest.raises(CommandFailedError, match="not there"):
        client.tap(text="x")
    mock.stub("echo", lambda text: f"-{text}-")
    assert client.tools.echo(text="a") == "-a-"
    assert client.call_tool("echo", {"text": "b"}).text_content == "-b-"
    mock.stub("get_element_text", lambda id: id.upper())
    assert client.get_element_text("a") == "A"
    with pytest.raises(ValueError, match="needs an answer"):
        mock.stub("tap")


def test_a_decorated_tool_returns_its_memory(make_mock_trailblaze: Callable[..., MockTrailblaze]) -> None:
    mock = make_mock_trailblaze("android", memory={"who": "Ada"})

    @trailblaze_tool
    def rename(name: str, ctx: Any) -> str:
        tb = SyncTrailblazeClient.from_context(ctx)
        before = tb.memory.get("who")
        tb.memory.set("who", name)
        return f"{before} is {name}"

    result = asyncio.run(rename("Bob", mock.ctx))
    assert result.content[0].text == "Ada is Bob"
    assert result.model_dump(by_alias=True)["_meta"] == {"trailblaze": {"memoryDelta": {"who": "Bob"}}}


def test_results_know_the_memory_of_their_call_and_of_no_other() -> None:
    async def tool(mock: MockTrailblaze) -> Any:
        TrailblazeClient.from_context(mock.ctx).memory.set("k", mock.context.invocation_id)
        await asyncio.sleep(0)
        return packtrain.success()

    async def main() -> None:
        mocks = [MockTrailblaze() for _ in range(20)]
        for mock, result in zip(mocks, await asyncio.gather(*map(tool, mocks)), strict=True):
            assert result.meta == {"trailblaze": {"memoryDelta": {"k": mock.context.invocation_id}}}

    asyncio.run(main())


def test_clients_of_one_call_share_its_memory_and_no_others() -> None:
    def client(invocation: str) -> SyncTrailblazeClient:
        device = {"platform": "web", "widthPixels": 1, "heightPixels": 1, "driverType": "x"}
        return SyncTrailblazeClient.from_meta(
            {"trailblaze": {"sessionId": "s", "invocationId": invocation, "device": device}}
        )

    client("one").memory.set("k", "v")
    assert client("one").memory.get("k") == "v"
    assert client("two").memory.get("k") is None


def test_memory_holds_texts_only(mock_trailblaze: MockTrailblaze) -> None:
    with pytest.raises(TypeError, match="memory holds texts; `n` would be int: use json.dumps"):
        mock_trailblaze.memory.set("n", 1)  # type: ignore[arg-type]


class Outside:
    """A context that belongs to no request."""

    @property
    def request_context(self) -> Any:
        raise ValueError("Context is not available outside of a request")


@pytest.mark.parametrize("ctx", [Outside(), type("None", (), {"request_context": None})()])
@pytest.mark.parametrize("client", [TrailblazeClient, SyncTrailblazeClient])
def test_outside_of_a_session_there_is_no_client(ctx: Any, client: Any) -> None:
    assert client.maybe_from_context(ctx) is None
    with pytest.raises(NeedsDeviceError, match="^needs a device: "):
        client.from_context(ctx)
    with pytest.raises(NeedsDeviceError, match="^needs a device: "):
        client.from_meta(None)


def test_a_session_without_callbacks_says_so(mock_trailblaze: MockTrailblaze) -> None:
    meta = {"sessionId": "s", "invocationId": "i", "device": {
        "platform": "web", "widthPixels": 1, "heightPixels": 1, "driverType": "x"}}  # fmt: skip
    client = SyncTrailblazeClient.from_meta({"trailblaze": meta})
    with pytest.raises(packtrain.DeviceUnavailableError, match="takes no callbacks"):
        client.tap(text="x")


def test_tools_are_not_python_internals(mock_trailblaze: MockTrailblaze) -> None:
    assert not hasattr(mock_trailblaze.client.tools, "__iter__")
    assert not hasattr(mock_trailblaze.sync_client.tools, "__deepcopy__")
    assert mock_trailblaze.calls == []


def test_metadata_has_only_what_was_given() -> None:
    assert packtrain.tool_meta() == {}
    assert packtrain.tool_meta(
        is_for_llm=False,
        requires_host=True,
        requires_context=True,
        supported_drivers=["d"],
        supported_platforms=["ios"],
    ) == {
        "trailblaze/isForLlm": False,
        "trailblaze/requiresHost": True,
        "trailblaze/requiresContext": True,
        "trailblaze/supportedDrivers": ["d"],
        "trailblaze/supportedPlatforms": ["ios"],
    }
