"""The typed commands. Written by scripts/generate.py from openapi.json: do not edit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from ._session import (
    AsyncCommands,
    AsyncScreenBase,
    Session,
    SyncCommands,
    SyncScreenBase,
)

Direction = Literal["up", "down", "left", "right"]
"""A direction."""

LaunchMode = Literal["reinstall", "resume", "force_restart"]
"""What becomes of an app's data and process."""


@dataclass(frozen=True)
class Screen(AsyncScreenBase):
    """What is on the screen. The picture and the tree are fetched from their addresses with the same credential.
    They are there until the tool call ends, or two more captures were made.
    """

    _session: Session = field(repr=False, compare=False)
    width: float
    """Width in the units of bounds."""
    height: float
    """Height in the units of bounds."""
    text: str
    """The elements as a compact list, a line each; at most 64 KiB."""
    screenshot_url: str
    """Where the picture is: `image/png`."""
    tree_url: str
    """Where the tree is: `application/json`."""
    location: str | None
    """The page's address, or the id of the app in front."""
    title: str | None
    """The page's title."""
    truncated: bool
    """Whether `text` was cut."""


@dataclass(frozen=True)
class SyncScreen(SyncScreenBase):
    """What is on the screen. The picture and the tree are fetched from their addresses with the same credential.
    They are there until the tool call ends, or two more captures were made.
    """

    _session: Session = field(repr=False, compare=False)
    width: float
    """Width in the units of bounds."""
    height: float
    """Height in the units of bounds."""
    text: str
    """The elements as a compact list, a line each; at most 64 KiB."""
    screenshot_url: str
    """Where the picture is: `image/png`."""
    tree_url: str
    """Where the tree is: `application/json`."""
    location: str | None
    """The page's address, or the id of the app in front."""
    title: str | None
    """The page's title."""
    truncated: bool
    """Whether `text` was cut."""


METHODS: dict[str, str] = {
    "adb_shell": "AdbShell",
    "assert_visible": "AssertVisible",
    "capture_screen": "CaptureScreen",
    "clear_app_data": "ClearAppData",
    "click": "Click",
    "evaluate_js": "EvaluateJs",
    "fill": "Fill",
    "get_element_count": "GetElementCount",
    "get_element_text": "GetElementText",
    "grant_permission": "GrantPermission",
    "has_text": "HasText",
    "input_text": "InputText",
    "is_visible": "IsVisible",
    "launch_app": "LaunchApp",
    "navigate": "Navigate",
    "pinch": "Pinch",
    "press_back": "PressBack",
    "press_home": "PressHome",
    "scroll": "Scroll",
    "swipe": "Swipe",
    "tap": "Tap",
    "wait_for_selector": "WaitForSelector",
    "wait_until_visible": "WaitUntilVisible",
}
"""The command of the wire for each method."""

RETURNS: dict[str, str] = {
    "AdbShell": "output",
    "AssertVisible": "nothing",
    "CaptureScreen": "message",
    "ClearAppData": "nothing",
    "Click": "nothing",
    "EvaluateJs": "result",
    "Fill": "nothing",
    "GetElementCount": "count",
    "GetElementText": "text",
    "GrantPermission": "nothing",
    "HasText": "found",
    "InputText": "nothing",
    "IsVisible": "visible",
    "LaunchApp": "nothing",
    "Navigate": "nothing",
    "Pinch": "nothing",
    "PressBack": "nothing",
    "PressHome": "nothing",
    "Scroll": "nothing",
    "Swipe": "nothing",
    "Tap": "nothing",
    "WaitForSelector": "nothing",
    "WaitUntilVisible": "nothing",
}
"""The field of the answer that is returned, `message` for all of it, or `nothing`."""


