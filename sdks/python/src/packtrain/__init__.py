"""Tools of Packtrain in Python: a client for the device of a tool call, results, metadata, and a way to serve them."""

from ._client import SyncTools, SyncTrailblazeClient, Tools, TrailblazeClient
from ._context import Device, Platform, Target, TrailblazeContext
from ._errors import (
    CancelledError, CommandError, CommandFailedError, DeadlineError, DeviceUnavailableError,
    InvalidArgumentError, InvocationEndedError, NeedsDeviceError, ToolCallError, WrongPlatformError,
)  # fmt: skip
from ._generated import Direction, LaunchMode, Screen, SyncScreen
from ._memory import Memory
from ._results import delegate, error, fatal_error, missing_required_args, success
from ._serve import run
from ._tools import RegistryGroup, RegistryTool, registry_resource, tool_meta, trailblaze_tool
from ._wire import ToolCallResult

__all__ = [
    "CancelledError", "CommandError", "CommandFailedError", "DeadlineError", "Device", "DeviceUnavailableError",
    "Direction", "InvalidArgumentError", "InvocationEndedError", "LaunchMode", "Memory", "NeedsDeviceError",
    "Platform", "RegistryGroup", "RegistryTool", "Screen", "SyncScreen", "SyncTools", "SyncTrailblazeClient",
    "Target", "ToolCallError", "ToolCallResult", "Tools", "TrailblazeClient", "TrailblazeContext",
    "WrongPlatformError", "delegate", "error", "fatal_error", "missing_required_args", "registry_resource",
    "run", "success", "tool_meta", "trailblaze_tool",
]  # fmt: skip
__version__ = "0.1.0"
