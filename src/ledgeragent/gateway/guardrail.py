"""A guardrail for the LiteLLM proxy: its replies are judged as those behind the gateway are.

guardrails:
  - guardrail_name: ledgeragent
    litellm_params:
      guardrail: ledgeragent.gateway.guardrail.LedgerGuardrail
      mode: [pre_call, post_call]
      default_on: true
      ledgeragent: {domain: retail}
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from functools import partial
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

from ledgeragent.errors import MissingExtraError, UsageError
from ledgeragent.gateway.dialects.base import Body, encode
from ledgeragent.gateway.errors import BadReplyError, BadRequestError, GatewayError, InternalError
from ledgeragent.gateway.guarding import GuardedRequest
from ledgeragent.gateway.guardoptions import GuardrailOptions
from ledgeragent.gateway.inbound import session_name
from ledgeragent.gateway.overhearing import Overhearing
from ledgeragent.gateway.proxyevents import ProxyEvents, plain_body
from ledgeragent.gateway.sse import DONE, ServerEvent
from ledgeragent.gateway.words import VERDICT_HEADER

try:
    from fastapi import HTTPException
    from litellm.integrations.custom_guardrail import CustomGuardrail
    from litellm.types.utils import ModelResponseStream
except ImportError:
    raise MissingExtraError("litellm[proxy]", "litellm") from None

PATHS = {
    "completion": "/v1/chat/completions",
    "acompletion": "/v1/chat/completions",
    "anthropic_messages": "/v1/messages",
    "aresponses": "/v1/responses",
}
"""The format of each kind of request that is judged."""

CALLESS = frozenset(
    {"embedding", "aembedding", "moderation", "amoderation", "rerank", "arerank"}
    | {"transcription", "atranscription", "speech", "aspeech", "ocr", "aocr"}
    | {"image_generation", "aimage_generation", "image_edit", "aimage_edit"}
)
"""Kinds of request whose answers can hold no call."""

_OWN = ("litellm_logging_obj", "litellm_call_id")
"""What belongs to one request of a model, and not to the next."""


class _Entry(NamedTuple):
    kind: str
    guarded: GuardedRequest


class LedgerGuardrail(CustomGuardrail):  # type: ignore[misc]
    """Judges the replies of a LiteLLM proxy, whole and streamed, in its three formats.

    It has to be set up for `pre_call` and `post_call`. What it cannot judge is refused, unless it is
    in shadow. Raises UsageError for a section of the configuration that cannot be used.
    """

    def __init__(self, *, ledgeragent: object = None, **litellm: Any) -> None:
        super().__init__(**litellm)
        if not {"pre_call", "post_call"} <= set(_modes(self.event_hook)):
            raise UsageError("litellm_params.mode: should be [pre_call, post_call]")
        self.guarding = GuardrailOptions.read(ledgeragent).guarding()
        self._entries: WeakKeyDictionary[Any, _Entry] = WeakKeyDictionary()
        self._calless: WeakSet[Any] = WeakSet()

    async def async_pre_call_deployment_hook(self, kwargs: Any, call_type: Any) -> Any:
        """Nothing: a request is taken in once, before the proxy chooses who answers it."""

    async def async_post_call_success_deployment_hook(
        self, request_data: Any, response: Any, call_type: Any
    ) -> Any:
        """Nothing: a reply is judged once, when the proxy hands it to the client."""

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: Any, call_type: Any
    ) -> Any:
        """Puts the ledger behind the history; HTTPException for what nobody could judge."""
        kind = getattr(call_type, "value", call_type)
        if kind in CALLESS:
            self._calless.add(data["litellm_logging_obj"])
            return data
        try:
            prompt = await self._begun(kind, data, user_api_key_dict)
        except Exception as problem:
            if not self.guarding.is_shadow:
                raise _refusal(problem) from problem
            self.guarding.passed(problem)
            return data
        return data if self.guarding.is_shadow else prompt

    async def _begun(self, kind: str, data: dict[str, Any], key: Any) -> dict[str, Any]:
        if kind not in PATHS:
            raise BadRequestError(f"requests of kind {kind} cannot be judged")
        name = session_name(_headers(data))
        guarded = await self.guarding.begin(PATHS[kind], data, name, _scope(key))
        if guarded is None:
            return data
        # The proxy makes this object for each request, and clients have no hand in it.
        self._entries[data["litellm_logging_obj"]] = _Entry(kind, guarded)
        return {**data, **guarded.prompt}

    async def async_post_call_success_hook(
        self, data: Any, user_api_key_dict: Any, response: Any
    ) -> Any:
        """The judged answer in place of the model's, or None where that is all right."""
        entry = self._of(data)
        if entry is None:
            return None
        kind, guarded = entry
        try:
            whole = encode(plain_body(response))
            answer = await guarded.answer(whole, lambda body: self._asked(kind, data, body))
            return None if answer == whole else _like(response, json.loads(answer))
        except HTTPException:
            raise
        except Exception as problem:
            if not self.guarding.is_shadow:
                raise _refusal(problem) from problem
            self.guarding.passed(problem)
            return None

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: Any
    ) -> AsyncGenerator[Any, None]:
        """The judged events in place of the model's."""
        chunks = aiter(response)
        first = await anext(chunks, None)
        entry = self._of(request_data)
        if entry is None:
            async for chunk in _again(first, chunks):
                yield chunk
            return
        kind, guarded = entry
        if self.guarding.is_shadow:
            async for chunk in self._passing(kind, guarded, _again(first, chunks)):
                yield chunk
            return
        events = _events(kind, _again(first, chunks))
        async for event in guarded.stream(
            events, lambda body: self._heard(kind, request_data, body)
        ):
            if event.data == DONE:
                continue  # The proxy ends its streams itself.
            is_chunk = kind == "acompletion" and isinstance(event.data, dict)
            yield ModelResponseStream(**event.data) if is_chunk else event.encode()

    async def _passing(
        self, kind: str, guarded: GuardedRequest, chunks: AsyncIterator[Any]
    ) -> AsyncGenerator[Any, None]:
        """The pieces as they come; each is read once it has gone on."""
        heard, events = Overhearing(), ProxyEvents(kind)
        try:
            async for chunk in chunks:
                yield chunk
                heard.add(partial(events.of, chunk))
            heard.add(events.end)
            await guarded.overheard(heard)
        finally:
            await guarded.close()

    async def async_post_call_failure_hook(
        self, request_data: Any, original_exception: Any, *rest: Any, **more: Any
    ) -> None:
        """The model had no answer: the conversation is let go, for its next request."""
        entry = self._found(request_data)
        if entry is not None:
            await entry.guarded.close()

    async def async_post_call_response_headers_hook(
        self, data: Any, user_api_key_dict: Any, response: Any, *rest: Any, **more: Any
    ) -> dict[str, str] | None:
        """The header that tells every verdict. In a stream they are told in a comment."""
        entry = self._found(data)
        verdicts = entry.guarded.verdicts if entry is not None else ""
        return {VERDICT_HEADER: verdicts} if verdicts else None

    def _of(self, data: Mapping[str, Any]) -> _Entry | None:
        """The request that is answered; None where no answer of its kind is judged.

        The answer to one that nobody took in is not let through, whatever it looks like.
        """
        entry = self._found(data)
        is_calless = entry is None and data.get("litellm_logging_obj") in self._calless
        if entry is None and not is_calless and not self.guarding.is_shadow:
            raise _refusal(InternalError("the request of this answer was never taken in"))
        return entry

    def _found(self, data: Mapping[str, Any]) -> _Entry | None:
        request = data.get("litellm_logging_obj")
        return self._entries.get(request) if request is not None else None

    async def _asked(self, kind: str, data: Mapping[str, Any], body: Body) -> bytes:
        return encode(plain_body(await _route(kind, data, body)))

    async def _heard(
        self, kind: str, data: Mapping[str, Any], body: Body
    ) -> AsyncGenerator[list[ServerEvent], None]:
        async for event in _events(kind, aiter(await _route(kind, data, body))):
            yield [event]


