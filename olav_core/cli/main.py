"""The entry point `olav`: commands load when they are run, so `olav --help` imports none of the engine."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import Any, NoReturn

import click

from olav_core import __version__
from olav_core.cli import answer, failure
from olav_core.cli.options import workspace_option
from olav_core.errors import did_you_mean

#: Command -> where its click object is. Plug-ins add theirs through `olav_register_commands`.
COMMANDS = {
    "init": "olav_core.cli.init:init",
    "recall": "olav_core.cli.recall:recall",
    "why": "olav_core.cli.recall:why",
    "remember": "olav_core.cli.remember:remember",
    "forget": "olav_core.cli.remember:forget",
    "kb": "olav_core.cli.kb:kb",
    "context": "olav_core.cli.context:context",
    "agent": "olav_core.cli.agent:agent",
    "bundle": "olav_core.cli.bundle:bundle",
    "capture": "olav_core.cli.capture:capture",
    "plugins": "olav_core.cli.plugins:plugins",
    "hooks": "olav_core.cli.hooks:hooks",
    "new-plugin": "olav_core.cli.new_plugin:new_plugin",
    "calibrate": "olav_core.cli.calibrate:calibrate",
    "doctor": "olav_core.cli.doctor:doctor",
}


#: Words that other programs have for a command, beside what `olav kb` has under the word itself.
SYNONYMS = {"search": "recall", "query": "recall", "add": "remember", "delete": "forget"}


class LazyGroup(click.Group):
    """A group whose commands are named by `module:attribute` and imported when asked for."""

    def __init__(self, *args: Any, lazy: dict[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = lazy or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.lazy, *sorted(set(super().list_commands(ctx)) - set(self.lazy))]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = self.lazy[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def rows(self, ctx: click.Context) -> list[tuple[str, str]]:
        """Return (name, first sentence) of the commands that are olav's own, in their order."""
        commands = ((name, LazyGroup.get_command(self, ctx, name)) for name in self.lazy)
        return [(name, command.get_short_help_str(limit=100)) for name, command in commands if command]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(self.rows(ctx))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            ctx.fail(f"There is no command {args[0]!r}.{self.meant(ctx, args[0])}")
        return super().resolve_command(ctx, args)

    def meant(self, ctx: click.Context, word: str) -> str:
        """Return the question that names what a word which is no command may have meant, or nothing."""
        return did_you_mean(word, self.list_commands(ctx))


class Olav(LazyGroup):
    """The root: adds the plug-ins' commands, and turns errors into messages and exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from olav_core.cli.extension import plugin_commands

        return [*self.lazy, *sorted(plugin_commands(ctx, taken=self.lazy))]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in self.lazy:
            return super().get_command(ctx, cmd_name)
        from olav_core.cli.extension import load_command, plugin_commands

        spec = plugin_commands(ctx, taken=self.lazy).get(cmd_name)
        return load_command(spec) if spec is not None else None

    def meant(self, ctx: click.Context, word: str) -> str:
        kb = self.get_command(ctx, "kb")
        if isinstance(kb, click.Group) and word in kb.list_commands(ctx):
            return f" Did you mean `olav kb {word}`?"
        return f" Did you mean `olav {SYNONYMS[word]}`?" if word in SYNONYMS else super().meant(ctx, word)

    def rows(self, ctx: click.Context) -> list[tuple[str, str]]:
        from olav_core.cli.extension import plugin_commands

        added = plugin_commands(ctx, taken=self.lazy)
        return super().rows(ctx) + [(name, spec.help) for name, spec in sorted(added.items())]

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with failure.quiet_ends():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> None:
        with failure.quiet_ends():
            super().invoke(ctx)

    def main(self, args: Sequence[str] | None = None, *_: Any, **extra: Any) -> NoReturn:
        """Run one command line and exit the process with its code; see failure.EXIT_CODES."""
        words = list(sys.argv[1:] if args is None else args)
        as_json = failure.wants_json(words)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        for_people = {"--help", "-h", "--version"} & set(words)  # goes to stdout too
        with answer.kept_alone() if as_json and not for_people else nullcontext():
            code = self._code_of(words, extra, as_json=as_json)
        sys.exit(code)

    def _code_of(self, words: list[str], extra: dict[str, Any], *, as_json: bool) -> int:
        try:
            return super().main(words, **{**extra, "standalone_mode": False}) or failure.OK
        except click.Abort as abort:
            interrupted = isinstance(abort.__cause__, KeyboardInterrupt)
            if as_json:
                failure.report(KeyboardInterrupt("interrupted") if interrupted else abort, as_json=True)
            return failure.INTERRUPTED if interrupted else failure.FAILED
        except failure.EXPECTED as error:
            return failure.report(error, as_json=as_json)
        except Exception as error:
            if not as_json:
                raise
            traceback.print_exc()  # nobody expected it, so whoever mends it needs to see where it was
            return failure.report(error, as_json=True)


_EPILOG = "\b\nExit codes:\n" + "\n".join(f"  {code:<4} {what}" for code, what in failure.EXIT_CODES.items())


@click.group(
    cls=Olav,
    lazy=COMMANDS,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="olav")
@workspace_option
def main(workspace: object) -> None:
    """Long-term memory for agents on small local models.

    Start with `olav demo`, or make a workspace of your own with `olav init`. Every command takes
    --workspace DIR (else the nearest .olav upwards is used) and --json (one object on stdout).
    """
