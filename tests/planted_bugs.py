"""Bugs that the tests must find: each is planted alone in a copy of the project, and the tests that must fail are run.

    python tests/planted_bugs.py [NAME ...]     # all of them, or those of some packages

Each package of the library has one or more. Prints one line for each bug, with the first test that fails, and ends with
status 1 where a bug is not caught. Pytest does not collect this file; `tests/unit/test_planted_bugs.py` checks that
each can still be planted.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = "workflow/scripts/rubric_order"
COPIED = ("Snakefile", "config", "docs", "envs", "profiles", "pyproject.toml", "resources", "tests", "workflow")
FAILED = 1  # status of pytest where tests ran and failed


class Bug(NamedTuple):
    """One mistake.

    Attributes:
        package: of the library, and the bug's name.
        path: of the module, in the library.
        right, wrong: the text that stands there, once, and what is put in its place.
        tests: files that must fail, in `tests/unit/`.
    """

    package: str
    path: str
    right: str
    wrong: str
    tests: tuple[str, ...]


BUGS = (
    Bug(  # wrong axis
        "base",
        "base/permutations.py",
        "return np.argsort(orderings, axis=-1) + 1",
        "return np.argsort(orderings, axis=0) + 1",
        ("test_permutations.py",),
    ),
    Bug(  # a whole number is another setting than the same number with a point: paid answers are not found
        "settings",
        "settings/base.py",
        "return int(value) if isinstance(value, float) and value.is_integer() else value",
        "return value",
        ("test_planning.py",),
    ),
    Bug(  # a missing value passes where none may be missing
        "contracts",
        "contracts/contract.py",
        "if not column.nullable and",
        "if column.nullable and",
        ("test_contracts.py",),
    ),
    Bug(  # what is ready-made wins over what a user wrote
        "run",
        "run/loading.py",
        "    merge(config, named)\n    return config\n",
        "    return {**named, **config}\n",
        ("test_config_loading.py",),
    ),
    Bug(  # off by one: a tie is taken for the place after the last
        "probes",
        "probes/_comparisons.py",
        "TIE if index >= candidates",
        "TIE if index > candidates",
        ("test_comparisons.py", "test_pair_order.py"),
    ),
    Bug(  # missing sort: what is drawn depends on the order of rows
        "planning",
        "planning/reads.py",
        'groups = sorted(items["group_id"].unique())',
        'groups = list(items["group_id"].unique())',
        ("test_planning.py",),
    ),
    Bug(  # scores count as done although requests failed
        "judging",
        "judging/answers.py",
        'name in now and not now[name]["failed"] and now[name]',
        "name in now and now[name]",
        ("test_answers.py",),
    ),
    Bug(  # off by one: 0 is taken for a score
        "parsing",
        "parsing/one_score.py",
        "inside = scale.lowest <= number",
        "inside = 0 <= number",
        ("test_one_score.py",),
    ),
    Bug(  # off by one in Holm's multipliers
        "methods",
        "methods/uncertainty/multiplicity.py",
        "sorted_p * (m - np.arange(m))",
        "sorted_p * (m - np.arange(1, m + 1))",
        ("test_multiplicity.py",),
    ),
    Bug(  # ddof
        "analyses",
        "analyses/agreement/human_agreement/estimate.py",
        "np.var(each, ddof=1) / len(each)",
        "np.var(each) / len(each)",
        ("test_attenuation.py",),
    ),
    Bug(  # shards are counted from 0, so that the last one's answers have no score
        "jobs",
        "jobs/parse_scores.py",
        "for shard in range(1, shards + 1)",
        "for shard in range(shards)",
        ("test_contracts.py",),
    ),
    Bug(  # ends of an interval that is turned round stay as they were
        "tables",
        "tables/spec.py",
        '(("ci_low", "ci_high"), ("ci_high", "ci_low"))',
        '(("ci_low", "ci_low"), ("ci_high", "ci_high"))',
        ("test_tables.py", "test_tables_of_orders.py"),
    ),
    Bug(  # a finding that another cause explains is a bias
        "cards",
        "cards/estimands.py",
        "return self.found and not self.small and not self.explained",
        "return self.found and not self.small",
        ("test_cards.py", "test_causes.py"),
    ),
    Bug(  # <= for <: as many groups as are needed count as too few
        "methods",
        "methods/uncertainty/enough.py",
        "return round(effective, 6) >= self.least",
        "return round(effective, 6) > self.least",
        ("test_cards.py",),
    ),
    Bug(  # off by one: one group more than the limit
        "datasets",
        "datasets/__init__.py",
        "len(groups) == limit:",
        "len(groups) > limit:",
        ("test_datasets.py",),
    ),
    Bug(  # every unit begins with the same ordering of the levels
        "prompts",
        "prompts/orderings.py",
        "(start + np.arange(reads))",
        "np.arange(reads)",
        ("test_probes.py",),
    ),
    Bug(  # people's scores stay as they were where a pair is turned round
        "intake",
        "intake/recorded/plans.py",
        "values[names.index(name)] for name in ranked",
        "values[names.index(name)] for name in names",
        ("test_recorded_reads.py",),
    ),
    Bug(  # packages of others find the checks of fields in the place of the contract of importers
        "recorded",
        "recorded/formats.py",
        "rubric_order.intake.recorded.formats import",
        "rubric_order.intake.recorded.fields import",
        ("test_plugins.py",),
    ),
    Bug(  # equal texts count as equal answers, also where one was cut off
        "scoring",
        "scoring/scores.py",
        'key = (text, finish_reason == "length", constrained, asked)',
        "key = (text, False, constrained, asked)",
        ("test_scores.py",),
    ),
    Bug(  # what a group shares is drawn for each item
        "simulation",
        "simulation/judge.py",
        "normals(group, _GROUP_ERROR, 1)",
        "normals(item, _GROUP_ERROR, 1)",
        ("test_simulation_judge.py",),
    ),
    Bug(  # heights stay those of a page
        "figures",
        "figures/presets.py",
        "round(defaults[name] * preset.scale, 3)",
        "round(defaults[name], 3)",
        ("test_figure_presets.py",),
    ),
    Bug(  # texts are written as markup
        "pages",
        "pages/page.py",
        "autoescape=True",
        "autoescape=False",
        ("test_comparison.py", "test_reads_page.py", "test_summary.py"),
    ),
    Bug(  # many tests, each at the level of one
        "library",
        "library/comparison.py",
        'multiplicity.holm(np.array([row["p"] for row in rows], dtype=float))',
        'np.array([row["p"] for row in rows], dtype=float)',
        ("test_comparison.py", "test_library.py"),
    ),
    Bug(  # what a judge wrote controls the terminal
        "commands",
        "commands/__init__.py",
        "return printable(value) if _is_terminal() else value",
        "return value",
        ("test_terminal.py",),
    ),
    Bug(  # a limit that is not kept ends with status 0
        "extras",
        "extras/gate/commands/check.py",
        "raise typer.Exit(status)",
        "raise typer.Exit",
        ("test_commands.py", "test_limits.py"),
    ),
    Bug(  # levels count as shown from the lowest on, whatever their order in the prompt
        "extras",
        "extras/logs/intake/cutting.py",
        "places[label] for label in prompt.block.labels",
        "places[label] for label in labels",
        ("test_logs.py",),
    ),
)


def planted(text: str, bug: Bug) -> str:
    """The text of a module with the bug in it.

    Raises:
        ValueError: what it would replace does not stand there exactly once.
    """
    if text.count(bug.right) != 1:
        raise ValueError(f"{bug.path}: expected once, found {text.count(bug.right)} times: {bug.right!r}")
    return text.replace(bug.right, bug.wrong)


def caught_by(bug: Bug) -> str:
    """The first test of a bug that fails in a copy of the project that has it; empty where none does."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, copy / name)
        module = copy / LIBRARY / bug.path
        module.write_text(planted(module.read_text(encoding="utf-8"), bug), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        command += [f"tests/unit/{name}" for name in bug.tests]
        environment = {**os.environ, "PYTHONPATH": str(copy / "workflow" / "scripts")}
        run = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
        if run.returncode not in (0, FAILED):
            raise RuntimeError(f"{bug.package}: the tests did not run\n{run.stdout}{run.stderr}")
        first = re.search(r"^(?:FAILED|ERROR) tests/unit/(\S+)", run.stdout, re.MULTILINE)
        return first[1] if first else ""


def main(names: list[str]) -> int:
    missed = 0
    for bug in BUGS:
        if not names or bug.package in names:
            test = caught_by(bug)
            missed += not test
            print(f"{bug.package:12}{bug.path:48}{f'caught by {test}' if test else 'NOT caught'}", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
