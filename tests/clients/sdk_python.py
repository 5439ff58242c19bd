"""The Python SDK, which supports all protocol revisions.

Arguments: legacy|auto stdio PROGRAM ARGUMENT… | legacy|auto http URL
"""

import json
import sys
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters, types

STEPS = json.loads((Path(__file__).parent / "script.json").read_text())


async def answer(_context, _request):
    return types.ElicitResult(action="accept", content=STEPS["answer"])


def plain(result) -> dict:
    """The part of a result that is the same for all clients."""
    told = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {
        "content": told["content"],
        "structuredContent": told.get("structuredContent"),
        "isError": told.get("isError", False),
    }


async def main() -> None:
    mode, way, *target = sys.argv[1:]
    server = StdioServerParameters(command=target[0], args=target[1:]) if way == "stdio" else target[0]
    async with Client(server, mode=mode, elicitation_callback=answer) as client:
        told = {"tools": [tool.name for tool in (await client.list_tools()).tools], "calls": []}
        for step in STEPS["calls"]:
            result = await client.call_tool(step["tool"], step["arguments"])
            told["calls"].append(step | {"result": plain(result)})
        reports = []

        async def report(progress, total, message):
            reports.append({"progress": progress, "total": total, "message": message})

        await client.call_tool(STEPS["progress"], {}, progress_callback=report)
        told["progress"] = reports
    print(json.dumps(told))


anyio.run(main)
