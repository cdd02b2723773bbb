"""Every case of sdks/fixtures, with the asynchronous and the blocking client."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from orchestrator import compact, orchestrator

import packtrain
from packtrain import CommandError, SyncTrailblazeClient, TrailblazeClient, TrailblazeContext
from packtrain._generated import METHODS

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
NAMES = {method: name for name, method in METHODS.items()}


def cases(file: str) -> pytest.MarkDecorator:
    found = json.loads((FIXTURES / file).read_text("utf-8"))
    return pytest.mark.parametrize("case", found, ids=[case["name"] for case in found])


both = pytest.mark.parametrize("client_class", [TrailblazeClient, SyncTrailblazeClient])


def camel(value: Any) -> Any:
    """A dataclass as the fixtures write it: keys in camelCase, no keys without a value."""
    if hasattr(value, "__dataclass_fields__"):
        fields = {name: getattr(value, name) for name in value.__dataclass_fields__ if not name.startswith("_")}
        words = {re.sub("_([a-z])", lambda m: m[1].upper(), name): camel(v) for name, v in fields.items()}
        return {name: v for name, v in words.items() if v is not None}
    return value


def outcome(call: Callable[[], Any]) -> tuple[Any, CommandError | None]:
    async def awaited() -> Any:
        return await value

    try:
        value = call()
        return (asyncio.run(awaited()) if inspect.isawaitable(value) else value), None
    except CommandError as error:
        return None, error


def check_error(error: CommandError | None, expected: dict[str, Any]) -> None:
    assert error is not None
    told = {"class": type(error).__name__, "code": error.code, "command": error.command, "message": str(error)}
    assert told == {key: expected[key] for key in told}
    assert isinstance(error, CommandError)


@cases("context.json")
def test_context(case: dict[str, Any]) -> None:
    context = TrailblazeContext.from_meta(case["meta"])
    assert camel(context) == case["context"]


@both
@cases("commands.json")
def test_command(case: dict[str, Any], client_class: Any) -> None:
    name = NAMES[case["method"]]
    arguments = {re.sub("(?=[A-Z])", "_", key).lower(): value for key, value in case["arguments"].items()}
    with orchestrator(lambda _: (case["response"]["status"], case["response"]["body"])) as far:
        client = client_class.from_meta(far.meta())
        [owner] = [group for group in (client, client.mobile, client.web) if hasattr(group, name)]
        value, error = outcome(lambda: getattr(owner, name)(**arguments))
    [received] = far.received
    assert received.path == f"/packtrain.v1.Commands/{case['method']}"
    assert received.body == case["request"]
    assert received.headers["authorization"] == "Bearer invocation-1"
    assert received.headers["connect-protocol-version"] == "1"
    assert received.headers["content-type"] == "application/json"
    if "error" in case:
        check_error(error, case["error"])
    else:
        assert error is None
        value = camel(value)
        if isinstance(value, dict) and "screenshotUrl" in value:
            value = {key: v for key, v in value.items() if v is not False}
        assert value == case["returns"]


def test_every_command_and_every_error_class_has_a_case() -> None:
    commands = json.loads((FIXTURES / "commands.json").read_text("utf-8"))
    assert {case["method"] for case in commands} == set(METHODS.values())
    classes = {case["error"]["class"] for case in commands if "error" in case} | {"ToolCallError", "NeedsDeviceError"}
    assert classes == {name for name in packtrain.__all__ if name.endswith("Error")}


@both
@cases("callTool.json")
def test_call_tool(case: dict[str, Any], client_class: Any) -> None:
    with orchestrator(lambda _: (case["response"]["status"], case["response"]["body"])) as far:
        client = client_class.from_meta(far.meta())
        result, error = outcome(lambda: client.call_tool(case["tool"], case["arguments"]))
        value, again = outcome(lambda: getattr(client.tools, case["tool"])(**case["arguments"]))
    for received in far.received:
        body = received.body
        inner = body["action"].pop("arguments_json")
        expected = json.loads(json.dumps(case["request"]))
        assert inner.encode() == compact(json.loads(expected["action"].pop("arguments_json")))
        assert json.loads(inner) == case["arguments"]
        assert (received.path, body) == ("/scripting/callback", expected)
    assert len(far.received) == 2
    if "error" in case:
        check_error(error, case["error"])
        check_error(again, case["error"])
        assert getattr(error, "tool", None) == case["error"].get("tool")
    else:
        assert (error, again) == (None, None)
        returns = case["returns"]
        assert result.success is returns["success"]
        assert result.text_content == returns.get("text_content")
        assert result.structured_content == returns.get("structured_content")
        assert value == case["value"]


def snake(name: str) -> str:
    return re.sub("(?=[A-Z])", "_", name).lower()


def wire(result: Any) -> dict[str, Any]:
    written: dict[str, Any] = result.model_dump(by_alias=True, exclude_none=True, mode="json")
    if not written.get("isError"):
        written.pop("isError", None)
    return written


@cases("results.json")
def test_result(case: dict[str, Any]) -> None:
    result = wire(getattr(packtrain, snake(case["helper"]))(*case["arguments"]))
    structured = result.get("structuredContent")
    assert (structured is None) == (case["result"].get("structuredContent") is None)
    assert result == case["result"]


@cases("memory.json")
def test_memory(case: dict[str, Any]) -> None:
    async def tool() -> Any:  # a call of its own, as a server's
        client = TrailblazeClient.from_meta(fake_meta(case["start"]))
        for name, *arguments in case["operations"]:
            writes = name in ("set", "delete")
            expected = [] if writes else [arguments.pop()]
            value = getattr(client.memory, name)(*arguments)
            assert [value] == expected or writes
        return packtrain.success("done")

    assert wire(asyncio.run(tool())).get("_meta") == case["meta"]


def fake_meta(memory: dict[str, str]) -> dict[str, Any]:
    device = {"platform": "web", "widthPixels": 1, "heightPixels": 1, "driverType": "none"}
    return {"trailblaze": {"sessionId": "s", "invocationId": "i", "device": device, "memory": memory}}
