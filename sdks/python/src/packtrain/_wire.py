"""Requests and answers of commands and callbacks. Knows no sockets."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn
from urllib.parse import urljoin, urlsplit

from ._context import TrailblazeContext
from ._errors import (
    CommandError,
    DeadlineError,
    DeviceUnavailableError,
    InvocationEndedError,
    ToolCallError,
    error_of_code,
)

_TIMEOUT_MS = os.environ.get("TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS", "")
REQUEST_TIMEOUT = ((int(_TIMEOUT_MS) if _TIMEOUT_MS.isdecimal() else 0) or 122_000) / 1000
"""How long an answer may take, in seconds."""

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))

MAX_HEAD = 64 * 1024
MAX_BODY = 64 * 1024 * 1024


class WireError(Exception):
    """The peer does not speak HTTP as we do, or says too much."""


@dataclass(frozen=True)
class Address:
    """Where a base URL leads."""

    host: str
    port: int
    host_header: str
    path: str


@dataclass(frozen=True)
class Request:
    """A request. `name` is the command or the tool, for errors."""

    name: str
    address: Address
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True)
class Response:
    """An answer."""

    status: int
    body: bytes


@dataclass(frozen=True)
class ToolCallResult:
    """What a tool answered that was called by name."""

    text_content: str | None = None
    structured_content: Any = None
    success: bool = True

    @property
    def value(self) -> Any:
        """The structured content, or else the text."""
        return self.text_content if self.structured_content is None else self.structured_content


@lru_cache(maxsize=64)
def address_of(base_url: str) -> Address:
    """Parses a base URL."""
    url = urlsplit(base_url)
    if url.scheme != "http" or not url.hostname:
        raise ValueError(f"`{base_url}` is not an http:// URL")
    return Address(url.hostname, url.port or 80, url.netloc.rpartition("@")[2], url.path.rstrip("/"))


def _base_url(context: TrailblazeContext) -> str:
    base_url = context.base_url
    if base_url is None:
        raise DeviceUnavailableError("this session takes no callbacks: it has no `baseUrl`", code="unavailable")
    return base_url


def dump(value: Any) -> str:
    """JSON without spaces."""
    return _ENCODER.encode(value)


def command_request(context: TrailblazeContext, method: str, arguments: Mapping[str, Any]) -> Request:
    """A typed command. Arguments that are None were not given."""
    address = address_of(_base_url(context))
    body = {name: value for name, value in arguments.items() if value is not None}
    headers = {
        "content-type": "application/json",
        "connect-protocol-version": "1",
        "authorization": f"Bearer {context.invocation_id}",
    }
    path = f"{address.path}/packtrain.v1.Commands/{method}"
    return Request(method, address, "POST", path, headers, dump(body).encode())


def command_answer(request: Request, response: Response) -> dict[str, Any]:
    """The message of an answer, or the error it tells."""
    body = _json(response)
    if response.status == 200:
        if isinstance(body, dict):
            return body
    elif isinstance(body, dict) and isinstance(code := body.get("code"), str):
        message = body.get("message")
        raise error_of_code(code, message if message else f"{request.name}: {code}", request.name)
    _unexpected(request, response)


def fetch_request(context: TrailblazeContext, name: str, url: str) -> Request:
    """A screenshot or a tree. It is always asked of the base URL's server: nobody else gets the credential."""
    base_url = _base_url(context)
    target = urlsplit(urljoin(base_url + "/", url))
    path = target.path + (f"?{target.query}" if target.query else "")
    return Request(name, address_of(base_url), "GET", path, {"authorization": f"Bearer {context.invocation_id}"})


def fetch_answer(request: Request, response: Response) -> bytes:
    """The bytes of an answer, or the error it tells."""
    if response.status != 200:
        command_answer(request, response)
        _unexpected(request, response)
    return response.body


def tool_request(context: TrailblazeContext, tool: str, arguments: Mapping[str, Any]) -> Request:
    """A call of a tool by name."""
    address = address_of(_base_url(context))
    body = {
        "version": 1,
        "session_id": context.session_id,
        "invocation_id": context.invocation_id,
        "action": {"type": "call_tool", "tool_name": tool, "arguments_json": dump(arguments)},
    }
    headers = {"content-type": "application/json"}
    return Request(tool, address, "POST", f"{address.path}/scripting/callback", headers, dump(body).encode())


def tool_answer(request: Request, response: Response) -> ToolCallResult:
    """The result of a called tool, or the error it tells."""
    body = _json(response)
    result = body.get("result") if isinstance(body, dict) else None
    if response.status != 200 or not isinstance(result, dict):
        _unexpected(request, response)
    if result.get("type") == "error":
        message = str(result.get("message") or f"`{request.name}` was refused without a message")
        if "not found or no longer in flight" in message:
            raise InvocationEndedError(message, code="unauthenticated", command=request.name)
        raise CommandError(message, command=request.name)
    if not result.get("success"):
        message = result.get("error_message") or f"`{request.name}` failed without a message"
        raise ToolCallError(message, tool=request.name)
    return ToolCallResult(result.get("text_content"), result.get("structured_content"))


def not_answered(request: Request, cause: Exception) -> CommandError:
    """The error of a request that got no answer."""
    where = f"http://{request.address.host_header}"
    if isinstance(cause, TimeoutError):
        return DeadlineError(
            f"{request.name}: no answer from {where} within {REQUEST_TIMEOUT:g} s",
            code="deadline_exceeded",
            command=request.name,
        )
    if isinstance(cause, OSError):
        return DeviceUnavailableError(
            f"{request.name}: could not reach {where} ({cause}): the run has probably ended",
            code="unavailable",
            command=request.name,
        )
    return CommandError(f"{request.name}: {cause}", command=request.name)


def _json(response: Response) -> Any:
    try:
        return json.loads(response.body)
    except ValueError:
        return None


def _unexpected(request: Request, response: Response) -> NoReturn:
    text = response.body[:1000].decode("utf-8", "replace")[:200]
    raise CommandError(f"{request.name}: HTTP {response.status}: {text}", command=request.name)
