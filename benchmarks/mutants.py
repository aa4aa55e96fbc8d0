"""Mutates the core and runs its tests on the mutants: `python -m benchmarks.mutants [MODULE ...]`.

The mutants are mutmut's, of functions, methods and properties; one in eight is tried, always the same
ones, and all of them with `--whole`. Each is imported instead of its module in a process of its own.
`--again` tries only the survivors of the last run. Writes `benchmarks/results/mutants.json`.
"""

from __future__ import annotations

import argparse
import difflib
import gc
import hashlib
import importlib.util
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.metadata import version
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple

import hypothesis
import libcst as cst
import pytest
from mutmut.mutation.file_mutation import Mutation, MutationVisitor
from mutmut.mutation.mutators import mutation_operators
from mutmut.mutation.pragma_handling import get_ignored_lines

ROOT = Path(__file__).parents[1]
CORE = ROOT / "src" / "ledgeragent"
TESTS = ROOT / "tests"
RESULT = ROOT / "benchmarks" / "results" / "mutants.json"

_OUTSIDE = {"__init__", "__main__", "testing"}
_PROPERTIES = {"property", "cached_property"}
_ONE_IN = 8
_LONGEST_CPU = 10  # seconds; the tests of a module take one or two
_LONGEST_WALL = 180
_LARGEST = 4 << 30
_SILENT = ("cacheprovider", "unraisableexception", "threadexception")
_ARGUMENTS = ("-x", "-q", "--tb=no", "--no-header", *(f"-pno:{plugin}" for plugin in _SILENT))


NEIGHBOURS: dict[str, tuple[str, ...]] = {
    "absorb": ("state", "returned"),
    "arguments": ("gate", "domain"),
    "domain": ("absorb", "gate"),
    "effects": ("absorb", "domain", "returned"),
    "entry": ("ledger", "predicates", "render"),
    "findings": ("gate", "filter", "plan"),
    "gate": ("filter", "plan"),
    "ledger": ("absorb", "predicates"),
    "lookback": ("plan",),
    "paths": ("domain",),
    "plan": ("filter", "gate"),
    "predicates": ("gate",),
    "rejections": ("filter",),
    "returned": ("absorb",),
    "shape": ("predicates", "arguments"),
    "state": ("utterances", "plan"),
    "types": ("absorb", "gate"),
    "verdict": ("gate", "filter"),
    "view": ("predicates", "gate", "plan", "utterances"),
}
"""The tests that a mutant meets where those of its own module let it pass, by module."""


class Mutant(NamedTuple):
    """One small change of a function: its line before and after, and the whole module with it."""

    function: str
    line: str
    mutant: str
    source: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What names it from one run to the next."""
        return self.function, self.line, self.mutant


class _Mutations(MutationVisitor):
    """mutmut's mutations, of properties too: it leaves out whatever is decorated."""

    def _skip_node_and_children(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.FunctionDef) and len(node.decorators) == 1:
            decorator = node.decorators[0].decorator
            if isinstance(decorator, cst.Name) and decorator.value in _PROPERTIES:
                return False
        return bool(super()._skip_node_and_children(node))


def _functions(body: Sequence[cst.CSTNode], prefix: str) -> Iterator[tuple[cst.FunctionDef, str]]:
    """The functions and methods of a module, with their names."""
    for node in body:
        if isinstance(node, cst.FunctionDef):
            yield node, f"{prefix}{node.name.value}"
        elif isinstance(node, cst.ClassDef):
            yield from _functions(node.body.body, f"{prefix}{node.name.value}.")


def mutants(module: str, *, whole: bool) -> Iterator[Mutant]:
    """The mutants of a module of the core: a sample, or all."""
    path = CORE / f"{module}.py"
    source = path.read_text(encoding="utf-8")
    wrapper = cst.MetadataWrapper(cst.parse_module(source))
    visitor = _Mutations(mutation_operators, get_ignored_lines(str(path), source, wrapper))
    tree = wrapper.visit(visitor)
    functions = dict(_functions(wrapper.module.body, f"{module}."))
    for mutation in visitor.mutations:
        name = functions.get(mutation.contained_by_top_level_function)
        if name is not None and (whole or _is_sampled(name, mutation)):
            changed = tree.deep_replace(mutation.original_node, mutation.mutated_node).code
            yield Mutant(name, *_difference(source, changed), changed)


