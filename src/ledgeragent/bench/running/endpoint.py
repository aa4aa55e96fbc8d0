"""A model behind an OpenAI-compatible endpoint, by the standard library alone, with retries."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from ledgeragent.bench.running.progress import Announce, again, masked, tell
from ledgeragent.errors import LedgerAgentError, UsageError
from ledgeragent.files.keys import require_key
from ledgeragent.session.contextrole import is_about_roles, placed, send
from ledgeragent.types import Json, Message, Reply, ToolCall, ToolReturn, UserMessage, canonical

FEEDBACK = "Your last message was checked against the policy, and part of it was refused:"
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
_LONGEST_WAIT = 60.0


class EndpointError(LedgerAgentError):
    """An endpoint that refused a request, or went on failing.

    `about_roles` if it refused the roles of the messages, or their order.
    """

    def __init__(self, problem: str, *, about_roles: bool = False) -> None:
        super().__init__(problem)
        self.about_roles = about_roles


@dataclass(slots=True)
class EndpointUsage:
    """The requests and tokens that an endpoint counted."""

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0

    def add(self, reported: Mapping[str, Json]) -> None:
        """Counts one answer in; what an endpoint does not report counts as nothing."""
        self.requests += 1
        self.prompt_tokens += _whole(reported.get("prompt_tokens"))
        self.completion_tokens += _whole(reported.get("completion_tokens"))
        details = reported.get("prompt_tokens_details")
        self.cached_tokens += (
            _whole(details.get("cached_tokens")) if isinstance(details, dict) else 0
        )


def _whole(value: Json) -> int:
    return value if isinstance(value, int) else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model is served. `options` go into every request (temperature, seed, …).

    Each failed try but the last is told, without the key. UsageError for an address that is none, or
    that would carry a secret to wherever it is printed.
    """

    url: str
    model: str
    key: str = ""
    options: Mapping[str, Json] = field(default_factory=dict)
    timeout: float = 120.0
    tries: int = 6
    sleep: Callable[[float], None] = time.sleep
    tell: Announce = tell

    def __post_init__(self) -> None:
        if problem := _unfit(self.url):
            raise UsageError(f"an endpoint's address {problem}")
        require_key(self.key, "the endpoint's variable")

    def complete(self, messages: Sequence[Json], tools: Sequence[Json]) -> Mapping[str, Any]:
        """The answer of a chat; raises EndpointError where retrying does not help."""
        body: dict[str, Json] = {"messages": list(messages)}
        if tools:
            body["tools"] = list(tools)
        return self.ask("chat/completions", body)

    def ask(self, path: str, body: Mapping[str, Json]) -> Mapping[str, Any]:
        """The answer to a request; raises EndpointError where retrying does not help."""
        data = json.dumps({"model": self.model, **self.options, **body}).encode()
        problem = ""
        for attempt in range(1, self.tries + 1):
            try:
                return self._post(path, data)
            except _Passing as failure:
                problem = masked(str(failure), self.key)
                if attempt < self.tries:
                    seconds = failure.wait or min(2.0 ** (attempt - 1), _LONGEST_WAIT)
                    self.tell(again(self.url, problem, attempt, self.tries, seconds))
                    self.sleep(seconds)
        raise EndpointError(f"{self.url}: {problem}, {self.tries} times")

    def _post(self, path: str, data: bytes) -> Mapping[str, Any]:
        headers = {"Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        request = urllib.request.Request(
            f"{self.url.rstrip('/')}/{path}", data=data, headers=headers
        )
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as response:
                value = json.loads(response.read())
        except urllib.error.HTTPError as error:
            with error:
                detail = error.read(2000).decode("utf-8", "replace")
            about_roles = is_about_roles(error.code, detail)
            if error.code in _PASSING and not about_roles:
                raise _Passing(f"status {error.code}", _seconds(error)) from None
            refusal = masked(f"status {error.code}: {detail}", self.key)
            raise EndpointError(f"{self.url}: {refusal}", about_roles=about_roles) from None
        except (OSError, HTTPException, ValueError) as error:
            raise _Passing(_said(error)) from None
        if not _is_answer(value):
            raise _Passing("an answer without a message")
        completion: Mapping[str, Any] = value
        return completion


