"""Drives `conclave mcp` with the Python SDK of the protocol, in both of its eras.

    python clients.py CONCLAVE

The environment names the providers; the settings ask about every cost.
"""
import asyncio
import os
import re
import sys

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import ElicitResult

TOOLS = ["consult", "consultation", "history_search", "models", "exit_check"]
QUESTION = {"question": "OAuth or JWT?"}


async def drive(era, action):
    seen, asked = [], []

    async def progress(steps, _, message):
        seen.append((steps, message))

    async def person(_, request):
        asked.append(request.message)
        return ElicitResult(action=action, content={} if action == "accept" else None)

    server = StdioServerParameters(command=sys.argv[1], args=["mcp"], env=dict(os.environ))
    async with Client(stdio_client(server), mode=era, elicitation_callback=person) as client:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == TOOLS, listed
        called = await client.call_tool("consult", QUESTION, progress_callback=progress)
        assert len(asked) == 1 and "$" in asked[0], asked
        if action != "accept":
            assert called.is_error and "max_cost" in called.content[0].text, called
            return
        view = called.structured_content
        assert view["status"] == "complete" and view["recommendation"] and view["cost_usd"] > 0, view
        # How far the panel is when the first sign leaves depends on the machine.
        steps = [step for step, _ in seen]
        rounds = [message[:7] for _, message in seen if message != "Preparing"]
        assert steps and steps == sorted(set(steps)), seen
        assert rounds == sorted(rounds) and set(rounds) <= {f"Round {it}" for it in range(1, 5)}, seen
        assert any(re.fullmatch(r"Round \d: \d of \d answered", message) for _, message in seen), seen
        found = (await client.call_tool("history_search", {"query": "JWT"})).structured_content
        assert view["id"] in [it["id"] for it in found["consultations"]], found
        again = (await client.call_tool("consultation", {"id": view["id"]})).structured_content
        assert again == view, again
        uri = f"conclave://consultation/{view['id']}"
        report = (await client.read_resource(uri)).contents[0].text
        assert QUESTION["question"] in report, report


for era in ("legacy", "auto"):
    for action in ("accept", "decline", "cancel"):
        asyncio.run(drive(era, action))
        print(era, action)
