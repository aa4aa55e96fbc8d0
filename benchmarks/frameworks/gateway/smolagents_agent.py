# /// script
# dependencies = ["smolagents[openai]==1.26.*"]
# [tool.ledgeragent]
# wires = ["chat"]
# ///
"""smolagents: `ToolCallingAgent`"""

from collections.abc import Callable
from typing import Any

from _shop import KEY, POLICY, main, schema, task
from smolagents import OpenAIModel, Tool, ToolCallingAgent


def as_tool(function: Callable[..., Any]) -> Tool:
    """A tool of the shop as smolagents declares them."""

    def forward(self: Any, **arguments: Any) -> Any:
        return function(**arguments)

    properties = schema(function)["properties"]
    declared = {
        "name": function.__name__,
        "description": function.__doc__,
        "inputs": {key: {**value, "description": key} for key, value in properties.items()},
        "output_type": "object" if task.dicts else "string",
        "skip_forward_signature_validation": True,
        "forward": forward,
    }
    return type("ShopTool", (Tool,), declared)()


async def talk(turns: list[str]) -> Any:
    """The last final answer."""
    agent = ToolCallingAgent(
        tools=list(map(as_tool, task.tools)),
        model=OpenAIModel(model_id=task.model, api_base=task.openai, api_key=KEY),
        instructions=POLICY,
        stream_outputs=task.stream,
        max_steps=8,
        verbosity_level=0,
    )
    said: Any = None
    for text in turns:
        said = agent.run(text, reset=False)
    return said


main(talk)