class AsyncCore(AsyncCommands):
    """Commands of the client itself."""

    async def assert_visible(
        self, *, text: str | None = None, id: str | None = None, exact: bool | None = None, timeout_ms: int | None = None
    ) -> None:
        """Expects an element to be visible in time.

        `text`: Part of what the element says, in any case; no pattern.
        `id`: The element's id, as for `Tap`.
        `exact`: Whether `text` is the whole text, in this case.
        `timeout_ms`: How long it may take, in milliseconds; 5000 when not given.

        Platforms: Android, iOS, web.
        """
        await self._command("AssertVisible", {"text": text, "id": id, "exact": exact, "timeoutMs": timeout_ms})

    async def capture_screen(self) -> Screen:
        """Takes a screenshot and a snapshot of the screen.

        Platforms: Android, iOS, web.
        """
        answer = await self._command("CaptureScreen", {})
        return Screen(
            self._session,
            width=answer.get("width", 0.0),
            height=answer.get("height", 0.0),
            text=answer.get("text", ""),
            screenshot_url=answer.get("screenshotUrl", ""),
            tree_url=answer.get("treeUrl", ""),
            location=answer.get("location"),
            title=answer.get("title"),
            truncated=answer.get("truncated", False),
        )

    async def clear_app_data(self, package_id: str) -> None:
        """Deletes an app's data.

        `package_id`: Package name or bundle id.

        Platforms: Android, iOS.
        """
        await self._command("ClearAppData", {"packageId": package_id})

    async def get_element_count(
        self, *, text: str | None = None, id: str | None = None, exact: bool | None = None
    ) -> int:
        """How many visible elements match.

        `text`: Part of what the elements say, in any case; no pattern.
        `id`: The elements' id, as for `Tap`.
        `exact`: Whether `text` is the whole text, in this case.

        Platforms: Android, iOS, web.
        """
        answer = await self._command("GetElementCount", {"text": text, "id": id, "exact": exact})
        value: int = answer.get("count", 0)
        return value

    async def get_element_text(self, id: str) -> str | None:
        """The text of the first visible element of an id, or nothing.

        `id`: The element's id, as for `Tap`.

        Platforms: Android, iOS, web.
        """
        answer = await self._command("GetElementText", {"id": id})
        value: str | None = answer.get("text")
        return value

    async def has_text(self, text: str) -> bool:
        """Whether the screen shows a text anywhere now, in any case.

        `text`: The text.

        Platforms: Android, iOS, web.
        """
        answer = await self._command("HasText", {"text": text})
        value: bool = answer.get("found", False)
        return value

    async def input_text(self, text: str) -> None:
        """Types into whatever has the focus.

        `text`: The text; any Unicode.

        Platforms: Android, iOS, web.
        """
        await self._command("InputText", {"text": text})

    async def is_visible(
        self, *, text: str | None = None, id: str | None = None, exact: bool | None = None, timeout_ms: int | None = None
    ) -> bool:
        """Whether an element is visible. Not being visible is no error.

        `text`: Part of what the element says, in any case; no pattern.
        `id`: The element's id, as for `Tap`.
        `exact`: Whether `text` is the whole text, in this case.
        `timeout_ms`: How long to wait for it, in milliseconds; not at all when not given.

        Platforms: Android, iOS, web.
        """
        answer = await self._command("IsVisible", {"text": text, "id": id, "exact": exact, "timeoutMs": timeout_ms})
        value: bool = answer.get("visible", False)
        return value

    async def launch_app(self, package_id: str, *, mode: LaunchMode | None = None) -> None:
        """Starts an app.

        `package_id`: Package name or bundle id.
        `mode`: What becomes of the app's data and process; LAUNCH_MODE_REINSTALL when not given. One of
            `"reinstall"`, `"resume"`, `"force_restart"`.

        Platforms: Android, iOS.
        """
        mode_wire = f"LAUNCH_MODE_{mode.upper()}" if mode is not None else None
        await self._command("LaunchApp", {"packageId": package_id, "mode": mode_wire})

    async def tap(
        self, *, text: str | None = None, id: str | None = None, index: int | None = None, exact: bool | None = None
    ) -> None:
        """Taps an element once it is visible and still; on the web, clicks it.

        `text`: Part of what the element says, in any case; no pattern.
        `id`: The element's id: Android's resource id, in full or behind the last slash; iOS's accessibility
            identifier; on the web its `id` or `data-testid`.
        `index`: Which of the matches, from 0.
        `exact`: Whether `text` is the whole text, in this case.

        Platforms: Android, iOS, web.
        """
        await self._command("Tap", {"text": text, "id": id, "index": index, "exact": exact})

    async def wait_until_visible(
        self, *, text: str | None = None, id: str | None = None, exact: bool | None = None, timeout_ms: int | None = None
    ) -> None:
        """Expects an element to become visible in time.

        `text`: Part of what the element says, in any case; no pattern.
        `id`: The element's id, as for `Tap`.
        `exact`: Whether `text` is the whole text, in this case.
        `timeout_ms`: How long it may take, in milliseconds; 10000 when not given.

        Platforms: Android, iOS, web.
        """
        await self._command("WaitUntilVisible", {"text": text, "id": id, "exact": exact, "timeoutMs": timeout_ms})


