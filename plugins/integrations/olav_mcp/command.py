"""The click command of `olav mcp`."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import click

import olav_core
from olav_core import ConfigError, PluginError, workspace_option


@click.command()
@click.option(
    "--agent", "-a", default="core", show_default=True, help="Whose memories: its scope, its teams', global."
)
@click.option(
    "--scope", "-s", "scopes", multiple=True, metavar="SCOPE", help="One more scope to read; repeatable."
)
@click.option("--any-scope", is_flag=True, help="Let clients name any scope (an operator's server).")
@click.option("--read-only", is_flag=True, help="Offer recall and why only.")
@click.option("--http", is_flag=True, help="Streamable HTTP instead of stdio.")
@click.option("--host", default="127.0.0.1", show_default=True, help="With --http: a loopback address.")
@click.option("--port", default=8765, show_default=True, type=click.IntRange(1, 65535), help="With --http.")
@workspace_option
def mcp(
    agent: str,
    scopes: tuple[str, ...],
    any_scope: bool,
    read_only: bool,
    http: bool,
    host: str,
    port: int,
    workspace: Path | None,
) -> None:
    """Serve the memory to MCP clients.

    Tools: recall, why, remember, propose, commit (which asks the client's user), forget (in two steps).
    Resources: olav://categories, olav://guides, olav://memory/{id}. Stdout carries the protocol, messages go
    to stderr.

    Over HTTP it listens on a loopback address only, at http://HOST:PORT/mcp; there is no login.
    """
    try:
        from olav_mcp.server import build_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise PluginError(
            f"`olav mcp` needs the MCP library (no module {error.name!r}). "
            "Install it: pip install 'olav-core[mcp]'."
        ) from error
    if http and not _is_loopback(host):
        raise ConfigError(
            f"--host {host} is not a loopback address; the server has no login, so it serves this machine "
            "only. Use 127.0.0.1, and a proxy with a login to reach it from elsewhere."
        )
    if workspace is not None and not (workspace / ".olav").is_dir() and workspace.name != ".olav":
        raise olav_core.WorkspaceError(f"{workspace} has no .olav folder. Run `olav init {workspace}`.")
    with olav_core.open(workspace) as memory:
        server = build_server(
            memory, agent=agent, extra_scopes=scopes, any_scope=any_scope, read_only=read_only
        )
        if http:
            click.echo(f"Serving http://{host}:{port}/mcp", err=True)
            server.run("streamable-http", host=host, port=port)
        else:
            server.run("stdio")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
