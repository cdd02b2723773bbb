"""A client of the newer protocol, for the Python of mcp 2: calls tools, and cancels one when a line arrives."""

from __future__ import annotations

import json
import sys
from typing import Any

import anyio
from mcp import Client


async def main(url: str, meta: Any) -> None:
    async with Client(url, mode="2026-07-28") as client:
        results = []
        for name, args in (
            ("acme_remember", {"n": 1}),
            ("acme_blocking", {}),
            ("acme_result", {"kind": "fatal_error"}),
        ):
            result = await client.call_tool(name, args, meta=meta)
            told = (result.meta or {}).get("trailblaze")
            results.append([result.content[0].text, result.structured_content, result.is_error, told])
        async with anyio.create_task_group() as group:

            async def held() -> None:
                await client.call_tool("acme_held", {}, meta=meta)

            group.start_soon(held)
            await anyio.to_thread.run_sync(sys.stdin.readline)
            group.cancel_scope.cancel()
        print(json.dumps(results), flush=True)
        await anyio.to_thread.run_sync(sys.stdin.readline)


anyio.run(main, sys.argv[1], json.loads(sys.argv[2]))