class AsyncMobile(AsyncCommands):
    """Commands of `client.mobile`."""

    async def adb_shell(self, command: str) -> str:
        """Runs a command in the device's shell. One that ends with another exit code than 0 fails.

        `command`: The command line, for the device's shell.

        Platforms: Android.
        """
        answer = await self._command("AdbShell", {"command": command})
        value: str = answer.get("output", "")
        return value

    async def grant_permission(self, package_id: str, permission: str) -> None:
        """Grants an app a runtime permission.

        `package_id`: Package name.
        `permission`: `android.permission.CAMERA` ...

        Platforms: Android.
        """
        await self._command("GrantPermission", {"packageId": package_id, "permission": permission})

    async def pinch(self, scale: float) -> None:
        """Moves two fingers apart or together in the middle of the screen.

        `scale`: Above 1 zooms in, below 1 zooms out: 2 moves the fingers to twice their distance.

        Platforms: Android, iOS.
        """
        await self._command("Pinch", {"scale": scale})

    async def press_back(self) -> None:
        """Goes back.

        Platforms: Android, iOS.
        """
        await self._command("PressBack", {})

    async def press_home(self) -> None:
        """Goes to the home screen.

        Platforms: Android, iOS.
        """
        await self._command("PressHome", {})

    async def scroll(self, direction: Direction, *, amount: int | None = None) -> None:
        """Scrolls: down shows what lies below.

        `direction`: What to show: down for what lies below. One of `"up"`, `"down"`, `"left"`, `"right"`.
        `amount`: How many swipes; 1 when not given, at most 20.

        Platforms: Android, iOS.
        """
        direction_wire = f"DIRECTION_{direction.upper()}"
        await self._command("Scroll", {"direction": direction_wire, "amount": amount})

    async def swipe(self, direction: Direction, *, duration_ms: int | None = None) -> None:
        """Moves a finger across the screen: up shows what lies below.

        `direction`: Where the finger goes. One of `"up"`, `"down"`, `"left"`, `"right"`.
        `duration_ms`: How long it takes, in milliseconds; 400 when not given.

        Platforms: Android, iOS.
        """
        direction_wire = f"DIRECTION_{direction.upper()}"
        await self._command("Swipe", {"direction": direction_wire, "durationMs": duration_ms})


class AsyncWeb(AsyncCommands):
    """Commands of `client.web`."""

    async def click(self, selector: str) -> None:
        """Clicks an element once it is visible, still and not covered.

        `selector`: A CSS selector.

        Platforms: web.
        """
        await self._command("Click", {"selector": selector})

    async def evaluate_js(self, script: str) -> Any:
        """Runs JavaScript in the page.

        `script`: An expression; `(() => { ... })()` for statements.

        Platforms: web.
        """
        answer = await self._command("EvaluateJs", {"script": script})
        value: Any = answer.get("result")
        return value

    async def fill(self, selector: str, value: str) -> None:
        """Replaces what a field holds.

        `selector`: A CSS selector.
        `value`: The text; nothing empties the field.

        Platforms: web.
        """
        await self._command("Fill", {"selector": selector, "value": value})

    async def navigate(self, url: str) -> None:
        """Opens an address.

        `url`: The address; a relative one leads below the base URL.

        Platforms: web.
        """
        await self._command("Navigate", {"url": url})

    async def wait_for_selector(self, selector: str, *, timeout_ms: int | None = None) -> None:
        """Expects an element to become visible in time.

        `selector`: A CSS selector.
        `timeout_ms`: How long it may take, in milliseconds; 10000 when not given.

        Platforms: web.
        """
        await self._command("WaitForSelector", {"selector": selector, "timeoutMs": timeout_ms})


