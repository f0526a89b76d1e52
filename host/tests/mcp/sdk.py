"""Drives the built program with the Python MCP SDK, as a real client does.

Usage: sdk.py PROGRAM MODE SCENARIO, where MODE is `legacy` (initialize) or `auto` (2026-07-28).
"""

import os
import sys
import tempfile
from contextlib import asynccontextmanager

import anyio
import jsonschema
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import ElicitResult, Implementation

PROGRAM, MODE, SCENARIO = sys.argv[1:4]
DEADLINE = 60


class Person:
    """Answers every question with the next of the given answers, and keeps the questions."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.questions = []

    async def __call__(self, context, params):
        self.questions.append(params.message)
        return self.answers.pop(0)


def decide(decision, **more):
    return ElicitResult(action="accept", content={"decision": decision, **more})


@asynccontextmanager
async def connect(person=None, env=None, name="python-sdk"):
    with tempfile.TemporaryDirectory() as home:
        workspace = os.path.join(home, "workspace")
        os.mkdir(workspace)
        variables = {"HOME": home, "XDG_CONFIG_HOME": home, **(env or {})}
        server = StdioServerParameters(command=PROGRAM, args=["mcp"], env=variables, cwd=workspace)
        info = Implementation(name=name, version="1")
        async with Client(server, mode=MODE, elicitation_callback=person, client_info=info) as client:
            expected = "2025-11-25" if MODE == "legacy" else "2026-07-28"
            assert client.protocol_version == expected, client.protocol_version
            yield client


def text(result):
    return "\n".join(block.text for block in result.content if block.type == "text")


async def check(client, name, result):
    """Validates a result against the schema that its tool declares."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    jsonschema.validate(result.structured_content, tools[name].output_schema)
    return result.structured_content


async def listing():
    async with connect() as client:
        tools = (await client.list_tools()).tools
        names = [tool.name for tool in tools]
        assert "sleep" in names, names
        core = [bool((tool.meta or {}).get("anthropic/alwaysLoad")) for tool in tools]
        assert core == sorted(core, reverse=True), f"core tools first: {core}"
        for tool in tools:
            assert len(tool.description.encode()) <= 2048, tool.name
            assert tool.title and tool.annotations and tool.output_schema, tool.name
            jsonschema.validators.validator_for(tool.input_schema).check_schema(tool.input_schema)
        assert len(client.instructions.encode()) <= 2048
        assert [tool.name for tool in (await client.list_tools()).tools] == names
        sleep = next(tool for tool in tools if tool.name == "sleep")
        assert sleep.annotations.read_only_hint and not sleep.annotations.destructive_hint


async def calling():
    async with connect() as client:
        result = await client.call_tool("sleep", {"ms": 1})
        assert not result.is_error, text(result)
        structured = await check(client, "sleep", result)
        assert structured["endedBecause"] == "elapsed", structured
        result = await client.call_tool("sleep", {"ms": 0})
        assert result.is_error and "`ms`" in text(result), text(result)
        try:
            await client.call_tool("no_such_tool", {})
            raise AssertionError("an unknown tool was called")
        except MCPError as error:
            assert error.code == -32602, error


async def progress():
    async with connect(env={"TOOLHOST_MCP__PROGRESS_MS": "50"}) as client:
        ticks = []

        async def tick(value, total, message):
            ticks.append((value, message))

        await client.call_tool("sleep", {"ms": 1000}, progress_callback=tick)
        assert len(ticks) >= 3, ticks
        values = [value for value, _ in ticks]
        assert values == sorted(set(values)), ticks
        assert all("running for" in message for _, message in ticks), ticks


async def limit():
    async with connect(env={"TOOLHOST_MCP__WAIT_LIMIT_MS": "300"}) as client:
        begun = anyio.current_time()
        result = await client.call_tool("sleep", {"ms": 60_000})
        assert anyio.current_time() - begun < 30
        structured = await check(client, "sleep", result)
        assert structured["endedBecause"] == "limit", structured


async def cancelling():
    async with connect() as client:
        with anyio.move_on_after(0.5) as scope:
            await client.call_tool("sleep", {"ms": 60_000})
        assert scope.cancelled_caught
        result = await client.call_tool("sleep", {"ms": 1})
        assert not result.is_error
        begun = anyio.current_time()
    # The server ends at the end of its input, long before the client's patience.
    assert anyio.current_time() - begun < 1.5


SCENARIOS = {
    scenario.__name__: scenario for scenario in [listing, calling, progress, limit, cancelling]
}


async def main():
    with anyio.fail_after(DEADLINE):
        for name in SCENARIOS if SCENARIO == "all" else [SCENARIO]:
            print(f"{MODE}: {name}", flush=True)
            await SCENARIOS[name]()


anyio.run(main)
