"""Starts a server as Packtrain asks for it."""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, TextIO, cast


def run(mcp: Any, argv: Sequence[str] | None = None) -> None:
    """Runs a server of FastMCP 2, 3 or 4, or of mcp 1 or 2, until it is told to stop.

    Reads `--transport stdio|http`, `--port` and `--host`, and leaves other arguments alone. Over HTTP it listens on
    127.0.0.1, serves `/mcp` and refuses other Host headers. What tools print goes to standard error.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--transport", choices=("stdio", "http"), default="stdio")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--host", default="127.0.0.1")
    options, _ = parser.parse_known_args(argv)
    sys.stdout = cast(TextIO, _Stdout(sys.stdout, sys.stderr))
    try:
        if options.transport == "http":
            _serve_http(mcp, options.host, options.port)
        elif _is_fastmcp(mcp):
            mcp.run(transport="stdio", show_banner=False)
        else:
            mcp.run("stdio")
    except KeyboardInterrupt:
        pass


class _Stdout:
    """Gives the transport, which takes `buffer`, standard output, and everybody else standard error."""

    def __init__(self, stdout: TextIO, stderr: TextIO) -> None:
        self.buffer = stdout.buffer
        self._stderr = stderr

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stderr, name)


def _is_fastmcp(mcp: Any) -> bool:
    return any(base.__module__.split(".")[0] == "fastmcp" for base in type(mcp).__mro__)


def _serve_http(mcp: Any, host: str, port: int) -> None:
    import uvicorn
    from starlette.middleware.trustedhost import TrustedHostMiddleware

    from ._http_server import AcceptedHeads, ToolCallProtocol

    if _is_fastmcp(mcp):
        app = mcp.http_app(path="/mcp")
    elif hasattr(mcp.settings, "streamable_http_path"):  # mcp 1
        mcp.settings.streamable_http_path = "/mcp"
        # A line of its log for each request takes longer than the request.
        log = logging.getLogger("mcp.server.lowlevel.server")
        log.addFilter(lambda line: not str(line.msg).startswith("Processing request of type"))
        app = mcp.streamable_http_app()
    else:
        app = mcp.streamable_http_app(streamable_http_path="/mcp", host=host)
    heads = AcceptedHeads.of(app)
    guarded = TrustedHostMiddleware(app, allowed_hosts=["127.0.0.1", "localhost", host], www_redirect=False)
    protocol: Any = "auto" if heads is None else partial(ToolCallProtocol, heads)
    uvicorn.run(
        guarded, http=protocol, host=host, port=port,
        log_level="warning", access_log=False, timeout_graceful_shutdown=2,
    )  # fmt: skip
