"""What a call is for, as `_meta.trailblaze` of a `tools/call` says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, cast

from ._errors import NeedsDeviceError

Platform = Literal["android", "ios", "web"]


@dataclass(frozen=True)
class Device:
    """The device a call works on. Sizes are in pixels."""

    platform: Platform
    width_pixels: float
    height_pixels: float
    driver_type: str
    id: str | None = None
    instance_id: str | None = None


@dataclass(frozen=True)
class Target:
    """The app under test."""

    id: str
    app_ids: list[str]
    app_id: str | None = None
    display_name: str | None = None
    base_urls: list[str] | None = None
    resolved_base_url: str | None = None


@dataclass(frozen=True)
class TrailblazeContext:
    """What a call is for. `memory` is what the trail remembered when the call began."""

    session_id: str
    invocation_id: str
    device: Device
    base_url: str | None = None
    target: Target | None = None
    memory: dict[str, str] = field(default_factory=dict)

    @staticmethod
    def from_meta(meta: Mapping[str, Any] | None) -> TrailblazeContext | None:
        """Reads the `_meta` of a call; None when it is of no session."""
        envelope = _mapping((meta or {}).get("trailblaze"))
        device = _device(_mapping(envelope.get("device")))
        session, invocation = _text(envelope, "sessionId"), _text(envelope, "invocationId")
        if session is None or invocation is None or device is None:
            return None
        memory = _mapping(envelope.get("memory"))
        return TrailblazeContext(
            session_id=session,
            invocation_id=invocation,
            device=device,
            base_url=_text(envelope, "baseUrl"),
            target=_target(_mapping(envelope.get("target"))),
            memory={k: v for k, v in memory.items() if isinstance(v, str)},
        )

    @staticmethod
    def from_context(ctx: Any) -> TrailblazeContext | None:
        """Reads the context object of FastMCP 2, 3 and 4, or of mcp 1 and 2."""
        return TrailblazeContext.from_meta(_meta_of(ctx))


T = TypeVar("T")


def needs_device(found: T | None) -> T:
    """What was found of a session, or an error that says why there is none."""
    if found is None:
        raise NeedsDeviceError(
            "needs a device: the tool was called outside of a Packtrain session. "
            "Call it in a trail, or with `packtrain tool NAME -d DEVICE`",
            code="failed_precondition",
        )
    return found


def _meta_of(ctx: Any) -> Mapping[str, Any]:
    try:
        request = ctx.request_context
    except (ValueError, RuntimeError):  # how mcp and FastMCP say that there is no request
        return {}
    meta = getattr(request, "meta", None)
    if isinstance(meta, Mapping):  # mcp 2, FastMCP 4
        return meta
    return _mapping(getattr(meta, "model_extra", None))  # mcp 1, FastMCP 2 and 3


def _device(device: Mapping[str, Any]) -> Device | None:
    platform, driver = device.get("platform"), _text(device, "driverType")
    width, height = _number(device, "widthPixels"), _number(device, "heightPixels")
    if platform not in ("android", "ios", "web") or driver is None or width is None or height is None:
        return None
    id, instance = _text(device, "id"), _text(device, "instanceId")
    return Device(cast(Platform, platform), width, height, driver, id or instance, instance or id)


def _target(target: Mapping[str, Any]) -> Target | None:
    id, app_ids = _text(target, "id"), _texts(target, "appIds")
    if id is None or app_ids is None:
        return None
    return Target(
        id=id,
        app_ids=app_ids,
        app_id=_text(target, "appId"),
        display_name=_text(target, "displayName"),
        base_urls=_texts(target, "baseUrls"),
        resolved_base_url=_text(target, "resolvedBaseUrl"),
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(of: Mapping[str, Any], key: str) -> str | None:
    value = of.get(key)
    return value if isinstance(value, str) else None


def _texts(of: Mapping[str, Any], key: str) -> list[str] | None:
    value = of.get(key)
    return value if isinstance(value, list) and all(isinstance(item, str) for item in value) else None


def _number(of: Mapping[str, Any], key: str) -> float | None:
    value = of.get(key)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None
