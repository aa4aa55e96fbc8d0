"""The drivers, one class for each way into LedgerAgent. A new one is a class in this list."""

from __future__ import annotations

from importlib import import_module

from tests.conformance.drivers.base import Driver
from tests.conformance.drivers.frameworks import (
    OpenAIAgents,
    OpenAIAgentsStreamed,
    PydanticAI,
    PydanticAINodes,
    PydanticAIRunStream,
    PydanticAIStreamed,
)
from tests.conformance.drivers.gateway import (
    GatewayChat,
    GatewayChatStreamed,
    GatewayMessages,
    GatewayMessagesStreamed,
    GatewayResponses,
    GatewayResponsesStreamed,
)
from tests.conformance.drivers.langchain import (
    LangChain,
    LangChainRetried,
    LangChainStreamed,
    LangChainSync,
)
from tests.conformance.drivers.litellm import (
    LiteLLMChat,
    LiteLLMChatStreamed,
    LiteLLMMessages,
    LiteLLMMessagesStreamed,
    LiteLLMResponses,
    LiteLLMResponsesStreamed,
)
from tests.conformance.drivers.plain import AnthropicLoop, OpenAILoop
from tests.conformance.drivers.proxy import MCPProxy, MCPProxyHTTP

DRIVERS: tuple[type[Driver], ...] = (
    OpenAILoop,
    AnthropicLoop,
    LangChain,
    LangChainSync,
    LangChainStreamed,
    LangChainRetried,
    OpenAIAgents,
    OpenAIAgentsStreamed,
    PydanticAI,
    PydanticAIStreamed,
    PydanticAINodes,
    PydanticAIRunStream,
    MCPProxy,
    MCPProxyHTTP,
    GatewayChat,
    GatewayChatStreamed,
    GatewayMessages,
    GatewayMessagesStreamed,
    GatewayResponses,
    GatewayResponsesStreamed,
    LiteLLMChat,
    LiteLLMChatStreamed,
    LiteLLMMessages,
    LiteLLMMessagesStreamed,
    LiteLLMResponses,
    LiteLLMResponsesStreamed,
)


def unavailable(make: type[Driver]) -> str | None:
    """Why a driver cannot run here, None if it can."""
    for library in make.libraries:
        try:
            import_module(library)
        except ImportError:
            return f"{library} is not installed"
    return None


__all__ = ["DRIVERS", "Driver", "unavailable"]