class _Passing(Exception):
    """A failure that may pass; `wait` is how long the endpoint asks to be left alone."""

    def __init__(self, problem: str, wait: float | None = None) -> None:
        super().__init__(problem)
        self.wait = wait


def _unfit(url: str) -> str:
    """The fault of an address, "" if it has none."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return "cannot be read"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "begins with http:// or https:// and a host"
    if "@" in parts.netloc or parts.query or parts.fragment:
        return "has no user name, password or query; a key is read from the environment"
    return ""


def _said(error: Exception) -> str:
    """The failure in one line."""
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    return " ".join(f"{type(reason).__name__}: {reason}".split())


def _seconds(error: urllib.error.HTTPError) -> float | None:
    header = str(error.headers.get("Retry-After", ""))
    return min(float(header), _LONGEST_WAIT) if header.isascii() and header.isdigit() else None


def _is_answer(value: Json) -> bool:
    try:
        choice = value["choices"][0]
        return isinstance(choice.get("message"), dict) or isinstance(choice.get("text"), str)
    except (KeyError, IndexError, TypeError, AttributeError):
        return False


@dataclass(slots=True, kw_only=True)
class ChatModel:
    """A `Model` (`ledgeragent.agent`): the policy first, then the history, ledger and feedback last.

    `role` is one of `contextrole.ROLES`.
    """

    endpoint: Endpoint
    policy: str
    tools: Sequence[Json]
    role: str = "auto"
    usage: EndpointUsage = field(default_factory=EndpointUsage)
    _made: int = 0

    def generate(self, history: Sequence[Message], context: str, feedback: str) -> Reply:
        """One reply. Calls get ids of our own, since some models give none or repeat them."""
        messages = [{"role": "system", "content": self.policy}, *wire(history)]
        tail = "\n\n".join(filter(None, (context, f"{FEEDBACK}\n{feedback}" if feedback else "")))
        completion = self._complete(messages, tail)
        usage = completion.get("usage")
        self.usage.add(usage if isinstance(usage, dict) else {})
        message = completion["choices"][0].get("message") or {}
        calls = tuple(self._call(call) for call in message.get("tool_calls") or ())
        text = message.get("content")
        return Reply(text=text if isinstance(text, str) else "", calls=calls)

    def _complete(self, messages: Sequence[Mapping[str, Json]], tail: str) -> Mapping[str, Any]:
        if not tail:
            return self.endpoint.complete(messages, self.tools)
        return send(
            self.role,
            (self.endpoint.url, self.endpoint.model),
            lambda form: self.endpoint.complete(placed(messages, tail, form), self.tools),
            lambda error: isinstance(error, EndpointError) and error.about_roles,
        )

    def _call(self, call: Mapping[str, Any]) -> ToolCall:
        self._made += 1
        function = call.get("function") or {}
        return ToolCall.parse(
            name=str(function.get("name")),
            arguments=function.get("arguments"),
            id=f"call_{self._made}",
        )


def wire(history: Sequence[Message]) -> Iterator[dict[str, Json]]:
    """The messages as a chat API takes them."""
    for message in history:
        match message:
            case UserMessage():
                yield {"role": "user", "content": message.text}
            case ToolReturn():
                content = message.content
                text = content if isinstance(content, str) else canonical(content)
                yield {"role": "tool", "tool_call_id": message.call_id, "content": text}
            case Reply():
                row: dict[str, Json] = {"role": "assistant", "content": message.text or None}
                if message.calls:
                    row["tool_calls"] = [_wired(call) for call in message.calls]
                yield row


def _wired(call: ToolCall) -> Json:
    arguments = call.malformed if call.malformed is not None else canonical(call.arguments)
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}
