"""An agent on the protocol's own Python SDK, version 1, which knows the older era only."""

import asyncio

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client

from turn import TARGET, turn


def connection():
    if "url" in TARGET:
        headers = {"Authorization": f"Bearer {TARGET['token']}"}
        return streamablehttp_client(TARGET["url"], headers=headers)
    return stdio_client(StdioServerParameters(**TARGET))


def plain(result):
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


async def main():
    async with connection() as (read, write, *_), ClientSession(read, write) as session:
        version = (await session.initialize()).protocolVersion
        tools = plain(await session.list_tools())["tools"]

        async def call(name, arguments):
            return plain(await session.call_tool(name, arguments))

        await turn(tools, version, call)


asyncio.run(main())
