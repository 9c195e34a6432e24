"""The Python package `mcp` as a client: the same words and the same answer as client.mjs."""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters

ASKED = json.loads(sys.argv[1])


async def main() -> None:
    server = ASKED.get("url")
    if "command" in ASKED:
        command, *args = ASKED["command"]
        server = StdioServerParameters(command=command, args=args, env={**os.environ, **ASKED.get("env", {})})
    mode = "auto" if ASKED["era"] == "modern" else "legacy"
    tools, answers = [], []
    async with Client(server, mode=mode) as client:
        page = await client.list_tools()
        tools += [tool.name for tool in page.tools]
        while page.next_cursor is not None and len(tools) < 10_000:
            page = await client.list_tools(cursor=page.next_cursor)
            tools += [tool.name for tool in page.tools]
        for name, arguments in ASKED["calls"]:
            result = await client.call_tool(name, arguments)
            text = "\n".join(getattr(block, "text", block.type) for block in result.content)
            answers.append([bool(result.is_error), text])
        version = client.protocol_version
    print(json.dumps({"version": version, "tools": tools, "answers": answers}))


asyncio.run(main())
