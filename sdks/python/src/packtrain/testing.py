"""Tests of tools without a device: a context that records what a tool asks for and answers from stubs.

    mock = MockTrailblaze("android")
    mock.stub("is_visible", True)
    await acme_sign_in("ada@example.com", mock.ctx)
    assert mock.names == ["is_visible", "input_text"]

The pytest plugin has it as the fixture `mock_trailblaze`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import uuid4

from ._client import SyncTrailblazeClient, TrailblazeClient
from ._context import Device, Platform, Target, TrailblazeContext
from ._generated import METHODS, RETURNS
from ._memory import Memory, use_memory
from ._session import Session
from ._wire import Request, Response, dump

__all__ = ["Call", "MockContext", "MockTrailblaze"]


@dataclass(frozen=True)
class Call:
    """A call that was made. A command has the name of its method, `"input_text"`, and arguments as on the wire."""

    kind: Literal["command", "tool"]
    name: str
    args: dict[str, Any]


class MockTrailblaze:
    """A device that is not there. `ctx` is what tools get as their context."""

    def __init__(
        self,
        platform: Platform = "android",
        *,
        memory: Mapping[str, str] | None = None,
        target: Target | None = None,
    ) -> None:
        device = Device(platform, 1080, 2400, "mock", "mock-1", "mock-1")
        self.context = TrailblazeContext(
            "mock-session", str(uuid4()), device, "http://mock.invalid", target, dict(memory or {})
        )
        """What the call is for."""
        self.memory = Memory(self.context.memory)
        """What the trail remembers; `memory.changes()` is what the tool changed."""
        self.calls: list[Call] = []
        """What was called, in order."""
        self.files: dict[str, bytes] = {"screenshot": b"", "tree": b"{}"}
        """What `screenshot()` and `tree()` of a screen fetch."""
        self.ctx = MockContext(self)
        """The context: pass it to a tool, or to `from_context`."""
        self._stubs: dict[str, list[Any]] = {}

    @property
    def client(self) -> TrailblazeClient:
        """A client, as `from_context` returns it."""
        return TrailblazeClient.from_context(self.ctx)

    @property
    def sync_client(self) -> SyncTrailblazeClient:
        """A blocking client, as `from_context` returns it."""
        return SyncTrailblazeClient.from_context(self.ctx)

    @property
    def names(self) -> list[str]:
        """The names of what was called, in order."""
        return [call.name for call in self.calls]

    def stub(self, name: str, *answers: Any) -> None:
        """Answers a command (`"is_visible"`) or tool (`"findMatches"`), in order; the last one stays.

        An exception is raised, a function is called with the arguments. Without a stub a command returns what an
        empty message does: False, 0, `""` or None.
        """
        if not answers:
            raise ValueError(f"stub of `{name}` needs an answer")
        self._stubs[name] = list(answers)

    def reset(self) -> None:
        """Forgets calls and stubs."""
        self.calls.clear()
        self._stubs.clear()

    def respond(self, request: Request) -> Response:
        """What the wire would answer: the mock speaks it, so that tests use the client as it is."""
        if request.method == "GET":
            return Response(200, self.files[request.name])
        body = json.loads(request.body)
        if request.path.endswith("/scripting/callback"):
            answer = self._answer("tool", request.name, json.loads(body["action"]["arguments_json"]))
            content = {"text_content": answer} if isinstance(answer, str) else {"structured_content": answer}
            return _json({"result": {"type": "call_tool_result", "success": True, **content}})
        answer = self._answer("command", _NAMES[request.name], body)
        returns = RETURNS[request.name]
        if answer is None or returns == "nothing":
            return _json({})
        return _json(answer if returns == "message" else {returns: answer})

    def _answer(self, kind: Literal["command", "tool"], name: str, args: dict[str, Any]) -> Any:
        self.calls.append(Call(kind, name, args))
        stubs = self._stubs.get(name, [None])
        answer = stubs.pop(0) if len(stubs) > 1 else stubs[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer(**args) if callable(answer) else answer


class MockContext:
    """What a framework would pass to a tool as its context."""

    request_context = None

    def __init__(self, mock: MockTrailblaze) -> None:
        self._mock = mock

    def packtrain_session(self) -> Session:
        """The session that `from_context` takes."""
        return _MockSession(self._mock)


class _MockSession(Session):
    def __init__(self, mock: MockTrailblaze) -> None:
        super().__init__(mock.context, use_memory(mock.context.invocation_id, mock.memory))
        self._mock = mock

    async def send(self, request: Request) -> Response:
        return self._mock.respond(request)

    def send_blocking(self, request: Request) -> Response:
        return self._mock.respond(request)


_NAMES = {method: name for name, method in METHODS.items()}


def _json(body: Any) -> Response:
    return Response(200, dump(body).encode())
