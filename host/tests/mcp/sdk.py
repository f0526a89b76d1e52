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


async def session(client, action, **arguments):
    result = await client.call_tool("shell_session", {"action": action, **arguments})
    assert not result.is_error, text(result)
    return await check(client, "shell_session", result)


async def approving():
    person = Person(decide("once"))
    async with connect(person) as client:
        started = await session(client, "start", command="python3 -q", until={"text": ">>> "}, waitMs=30_000)
        assert started["state"] == "running" and started["reason"] == "text", started
        [question] = person.questions
        for part in ["Run interactive command", "python3 -q", "stays open", "workspace"]:
            assert part in question, question
        repl = started["id"]
        answer = await session(client, "write", id=repl, input="6*7\n", until={"text": "42"}, waitMs=30_000)
        assert "42" in answer["output"] and answer["reason"] == "text", answer
        killed = await session(client, "kill", id=repl)
        assert killed["survivors"] == [] and killed["state"] != "running", killed
        assert len(person.questions) == 1


async def approving_always():
    person = Person(decide("always"))
    async with connect(person) as client:
        for _ in range(2):
            started = await session(client, "start", command="cat")
            await session(client, "kill", id=started["id"])
        assert len(person.questions) == 1, person.questions


async def refusing():
    refusals = [
        ElicitResult(action="decline"),
        ElicitResult(action="cancel"),
        decide("reject"),
        decide("reject", feedback="use node instead"),
        ElicitResult(action="accept", content={}),
    ]
    person = Person(*refusals)
    async with connect(person) as client:
        for refusal in refusals:
            result = await client.call_tool(
                "shell_session", {"action": "start", "command": "touch started; sleep 1000"}
            )
            assert result.is_error and "nothing was done" in text(result), text(result)
            if refusal.content and refusal.content.get("feedback"):
                assert "use node instead" in text(result), text(result)
        assert len(person.questions) == len(refusals)
        assert (await session(client, "list"))["sessions"] == []
        # Only what is allowed afterwards sees whether something was done before.
        person.answers.append(decide("once"))
        listed = await session(client, "start", command="ls -A; echo end", until="exit", waitMs=30_000)
        assert "end" in listed["output"] and "started" not in listed["output"], listed


async def unable():
    async with connect() as client:
        result = await client.call_tool("shell_session", {"action": "start", "command": "cat"})
        assert result.is_error and "without_elicitation" in text(result), text(result)
        assert (await session(client, "list"))["sessions"] == []
    async with connect(env={"TOOLHOST_MCP__WITHOUT_ELICITATION": "allow"}) as client:
        started = await session(client, "start", command="cat")
        await session(client, "kill", id=started["id"])


async def refused(client, command, *parts):
    result = await client.call_tool("shell_session", {"action": "start", "command": command})
    assert result.is_error and "nothing was done" in text(result), text(result)
    for part in parts:
        assert part in text(result), text(result)


async def planning():
    person = Person()
    async with connect(person, env={"TOOLHOST_MODE": "plan"}) as client:
        for command in ["python3 -q", "touch started", "ls"]:
            await refused(client, command, "plan mode")
        assert (await session(client, "list"))["sessions"] == [] and person.questions == []


async def reading_only():
    person = Person(decide("once"))
    async with connect(person, env={"TOOLHOST_READ_ONLY": "true"}) as client:
        await refused(client, "touch started", "`readOnly`")
        assert person.questions == []
        listed = await session(client, "start", command="ls -A", until="exit", waitMs=30_000)
        assert "started" not in listed["output"], listed
        assert len(person.questions) == 1, person.questions


async def being_smart():
    person = Person(decide("once"))
    async with connect(person, env={"TOOLHOST_MODE": "smart"}) as client:
        await refused(client, "rm -rf ~", "smart mode refuses it")
        listed = await session(client, "start", command="ls -A", until="exit", waitMs=30_000)
        assert listed["exitCode"] == 0 and person.questions == [], listed
        started = await session(client, "start", command="python3 -q", until={"text": ">>> "}, waitMs=30_000)
        await session(client, "kill", id=started["id"])
        assert len(person.questions) == 1, person.questions


async def switched_off():
    async with connect(env={"TOOLHOST_TOOLS__SHELL": "false"}) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert "sleep" in names and "shell_session" not in names, names


async def cancelling_a_read():
    async with connect(Person(decide("once"))) as client:
        cat = (await session(client, "start", command="cat"))["id"]
        with anyio.move_on_after(0.5) as scope:
            await session(client, "read", id=cat, waitMs=60_000, until="exit")
        assert scope.cancelled_caught
        [listed] = (await session(client, "list"))["sessions"]
        assert listed["id"] == cat and listed["state"] == "running", listed
        answer = await session(client, "write", id=cat, input="still here\n", until={"text": "still"}, waitMs=30_000)
        assert "still here" in answer["output"], answer


async def giving_a_secret():
    secret = ElicitResult(action="accept", content={"secret": "hunter2"})
    person = Person(decide("once"), secret)
    asks = """bash -c 'read -rsp "Password: " word; echo; echo "it has ${#word} characters"'"""
    async with connect(person) as client:
        started = await session(client, "start", command=asks, until={"text": "Password:"}, waitMs=30_000)
        answer = await session(client, "read", id=started["id"], until="exit", waitMs=30_000)
        while answer["state"] == "running":
            answer = await session(client, "read", id=started["id"], until="exit", waitMs=30_000)
        assert "it has 7 characters" in answer["output"], answer
        assert "hunter2" not in str(answer)
        assert len(person.questions) == 2 and "Password:" in person.questions[1], person.questions


async def leaving():
    async with connect(Person(decide("once"))) as client:
        command = "echo \"pid=$$\"; exec sleep 1000"
        started = await session(client, "start", command=command, until={"text": "pid="}, waitMs=30_000)
        pid = int(started["output"].split("pid=")[1].split()[0])
        os.kill(pid, 0)
        begun = anyio.current_time()
    assert anyio.current_time() - begun < 2
    try:
        os.kill(pid, 0)
        raise AssertionError("the command outlived its client")
    except ProcessLookupError:
        pass


SCENARIOS = {
    scenario.__name__: scenario
    for scenario in [
        listing,
        calling,
        progress,
        limit,
        cancelling,
        approving,
        approving_always,
        refusing,
        unable,
        planning,
        reading_only,
        being_smart,
        switched_off,
        cancelling_a_read,
        giving_a_secret,
        leaving,
    ]
}


async def main():
    with anyio.fail_after(DEADLINE):
        for name in SCENARIOS if SCENARIO == "all" else [SCENARIO]:
            print(f"{MODE}: {name}", flush=True)
            await SCENARIOS[name]()


anyio.run(main)
