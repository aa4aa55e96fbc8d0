# /// script
# dependencies = ["dspy==3.4.1"]
# [tool.ledgeragent]
# wires = ["chat"]
# streams = [false]
# turns = 1
# writes = "dspy"
# ///
"""DSPy: `ReAct`, whose calls are text"""

from typing import Any

import dspy
from _shop import KEY, main, task


async def talk(turns: list[str]) -> Any:
    """The answer of a ReAct program, which has one turn."""
    model = dspy.LM(f"openai/{task.model}", api_base=task.openai, api_key=KEY, cache=False)
    program = dspy.ReAct("question -> answer", tools=list(task.tools))
    (text,) = turns
    with dspy.context(lm=model):
        return program(question=text).answer


main(talk)
