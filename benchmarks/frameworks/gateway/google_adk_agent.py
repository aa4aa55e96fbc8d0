# /// script
# dependencies = ["google-adk==2.13.*", "litellm"]
# [tool.ledgeragent]
# wires = ["chat"]
# ///
"""Google ADK: `LlmAgent` over LiteLLM"""

from typing import Any

from _shop import KEY, POLICY, main, task
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import InMemoryRunner
from google.genai import types


async def talk(turns: list[str]) -> Any:
    """The text of the last event."""
    model = LiteLlm(model=f"openai/{task.model}", api_base=task.openai, api_key=KEY)
    agent = LlmAgent(name="clerk", model=model, instruction=POLICY, tools=list(task.tools))
    runner = InMemoryRunner(agent=agent, app_name="shop")
    session = await runner.session_service.create_session(app_name="shop", user_id="me")
    config = RunConfig(streaming_mode=StreamingMode.SSE if task.stream else StreamingMode.NONE)
    said = ""
    for text in turns:
        message = types.Content(role="user", parts=[types.Part(text=text)])
        async for event in runner.run_async(
            user_id="me", session_id=session.id, new_message=message, run_config=config
        ):
            parts = (event.content.parts if event.content else None) or []
            said = "".join(part.text for part in parts if part.text) or said
    return said


main(talk)
