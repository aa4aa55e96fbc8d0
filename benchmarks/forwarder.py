"""A bare forwarder of the gateway's own library: what any proxy of that kind costs, without a judge.

python -m benchmarks.forwarder PORT UPSTREAM
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator

import aiohttp
from aiohttp import web

from ledgeragent.engines.collection import collected_seldom

_HOP_BY_HOP = {"host", "content-length", "transfer-encoding", "connection"}


def application(upstream: str) -> web.Application:
    """Hands every request on, and every answer back, as it comes."""
    app = web.Application(client_max_size=1 << 26)

    async def connections(app: web.Application) -> AsyncIterator[None]:
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector, auto_decompress=False) as http:
            app["http"] = http
            yield

    async def forward(request: web.Request) -> web.StreamResponse:
        body = await request.read()
        headers = {n: v for n, v in request.headers.items() if n.lower() not in _HOP_BY_HOP}
        address = f"{upstream}{request.rel_url.raw_path_qs}"
        async with app["http"].request(
            request.method, address, data=body, headers=headers
        ) as answer:
            kept = {n: v for n, v in answer.headers.items() if n.lower() not in _HOP_BY_HOP}
            if answer.content_type != "text/event-stream":
                data = await answer.read()
                return web.Response(status=answer.status, body=data, headers=kept)
            response = web.StreamResponse(status=answer.status, headers=kept)
            await response.prepare(request)
            async for chunk in answer.content.iter_any():
                await response.write(chunk)
            await response.write_eof()
            return response

    app.cleanup_ctx.append(connections)
    app.router.add_route("*", "/{path:.*}", forward)
    return app


if __name__ == "__main__":
    collected_seldom()
    web.run_app(
        application(sys.argv[2]),
        host="127.0.0.1",
        port=int(sys.argv[1]),
        access_log=None,
        print=lambda *words: None,
        handler_cancellation=True,
    )
