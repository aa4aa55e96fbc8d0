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
    "schema": {"type": "string", "maxLength": 200, "pattern": "^[!-~]([ -~]*[!-~])?$"},
}
_VERDICT = {
    "description": "Every verdict in order, e.g. get_order=ALLOW,cancel_order=REVISE; UNDECIDED "
    "where a rule could not be decided. In a stream it is a comment before the end.",
    "schema": {"type": "string"},
}
_PROBLEMS = {
    "400": "The request cannot be judged; the message names the field.",
    "401": "The key is not one of this gateway's.",
    "403": "A web page asks that may not, or the host that is named is not this gateway.",
    "404": "No such route is served.",
    "405": "The route is not served for this method.",
    "408": "The body did not come in time.",
    "409": "Another request of the same session was answered in the meantime.",
    "413": "The request is too large.",
    "422": "The conversation was refused the same so often that it is not answered any more.",
    "500": "The gateway itself failed.",
    "501": "The body is transferred in another way than by its length or in chunks.",
    "502": "The upstream failed, or its reply cannot be judged.",
    "503": "The gateway is at its limit, or cannot use its session store or its journal.",
    "504": "The upstream did not answer in time.",
}


def _object(*required: str, **properties: Schema) -> Schema:
    schema: Schema = {"type": "object"}
    if required:
        schema["required"] = list(required)
    if properties:
        schema["properties"] = properties
    return schema


def _list(item: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": item, **more}


def _maybe(schema: Schema) -> Schema:
    return {"oneOf": [schema, {"type": "null"}]}


_TEXT: Schema = {"type": "string"}
_ANY_OBJECT = _object()
_FLAG: Schema = {"type": ["boolean", "null"]}
_UNUSED: Schema = {"enum": [None, False, 0, "", []]}
"""A field that may only say that it is not used."""

_CONTENT: Schema = {"type": ["string", "array", "null"]}
"""Text, or parts of which some are text."""


def _role(*names: str) -> Schema:
    return {"enum": list(names)}


_CHAT_CALL = _object(
    "function",
    function=_object("name", name=_TEXT, arguments={"type": ["string", "object", "null"]}),
)
_CHAT_MESSAGE: Schema = {
    "oneOf": [
        _object("role", role=_role("system", "developer")),
        _object("role", role=_role("user", "tool"), content=_CONTENT),
        _object(
            "role",
            role=_role("assistant"),
            content=_CONTENT,
            tool_calls=_maybe(_list(_CHAT_CALL)),
        ),
    ]
}
_CHAT = {
    **_object(
        "messages",
        messages=_list(_CHAT_MESSAGE, minItems=1),
        tools=_maybe(
            _list(_object("function", type=_role("function"), function=_object("name", name=_TEXT)))
        ),
        stream=_FLAG,
        functions=_UNUSED,
        function_call=_UNUSED,
        web_search_options=_UNUSED,
    ),
    "if": _object("stream", stream={"const": True}),
    "then": _object(n={"enum": [None, 1]}),
}


def _turn(role: str, block: str, then: Schema) -> Schema:
    """A turn of Messages, with what its blocks of this one type must be like."""
    of_type = {"if": _object("type", type=_role(block)), "then": then}
    blocks = _list({**_object("type", type=_TEXT), **of_type})
    return _object("role", "content", role=_role(role), content={"oneOf": [_TEXT, blocks]})


_TURNS: Schema = {
    "oneOf": [
        _turn("user", "tool_result", _object(content=_CONTENT)),
        _turn("assistant", "tool_use", _object("name", name=_TEXT)),
    ]
}
_MESSAGES = _object(
    "messages",
    messages=_list(_TURNS, minItems=1),
    tools=_maybe(_list(_object("name", name=_TEXT, type={"enum": ["custom", None]}))),
    stream=_FLAG,
    mcp_servers=_UNUSED,
    container=_UNUSED,
)

_ITEM: Schema = {
    "oneOf": [
        _object("type", type=_role("reasoning", "compaction")),
        _object(
            "type",
            "name",
            type=_role("function_call"),
            name=_TEXT,
            arguments={"type": ["string", "null"]},
        ),
        _object("type", type=_role("function_call_output"), output=_CONTENT),
        _object("role", type=_role("message"), role=_role("user", "assistant"), content=_CONTENT),
        _object("role", type=_role("message"), role=_role("system", "developer")),
    ]
}
_RESPONSES = _object(
    "input",
    input={"oneOf": [{**_TEXT, "minLength": 1}, _list(_ITEM, minItems=1)]},
    tools=_maybe(_list(_object("type", "name", type=_role("function"), name=_TEXT))),
    previous_response_id={
        "type": ["string", "null"],
        "description": "Of a reply that this gateway gave; any other is refused with 400.",
    },
    stream=_FLAG,
    conversation=_UNUSED,
    prompt=_UNUSED,
    background=_UNUSED,
)

_OPENAI_ERROR = _object("error", error=_object("message", "type", message=_TEXT, type=_TEXT))
_ANTHROPIC_ERROR = _object("type", "error", type={"const": "error"}, **_OPENAI_ERROR["properties"])


def _problems(error: Schema, *codes: str) -> Schema:
    content = {"application/json": {"schema": error}}
    return {code: {"description": _PROBLEMS[code], "content": content} for code in codes}


def _judged(summary: str, request: Schema, holds: str, error: Schema) -> Schema:
    """A route whose replies are judged; `holds` is the field of an answer with what was said."""
    answer = {
        "description": "The judged reply, in the format's own form.",
        "headers": {"x-ledgeragent-verdict": _VERDICT},
        "content": {
            "application/json": {"schema": _object(holds, **{holds: {"type": "array"}})},
            "text/event-stream": {},
        },
    }
    upstream = {
        "description": "What the upstream answered, as it is.",
        "content": {"application/json": {"schema": _ANY_OBJECT}},
    }
    return {
        "post": {
            "summary": summary,
            "parameters": [_SESSION],
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": request}},
            },
            "responses": {"200": answer, **_problems(error, *_PROBLEMS), "default": upstream},
        }
    }


def _shown(summary: str, kind: str, schema: Schema, *problems: str) -> Schema:
    answer = {"description": summary, "content": {kind: {"schema": schema}}}
    responses = {"200": answer, **_problems(_OPENAI_ERROR, *problems)}
    return {"get": {"summary": summary, "responses": responses}}


def openapi(version: str) -> Schema:
    """The description that `/openapi.json` answers with."""
    health = _object("status", "domain", "version", status=_TEXT, domain=_TEXT, version=_TEXT)
    formats = {
        "/v1/chat/completions": _judged(
            "Chat Completions, judged", _CHAT, "choices", _OPENAI_ERROR
        ),
        "/v1/messages": _judged("Messages, judged", _MESSAGES, "content", _ANTHROPIC_ERROR),
        "/v1/responses": _judged("Responses, judged", _RESPONSES, "output", _OPENAI_ERROR),
    }
    alive = _object("status", status=_TEXT)
    models = ("The upstream's models", "application/json", _ANY_OBJECT, "401", "502", "503", "504")
    return {
        "openapi": "3.1.0",
        "info": {"title": "LedgerAgent gateway", "version": version},
        "paths": {
            **formats,
            "/v1/models": _shown(*models),
            "/healthz": _shown(
                "Whether the gateway serves, and which domain", "application/json", health
            ),
            "/livez": _shown("Whether the process does anything at all", "application/json", alive),
            "/readyz": _shown("Whether new requests may be sent here", "application/json", alive),
            "/metrics": _shown("Counters for Prometheus", "text/plain", _TEXT),
        },
    }
