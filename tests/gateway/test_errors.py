"""Errors carry the status that clients get, and the description of the API lists each."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import aiohttp
import pytest
from aiohttp import web

from ledgeragent.gateway import errors
from ledgeragent.gateway.errors import GatewayError, UpstreamError
from ledgeragent.gateway.openapi import openapi
from ledgeragent.gateway.server import Gateway, Settings
from tests.gateway.world import run, served
from tests.lending.domain import LIBRARY


def family(kind: type[GatewayError]) -> Iterator[type[GatewayError]]:
    for child in kind.__subclasses__():
        yield child
        yield from family(child)


FAMILY = sorted(set(family(GatewayError)) - {UpstreamError}, key=lambda kind: kind.__name__)


@pytest.mark.parametrize("kind", FAMILY)
def test_every_status_is_described(kind: type[GatewayError]) -> None:
    responses = openapi("1")["paths"]["/v1/messages"]["post"]["responses"]
    assert str(kind.status) in responses


@pytest.mark.parametrize("kind", FAMILY)
def test_the_tree_in_the_docstring_is_the_family(kind: type[GatewayError]) -> None:
    assert errors.__doc__ is not None
    (line,) = [line for line in errors.__doc__.splitlines() if f" {kind.__name__} " in line]
    assert str(kind.status) in line


def test_a_silent_upstream_is_a_timeout_where_nothing_is_judged_too() -> None:
    async def silent(request: web.Request) -> web.Response:
        await asyncio.sleep(60)
        return web.Response()

    async def scenario() -> None:
        upstream = web.Application()
        upstream.router.add_get("/v1/models", silent)
        async with served(upstream) as behind:
            gateway = Gateway(LIBRARY, Settings(upstream=behind, timeout=0.3))
            async with served(gateway.app()) as url, aiohttp.ClientSession(url) as http:
                response = await http.get("/v1/models")
                assert response.status == 504
                assert "in time" in (await response.json())["error"]["message"]

    run(scenario())