async def _route(kind: str, data: Mapping[str, Any], body: Body) -> Any:
    """The model's answer to a request that was changed, by the proxy's own way to it."""
    from litellm.proxy.proxy_server import llm_router
    from litellm.proxy.route_llm_request import route_request

    request = {name: value for name, value in {**data, **body}.items() if name not in _OWN}
    try:
        return await (
            await route_request(
                data=request,
                llm_router=llm_router,
                user_model=None,
                route_type=kind,
            )
        )
    except HTTPException:
        raise
    except Exception as problem:
        name = type(problem).__name__
        raise BadReplyError(f"the model could not be asked again: {name}") from None


async def _events(kind: str, chunks: AsyncIterator[Any]) -> AsyncGenerator[ServerEvent, None]:
    """The pieces of a streamed answer as events."""
    events = ProxyEvents(kind)
    async for chunk in chunks:
        for event in events.of(chunk):
            yield event
    for event in events.end():
        yield event


async def _again(first: Any, rest: AsyncIterator[Any]) -> AsyncGenerator[Any, None]:
    if first is not None:
        yield first
    async for chunk in rest:
        yield chunk


def _like(response: Any, body: Body) -> Any:
    """An answer of the same kind with another content, and what the proxy notes beside it."""
    if isinstance(response, Mapping):
        hidden = response.get("_hidden_params")
        return body if hidden is None else {**body, "_hidden_params": hidden}
    answer = type(response)(**body)
    answer._hidden_params = response._hidden_params
    return answer


def _headers(data: Mapping[str, Any]) -> dict[str, str]:
    headers = (data.get("proxy_server_request") or {}).get("headers") or {}
    return {name.lower(): value for name, value in headers.items()}


def _scope(key: Any) -> str:
    """What tells apart who has asked: a digest of the proxy's name for their key."""
    name = getattr(key, "token", None) or getattr(key, "api_key", None) or ""
    return hashlib.blake2b(str(name).encode("utf-8", "replace"), digest_size=8).hexdigest()


def _modes(event_hook: Any) -> list[str]:
    hooks = event_hook if isinstance(event_hook, list) else [event_hook]
    return [str(getattr(hook, "value", hook)) for hook in hooks]


def _refusal(problem: Exception) -> HTTPException:
    """What a client is told; of a failure of our own, no more than that."""
    if not isinstance(problem, GatewayError):
        problem = InternalError("the guardrail failed; the log tells why")
    return HTTPException(status_code=problem.status, detail={"error": str(problem)})
