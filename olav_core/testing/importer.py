"""The contract of an importer of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from olav_core.drafts.drafts import Drafts
from olav_core.drafts.proposal import Confirmation
from olav_core.importing.directory import import_directory
from olav_core.specs import Draft, Fault
from olav_core.testing.contract import PluginContract
from olav_core.testing.workspaces import temporary_workspace

_BAD: tuple[bytes, ...] = (
    b"",
    b"\x00",
    b"\xff\xfe\xfa",
    b"{",
    b"]" * 10,
    b"[" * 20_000,
    b"a: &a [*a]\n",
    b"key: [unclosed\n",
    b"null",
    b"3",
    b'"text"',
    b"[]",
    b"{}",
    "\ud800".encode("utf-8", "surrogatepass"),
    bytes(range(256)) * 64,
)


class ImporterContract(PluginContract):
    """Subclass it in a test file, set `plugin` and `files`.

    `files`: file name -> content of sound files; each must bring at least one memory. `bodies`: what a person
    might ask to keep, for an importer with a `draft_file`.
    """

    kind: ClassVar[str] = "importers"
    files: Mapping[str, str | bytes] = {}
    bodies: Sequence[str] = ()

    def _files(self) -> dict[str, bytes]:
        self.require(
            self.files,
            "no sample file is given.",
            "What a sound file brings can only be checked with one.",
            "Set `files = {'name.suffix': 'content'}` on your ImporterContract.",
        )
        return {n: c.encode() if isinstance(c, str) else bytes(c) for n, c in self.files.items()}

    def _parse(self, name: str, raw: bytes) -> tuple[list[Draft], list[Fault]]:
        root = Path("samples")
        what = f"parse() of {name} with {raw[:40]!r}"
        with self.calling(
            what,
            "One bad file must not stop the import of the others.",
            "Catch what your parser raises, and return it as Fault(path, line, message).",
        ):
            if self.spec.opens_path:
                with TemporaryDirectory(prefix="olav-") as folder:
                    path = Path(folder, name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_bytes(raw)
                    answer = self.spec.parse(Path(folder), path, b"")
            else:
                answer = self.spec.parse(root, root / name, raw)
        ok = isinstance(answer, tuple) and len(answer) == 2
        ok = ok and all(isinstance(draft, Draft) for draft in answer[0])
        ok = ok and all(isinstance(fault, Fault) and fault.line >= 0 and fault.message for fault in answer[1])
        self.require(
            ok,
            f"{what} returned {str(answer)[:80]!r}.",
            "The import counts drafts and shows faults with their line.",
            "Return (drafts, faults): two sequences, of Draft and of Fault.",
        )
        return list(answer[0]), list(answer[1])

    def test_parse_takes_any_bytes(self) -> None:
        name = f"sample{self.spec.suffixes[0]}"
        samples = [raw[: len(raw) // 2] for raw in self._files().values()]
        for raw in (*_BAD, *samples):
            self._parse(name, raw)

    def test_its_files_bring_memories(self) -> None:
        for name, raw in self._files().items():
            drafts, faults = self._parse(name, raw)
            self.require(
                drafts and not faults,
                f"{name} brings {len(drafts)} memories and these faults: {'; '.join(map(str, faults))}.",
                "You said in `files` that it is sound.",
                "Mend the importer or the sample.",
            )
            self.require(
                self._parse(name, raw)[0] == drafts,
                f"{name} brings other memories when it is parsed again.",
                "An import of an unchanged file must write nothing.",
                "Let drafts depend on the bytes only: no time, no counter.",
            )
            known = self.registry.categories
            wrong = {draft.category for draft in drafts} - set(known)
            self.require(
                not wrong,
                f"{name} brings memories of categories that are not registered: {', '.join(wrong)}.",
                "They could not be stored.",
                "Name a category that your plug-in or a built-in registers.",
            )

    def test_its_suffix_finds_it(self) -> None:
        for name in self._files():
            found = self.registry.importer_for(name)
            self.require(
                found is not None and found.id == self.spec.id,
                f"{name} is read by {found.id if found else 'no importer'}.",
                "The longest matching suffix wins.",
                "Give the importer a suffix that the file's name ends in and no other importer has.",
            )

    def test_its_drafts_become_files(self) -> None:
        if self.spec.draft_file is None:
            return
        self.require(
            self.bodies,
            "no sample body is given.",
            "Whether a draft of a conversation becomes a sound file can only be checked with one.",
            "Set `bodies = ('what a person asks to keep',)` on your ImporterContract.",
        )
        plugins = () if self.plugin is None else (self.plugin,)
        with temporary_workspace(*plugins) as memory:
            drafts = Drafts(memory)
            for number, body in enumerate(self.bodies):
                with self.calling(
                    f"a draft of {body[:40]!r}",
                    "A person has said yes to it; it must become a file that this importer reads.",
                    "Let `write` and `suffix` of the draft_file give what `parse` takes.",
                ):
                    proposal = drafts.propose(
                        intent=f"sample_{number}", body=body, agent="core",
                        category=self.spec.category, keywords=("sample", "样例"),
                    )  # fmt: skip
                    yes = Confirmation(text="yes", in_person=True)
                    done = drafts.commit(proposal.intent, confirmation=yes)
                self.require(
                    done.ids and any(self.spec.category == memory.get(id).category for id in done.ids),
                    f"a draft of {body[:40]!r} brings no memory of {self.spec.category}.",
                    "That is what a person agreed to.",
                    "Let `write` give a file from which `parse` makes one.",
                )

    def test_importing_twice_changes_nothing(self) -> None:
        plugins = () if self.plugin is None else (self.plugin,)
        with TemporaryDirectory(prefix="olav-") as folder, temporary_workspace(*plugins) as memory:
            for name, raw in self._files().items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(raw)

            def again() -> Any:
                return import_directory(memory, folder, importers=[self.spec.id])

            first, second = again(), again()
            self.require(
                first.added and not first.faults,
                f"the import added {first.added} rows; its faults: {'; '.join(map(str, first.faults))}.",
                "They are sound, you said in `files`.",
                "Mend what the faults name: metadata, scope or text of the drafts.",
            )
            self.require(
                second.unchanged == first.added and not second.embedded,
                f"the second import left {second.unchanged} of {first.added} rows unchanged and embedded "
                f"{second.embedded} texts.",
                "Imports run at every start; only what changed may cost anything.",
                "Give the category a dedupe_key that is the same for the same entry of the same file.",
            )