def _is_sampled(function: str, mutation: Mutation) -> bool:
    """True for one mutation in so many, whatever else is in the file."""
    code = cst.Module([]).code_for_node
    text = "\n".join((function, code(mutation.original_node), code(mutation.mutated_node)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest()) % _ONE_IN == 0


def _difference(before: str, after: str) -> tuple[str, str]:
    """The lines that differ, each side on one line."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    body = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
    old, new = (" ".join(x[1:].strip() for x in body if x[0] == sign) for sign in "-+")
    return old, new


class _Loader(SourceFileLoader):
    """Loads other source than the file holds."""

    def __init__(self, name: str, path: str, source: str) -> None:
        super().__init__(name, path)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        """The code of that source."""
        return compile(self._source, self.path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    """Finds the mutant where its module is imported."""

    def __init__(self, module: str, source: str) -> None:
        self._name = f"ledgeragent.{module}"
        self._loader = _Loader(self._name, str(CORE / f"{module}.py"), source)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module with the mutant's source; None for every other module."""
        if fullname != self._name:
            return None
        return importlib.util.spec_from_loader(fullname, self._loader)


def _is_passed(module: str, source: str, tests: Sequence[Path]) -> bool:
    """True if the tests pass with this source of the module, in a process that imports it first."""
    child = os.fork()
    if child == 0:
        _run(module, source, tests)
    deadline = time.monotonic() + _LONGEST_WALL
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.01)


def _run(module: str, source: str, tests: Sequence[Path]) -> None:
    """The child's whole life. A mutant that never ends, or takes all memory, fails its tests."""
    code = 1
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (_LONGEST_CPU, _LONGEST_CPU))
        resource.setrlimit(resource.RLIMIT_AS, (_LARGEST, _LARGEST))
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        sys.meta_path.insert(0, _Finder(module, source))
        code = int(pytest.main([*_ARGUMENTS, *map(str, tests)]))
    finally:
        os._exit(code)


def _stages(module: str) -> list[list[Path]]:
    """The tests that a mutant of the module meets: its own first, then those of its neighbours."""
    own = [TESTS / f"test_{module}.py", *sorted(TESTS.glob(f"test_{module}_*.py"))]
    others = [TESTS / f"test_{name}.py" for name in NEIGHBOURS.get(module, ())]
    stages = ([path for path in stage if path.exists()] for stage in (own, others))
    return [stage for stage in stages if stage]


def tried(module: str, *, whole: bool, only: set[tuple[str, str, str]] | None) -> dict[str, Any]:
    """The report on a module, of whose mutants all are tried, or only some again."""
    stages = _stages(module)
    source = (CORE / f"{module}.py").read_text(encoding="utf-8")
    if not all(_is_passed(module, source, stage) for stage in stages):
        sys.exit(f"the tests of {module} fail without a mutant")
    count = 0
    survivors = []
    for mutant in mutants(module, whole=whole):
        count += 1
        if only is not None and mutant.key not in only:
            continue
        if all(_is_passed(module, mutant.source, stage) for stage in stages):
            survivors.append(dict(zip(("function", "line", "mutant"), mutant.key, strict=True)))
            print(f"{mutant.function}\n  - {mutant.line}\n  + {mutant.mutant}", flush=True)
    print(f"{module}: {count} mutants, {len(survivors)} survivors", flush=True)
    return {"mutants": count, "survivors": survivors}


def _last() -> dict[str, Any]:
    report = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.exists() else {}
    modules: dict[str, Any] = report.get("modules", {})
    return modules


def main() -> None:
    """Tries the mutants of the modules named, of the whole core without a name."""
    core = sorted(path.stem for path in CORE.glob("*.py") if path.stem not in _OUTSIDE)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", choices=[*core, []], metavar="MODULE")
    parser.add_argument("--again", action="store_true", help="only the survivors of the last run")
    parser.add_argument("--whole", action="store_true", help="all mutants, not a sample")
    asked = parser.parse_args()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    hypothesis.settings.register_profile("mutants", derandomize=True, database=None)
    hypothesis.settings.load_profile("mutants")
    gc.freeze()  # what was imported by now is no garbage, however often a child looks
    for module in asked.modules or core:
        modules = _last()
        survivors = modules.get(module, {}).get("survivors", [])
        only = {tuple(one.values()) for one in survivors} if asked.again else None
        modules[module] = tried(module, whole=asked.whole, only=only)
        known = {name: modules[name] for name in core if name in modules}
        report = {
            "tool": f"mutmut {version('mutmut')}",
            "one_in": 1 if asked.whole else _ONE_IN,
            "modules": known,
        }
        text = json.dumps(report, indent=1, ensure_ascii=False)
        RESULT.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
