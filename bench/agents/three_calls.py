# SPDX-License-Identifier: Apache-2.0
"""The Python SDK's way to an agent with three tool calls; see three_calls.mjs.  three_calls.py SERVER FOLDER"""
import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(server, folder):
    parameters = StdioServerParameters(command="node", args=[server, folder], cwd=folder)
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
        await session.initialize()

        async def call(name, path):
            return (await session.call_tool(name, {"path": path})).content[0].text

        await call("list_directory", "data")
        a = await call("read_text_file", "data/a.txt")
        b = await call("read_text_file", "data/b.txt")
        print(len(a) + len(b))


asyncio.run(main(*sys.argv[1:]))
