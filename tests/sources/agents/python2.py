"""An agent on the protocol's own Python SDK, version 2, in either era."""

import asyncio

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from turn import ERA, TARGET, turn

MODES = {"legacy": "legacy", "auto": "auto", "modern": "2026-07-28"}


def plain(result):
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


async def speak(server):
    async with Client(server, mode=MODES[ERA]) as client:
        tools = plain(await client.list_tools())["tools"]

        async def call(name, arguments):
            return plain(await client.call_tool(name, arguments))

        await turn(tools, client.protocol_version, call)


async def main():
    if "url" in TARGET:
        headers = {"Authorization": f"Bearer {TARGET['token']}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            await speak(streamable_http_client(TARGET["url"], http_client=http))
    else:
        await speak(StdioServerParameters(**TARGET))


asyncio.run(main())
