"""MCP: the proxy as a process between a client and the shop's server."""

import asyncio
import sys

from mcp import Client, StdioServerParameters

SERVER = [sys.executable, "-m", "examples.shop_server"]
PROXY = ["-m", "ledgeragent", "mcp", "--domain", "shop", "--", *SERVER]


async def main() -> None:
    """Calls a few tools through the proxy."""
    proxy = StdioServerParameters(command=sys.executable, args=PROXY)
    async with Client(proxy) as client:
        for name, arguments in (
            ("cancel_order", {"order_id": "G-1007"}),
            ("find_customer", {"email": "maya.brandt@example.org"}),
            ("get_order", {"order_id": "G-1007"}),
            ("cancel_order", {"order_id": "G-1007"}),
            ("show_ledger", {}),
        ):
            result = await client.call_tool(name, arguments)
            print(f"{'REJECT' if result.is_error else 'ALLOW':<6} {name}")
        print(result.content[0].text)


asyncio.run(main())