class SyncCore(SyncCommands):
    """Commands of the client itself."""

    def assert_visible(
        self, *, text: str | None = None, id: str | None = None, exact: bool | None = None, timeout_ms: int | None = None
    ) -> None:
        """Expects an element to be visible in time.

        `text`: Part of what the element says, in any case; no pattern.
        `id`: The element's id, as for `Tap`.
        `exact`: Whether `text` is the whole text, in this case.
        `timeout_ms`: How long it may take, in milliseconds; 5000 when not given.

        Platforms: Android, iOS, web.
        """
        self._command("AssertVisible", {"text": text, "id": id, "exact": exact, "timeoutMs": timeout_ms})

    def capture_screen(self) -> SyncScreen:
        """Takes a screenshot and a snapshot of the screen.

        Platforms: Android, iOS, web.
        """
        answer = self._command("CaptureScreen", {})
        return SyncScreen(
            self._session,
            width=answer.get("width", 0.0),
            height=answer.get("height", 0.0),
            text=answer.get("text", ""),
            screenshot_url=answer.get("screenshotUrl", ""),
            tree_url=answer.get("treeUrl", ""),
            location=answer.get("location"),
            title=answer.get("title"),
            truncated=answer.get("truncated", False),
        )

    def clear_app_data(self, package_id: str) -> None:
        """Deletes an app's data.

        `package_id`: Package name or bundle id.

        Platforms: Android, iOS.
        """
        self._command("ClearAppData", {"packageId": package_id})

    def get_element_count(self, *, text: str | None = None, id: str | None = None, exact: bool | None = None) -> int:
        """How many visible elements match.

        `text`: Part of what the elements say, in any case; no pattern.
        `id`: The elements' id, as for `Tap`.
        `exact`: Whether `text` is the whole text, in this case.

        Platforms: Android, iOS, web.
        """
        answer = self._command("GetElementCount", {"text": text, "id": id, "exact": exact})
        value: int = answer.get("count", 0)
        return value

    def get_element_text(self, id: str) -> str | None:
        """The text of the first visible element of an id, or nothing.

        `id`: The element's id, as for `Tap`.

        Platforms: Android, iOS, web.
        """
        answer = self._command("GetElementText", {"id": id})
        value: str | None = answer.get("text")
        return value

    def has_text(self, text: str) -> bool:
        """Whether the screen shows a text anywhere now, in any case.

        `text`: The text.

        Platforms: Android, iOS, web.
        """
        answer = self._command("HasText", {"text": text})
        value: bool = answer.get("found", False)
        return value

    def input_text(self, text: str) -> None:
        """Types into whatever has the focus.

        `text`: The text; any Unicode.

        Platforms: Android, iOS, web.
        """
        self._command("InputText", {"text": text})

    def is_visible(
        self, *, text: str | None = None, id: str | None = None, exact: bool | None = None, timeout_ms: int | None = None
    ) -> bool:
        """Whether an element is visible. Not being visible is no error.

        `text`: Part of what the element says, in any case; no pattern.
        `id`: The element's id, as for `Tap`.
        `exact`: Whether `text` is the whole text, in this case.
        `timeout_ms`: How long to wait for it, in milliseconds; not at all when not given.

        Platforms: Android, iOS, web.
        """
        answer = self._command("IsVisible", {"text": text, "id": id, "exact": exact, "timeoutMs": timeout_ms})
        value: bool = answer.get("visible", False)
        return value

    def launch_app(self, package_id: str, *, mode: LaunchMode | None = None) -> None:
        """Starts an app.

        `package_id`: Package name or bundle id.
        `mode`: What becomes of the app's data and process; LAUNCH_MODE_REINSTALL when not given. One of
            `"reinstall"`, `"resume"`, `"force_restart"`.

        Platforms: Android, iOS.
        """
        mode_wire = f"LAUNCH_MODE_{mode.upper()}" if mode is not None else None
        self._command("LaunchApp", {"packageId": package_id, "mode": mode_wire})

    def tap(
        self, *, text: str | None = None, id: str | None = None, index: int | None = None, exact: bool | None = None
    ) -> None:
        """Taps an element once it is visible and still; on the web, clicks it.

        `text`: Part of what the element says, in any case; no pattern.
        `id`: The element's id: Android's resource id, in full or behind the last slash; iOS's accessibility
            identifier; on the web its `id` or `data-testid`.
        `index`: Which of the matches, from 0.
        `exact`: Whether `text` is the whole text, in this case.

        Platforms: Android, iOS, web.
        """
        self._command("Tap", {"text": text, "id": id, "index": index, "exact": exact})

    def wait_until_visible(
        self, *, text: str | None = None, id: str | None = None, exact: bool | None = None, timeout_ms: int | None = None
    ) -> None:
        """Expects an element to become visible in time.

        `text`: Part of what the element says, in any case; no pattern.
        `id`: The element's id, as for `Tap`.
        `exact`: Whether `text` is the whole text, in this case.
        `timeout_ms`: How long it may take, in milliseconds; 10000 when not given.

        Platforms: Android, iOS, web.
        """
        self._command("WaitUntilVisible", {"text": text, "id": id, "exact": exact, "timeoutMs": timeout_ms})


