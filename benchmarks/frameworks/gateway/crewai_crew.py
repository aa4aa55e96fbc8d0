# /// script
# dependencies = ["crewai==1.15.30"]
# [tool.ledgeragent]
# wires = ["chat"]
# turns = 1
# ///
"""CrewAI: a crew of one `Agent`"""

from typing import Any

from _shop import KEY, POLICY, main, task
from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool as crew_tool


async def talk(turns: list[str]) -> Any:
    """What the crew's one task ends with: a crew has no conversation, so there is one turn."""
    llm = LLM(model=f"openai/{task.model}", base_url=task.openai, api_key=KEY, stream=task.stream)
    clerk = Agent(
        role="Clerk",
        goal=POLICY,
        backstory="You know every order.",
        llm=llm,
        tools=[crew_tool(tool.__name__)(tool) for tool in task.tools],
    )
    (text,) = turns
    job = Task(description=text, expected_output="What was done.", agent=clerk)
    return (await Crew(agents=[clerk], tasks=[job]).kickoff_async()).raw


main(talk)
