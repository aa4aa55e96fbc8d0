"""What the gateway takes and gives, as OpenAPI: the parts of each format that it reads itself.

Everything else in a request goes upstream as it is, and whatever upstream says of it comes back.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

_SESSION = {
    "name": "x-ledgeragent-session",
    "in": "header",
    "description": "Name of the conversation, for clients that leave out its beginning.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
}
_VERDICT = {
    "description": "Every verdict in order, e.g. get_order=ALLOW,cancel_order=REVISE. In a stream "
    "it is a comment before the end.",
    "schema": {"type": "string"},
}
_PROBLEMS = {
    "400": "The request cannot be judged; the message names the field.",
    "401": "The key is not one of this gateway's.",
    "409": "Another request of the same session was answered in the meantime.",
    "413": "The request is too large.",
    "502": "The upstream failed, or its reply cannot be judged.",
    "503": "The gateway is at its limit, or cannot reach its session store.",
    "504": "The upstream did not answer in time.",
}
_ANY_OBJECT: Schema = {"type": "object"}


def _list_of(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def _tool(**properties: Schema) -> Schema:
    return {"type": "object", "required": list(properties), "properties": properties}


_NAME: Schema = {"type": "string"}
_CHAT: Schema = {
    "type": "object",
    "required": ["messages"],
    "properties": {
        "messages": {
            **_list_of(
                {
                    "type": "object",
                    "required": ["role"],
                    "properties": {
                        "role": {"enum": ["system", "developer", "user", "assistant", "tool"]}
                    },
                }
            ),
            "minItems": 1,
        },
        "tools": _list_of(_tool(type={"const": "function"}, function=_tool(name=_NAME))),
        "stream": {"type": "boolean"},
    },
}
_MESSAGES: Schema = {
    "type": "object",
    "required": ["messages"],
    "properties": {
        "messages": {
            **_list_of(_tool(role={"enum": ["user", "assistant"]}, content={})),
            "minItems": 1,
        },
        "tools": _list_of(_tool(name=_NAME)),
        "stream": {"type": "boolean"},
    },
}
_RESPONSES: Schema = {
    "type": "object",
    "required": ["input"],
    "properties": {
        "input": {"oneOf": [{"type": "string"}, {**_list_of(_ANY_OBJECT), "minItems": 1}]},
        "tools": _list_of(_tool(type={"const": "function"}, name=_NAME)),
        "previous_response_id": {"type": "string"},
        "stream": {"type": "boolean"},
    },
}


def _judged(summary: str, request: Schema) -> Schema:
    answer = {
        "description": "The judged reply, in the format's own form.",
        "headers": {"x-ledgeragent-verdict": _VERDICT},
        "content": {
            "application/json": {"schema": _ANY_OBJECT},
            "text/event-stream": {"schema": {"type": "string"}},
        },
    }
    problem = {"application/json": {"schema": _ANY_OBJECT}}
    problems = {code: {"description": why, "content": problem} for code, why in _PROBLEMS.items()}
    upstream = {"description": "What the upstream answered, as it is.", "content": problem}
    return {
        "post": {
            "summary": summary,
            "parameters": [_SESSION],
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": request}},
            },
            "responses": {"200": answer, **problems, "default": upstream},
        }
    }


def _shown(summary: str, kind: str) -> Schema:
    content = {kind: {"schema": {"type": "string"} if kind == "text/plain" else _ANY_OBJECT}}
    return {
        "get": {"summary": summary, "responses": {"200": {"description": "", "content": content}}}
    }


def openapi(version: str) -> Schema:
    """The description that `/openapi.json` answers with."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "LedgerAgent gateway", "version": version},
        "paths": {
            "/v1/chat/completions": _judged("Chat Completions, judged", _CHAT),
            "/v1/messages": _judged("Messages, judged", _MESSAGES),
            "/v1/responses": _judged("Responses, judged", _RESPONSES),
            "/v1/models": _shown("The upstream's models", "application/json"),
            "/healthz": _shown("Whether the gateway serves, and which domain", "application/json"),
            "/metrics": _shown("Counters for Prometheus", "text/plain"),
        },
    }
