"""Installed agents: skill folders below `.olav/agents`, their guides and formats in the agent's scope."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from attrs import asdict, frozen

from olav_core import clock
from olav_core.errors import OlavError, PackageError
from olav_core.importing.report import ImportReport
from olav_core.packages.archive import unpack
from olav_core.packages.installer import Installer
from olav_core.packages.skill import Skill, agent_name_fault, find_skill_file, read_skill
from olav_core.workspace import AGENTS, Workspace

if TYPE_CHECKING:
    from olav_core.memory import Memory

#: Beside the SKILL.md of an installed agent: where it came from, and when.
RECEIPT: Final = ".olav-agent.json"


@frozen(kw_only=True)
class InstalledAgent:
    """An agent that is installed. `bundle`: the bundle that brought it, empty for `olav agent install`.

    `fault` says why its folder cannot be read as a skill any more; the other fields are empty then.
    """

    name: str
    folder: str
    description: str = ""
    version: str = ""
    bundle: str = ""
    source: str = ""
    installed_at: str = ""
    fault: str = ""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def install_agent(
    memory: Memory,
    source: Path,
    *,
    any_scope: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
) -> tuple[Skill, ImportReport]:
    """Install the skill folder or zip `source`, or bring an installed one up to date, whole or not at all.

    Its guides and formats become rows in the agent's scope; one that names another scope is refused unless
    `any_scope`. What an earlier version brought and this one does not is retired.

    Raises PackageError (the folder, the zip, a name, a scope), ImportFaultsError (a guide or format),
    EmbeddingSpaceMismatchError, EmbedderUnavailableError; nothing has changed then.
    """
    work = Installer(memory, AGENTS)
    with work.at_work():
        token, raw = work.journal.stage("raw", "package")
        skill = read_skill(unpack(source, raw))
        others = [agent for agent in list_agents(memory.workspace) if agent.name != skill.name]
        _refuse_other(memory.workspace, skill.name, [agent.name for agent in others])
        staged = work.journal.staged(token, AGENTS, skill.name)
        staged.parent.mkdir(parents=True)
        skill.folder.rename(staged)
        receipt = {"name": skill.name, "version": skill.version, "source": source.name}
        receipt["installed_at"] = clock.now().isoformat()
        (staged / RECEIPT).write_text(json.dumps(receipt, ensure_ascii=False, indent=1), encoding="utf-8")
        plan = work.check(skill.name, staged, source)
        if not any_scope:
            _refuse_scopes(plan, skill.name)
        report = work.install(skill.name, token, staged, on_progress=on_progress)
        return read_skill(work.place(skill.name)), report


def remove_agent(memory: Memory, name: str) -> int:
    """Remove an installed agent and exactly the rows that it brought; return how many those were.

    Memories that others wrote into its scope stay. Raises PackageError when it is not installed.
    """
    if agent_name_fault(name):
        raise PackageError(f"{name!r} is no agent's name. `olav agent list` shows what is installed.")
    work = Installer(memory, AGENTS)
    with work.at_work():
        for agent in list_agents(memory.workspace):
            if agent.name == name and agent.bundle:
                raise PackageError(
                    f"The agent {name!r} belongs to the bundle {agent.bundle!r}. "
                    f"`olav bundle remove {agent.bundle}` removes both."
                )
        return len(work.remove(name))


def list_agents(workspace: Workspace) -> list[InstalledAgent]:
    """Return the installed agents by name, those of bundles too."""
    found = [_installed(folder, "") for folder in folders_in(workspace.agents_directory)]
    for bundle in folders_in(workspace.bundles_directory):
        found += [_installed(folder, bundle.name) for folder in folders_in(bundle / AGENTS)]
    return sorted(found, key=lambda agent: (agent.name, agent.bundle))


def agent_folder(workspace: Workspace, name: str) -> Path | None:
    """Return the folder with the agent's SKILL.md or AGENT.md: `<workspace>/<name>`, which a team keeps by
    hand, else the installed one; None when there is none."""
    if not name.strip() or name.startswith(".") or Path(name).name != name or "\\" in name or "\0" in name:
        return None  # a scope, but no folder's name
    if find_skill_file(workspace.root / name) is not None:
        return workspace.root / name
    homes = [
        workspace.agents_directory,
        *(folder / AGENTS for folder in folders_in(workspace.bundles_directory)),
    ]
    return next((home / name for home in homes if (home / name).is_dir()), None)


def _installed(folder: Path, bundle: str) -> InstalledAgent:
    receipt: Any = None
    # Of a bundle, or deleted or changed by hand: only its origin is unknown then.
    with suppress(OSError, ValueError, RecursionError):
        receipt = json.loads((folder / RECEIPT).read_text(encoding="utf-8"))
    origin = receipt if isinstance(receipt, dict) else {}
    about = {key: str(origin.get(key, "")) for key in ("source", "installed_at")}
    try:
        skill = read_skill(folder, name=folder.name)
    except OlavError as error:
        return InstalledAgent(name=folder.name, folder=str(folder), bundle=bundle, fault=str(error), **about)
    return InstalledAgent(
        name=folder.name,
        folder=str(folder),
        description=skill.description,
        version=skill.version,
        bundle=bundle,
        **about,
    )


def folders_in(parent: Path) -> list[Path]:
    """Return the folders in `parent` by name, hidden ones left out; none when it is no folder."""
    if not parent.is_dir():
        return []
    return sorted(path for path in parent.iterdir() if path.is_dir() and not path.name.startswith("."))


def _refuse_other(workspace: Workspace, name: str, others: list[str]) -> None:
    bundled = [agent.bundle for agent in list_agents(workspace) if agent.name == name and agent.bundle]
    if bundled:
        raise PackageError(
            f"The agent {name!r} is installed already, by the bundle {bundled[0]!r}. "
            f"Remove that first: `olav bundle remove {bundled[0]}`."
        )
    for other in others:
        if other.casefold() == name.casefold():
            raise PackageError(
                f"The name {name!r} differs from the installed {other!r} by case only. Rename it."
            )


def _refuse_scopes(plan: ImportReport, own: str) -> None:
    wrong = [each for each in plan.items if each.action != "retired" and each.scope != own]
    if wrong:
        lines = "\n".join(f"  {each.path}: scope '{each.scope}'" for each in wrong)
        raise PackageError(
            f"{len(wrong)} file(s) would speak to others than this agent:\n{lines}\n"
            "Take the key `scope` out, or allow it with --any-scope. Nothing was installed."
        )