class SyncMobile(SyncCommands):
    """Commands of `client.mobile`."""

    def adb_shell(self, command: str) -> str:
        """Runs a command in the device's shell. One that ends with another exit code than 0 fails.

        `command`: The command line, for the device's shell.

        Platforms: Android.
        """
        answer = self._command("AdbShell", {"command": command})
        value: str = answer.get("output", "")
        return value

    def grant_permission(self, package_id: str, permission: str) -> None:
        """Grants an app a runtime permission.

        `package_id`: Package name.
        `permission`: `android.permission.CAMERA` ...

        Platforms: Android.
        """
        self._command("GrantPermission", {"packageId": package_id, "permission": permission})

    def pinch(self, scale: float) -> None:
        """Moves two fingers apart or together in the middle of the screen.

        `scale`: Above 1 zooms in, below 1 zooms out: 2 moves the fingers to twice their distance.

        Platforms: Android, iOS.
        """
        self._command("Pinch", {"scale": scale})

    def press_back(self) -> None:
        """Goes back.

        Platforms: Android, iOS.
        """
        self._command("PressBack", {})

    def press_home(self) -> None:
        """Goes to the home screen.

        Platforms: Android, iOS.
        """
        self._command("PressHome", {})

    def scroll(self, direction: Direction, *, amount: int | None = None) -> None:
        """Scrolls: down shows what lies below.

        `direction`: What to show: down for what lies below. One of `"up"`, `"down"`, `"left"`, `"right"`.
        `amount`: How many swipes; 1 when not given, at most 20.

        Platforms: Android, iOS.
        """
        direction_wire = f"DIRECTION_{direction.upper()}"
        self._command("Scroll", {"direction": direction_wire, "amount": amount})

    def swipe(self, direction: Direction, *, duration_ms: int | None = None) -> None:
        """Moves a finger across the screen: up shows what lies below.

        `direction`: Where the finger goes. One of `"up"`, `"down"`, `"left"`, `"right"`.
        `duration_ms`: How long it takes, in milliseconds; 400 when not given.

        Platforms: Android, iOS.
        """
        direction_wire = f"DIRECTION_{direction.upper()}"
        self._command("Swipe", {"direction": direction_wire, "durationMs": duration_ms})


class SyncWeb(SyncCommands):
    """Commands of `client.web`."""

    def click(self, selector: str) -> None:
        """Clicks an element once it is visible, still and not covered.

        `selector`: A CSS selector.

        Platforms: web.
        """
        self._command("Click", {"selector": selector})

    def evaluate_js(self, script: str) -> Any:
        """Runs JavaScript in the page.

        `script`: An expression; `(() => { ... })()` for statements.

        Platforms: web.
        """
        answer = self._command("EvaluateJs", {"script": script})
        value: Any = answer.get("result")
        return value

    def fill(self, selector: str, value: str) -> None:
        """Replaces what a field holds.

        `selector`: A CSS selector.
        `value`: The text; nothing empties the field.

        Platforms: web.
        """
        self._command("Fill", {"selector": selector, "value": value})

    def navigate(self, url: str) -> None:
        """Opens an address.

        `url`: The address; a relative one leads below the base URL.

        Platforms: web.
        """
        self._command("Navigate", {"url": url})

    def wait_for_selector(self, selector: str, *, timeout_ms: int | None = None) -> None:
        """Expects an element to become visible in time.

        `selector`: A CSS selector.
        `timeout_ms`: How long it may take, in milliseconds; 10000 when not given.

        Platforms: web.
        """
        self._command("WaitForSelector", {"selector": selector, "timeoutMs": timeout_ms})
