"""Catalogue of results: the types of their records, and our records by name.

A folder of ``analyses/THEME/`` or ``extras/`` with a file ``record.py`` is a result. The name of the folder is the name
of the result, of its files and of its blocks of config. Which of a statistic, a table and a figure it has, its other
modules show. So names and modules are found without an import, and a record is imported when it is looked up. Other
packages have records of the same types; `registry` finds the results of this catalogue and of other packages.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

# Inputs of a statistic besides scores and other statistics. Each is an argument of `estimate`.
INPUTS = ("items", "pairs", "alone", "golden", "references", "answers", "published")
# Arguments of results that are made from several parts of config, see `run.results.Derived`.
DERIVED = (
    *("bases", "call_prices", "conditions", "golds", "human_scales", "judge_names", "prompt_styles"),
    *("sampling_temperatures", "setting", "temperatures"),
)


class Statistic(NamedTuple):
    """A table of estimates, one row per estimate. `estimate(...)` of its module makes the table.

    Attributes:
        question: question that the statistic answers.
        read: what to read in it.
        cannot: what it cannot say.
        probes: probes of the studies whose scores the statistic reads (argument `scores`); `ANY_PROBE` for all.
        reads: inputs of the statistic besides scores. Each is an argument:

            - `items` and `pairs` of datasets;
            - `alone`, the scores of the studies that key `alone` of the statistic's own block names;
            - `golden`, the scores of the studies that key `studies` of block `golden_scores` names;
            - `references`, the reference answers that were made;
            - `answers`, metadata of each judge's answers from its shards;
            - `published`, the tables of a paper;
            - another statistic.
        settings: blocks of config under `statistics`, or single keys of them, whose values are further arguments. If
            two entries give a key of the same name, the value of the later entry is taken.
        derived: further arguments that are taken from other parts of config (`DERIVED`).
        block: the statistic's own block of config: a dictionary from key to `vocabulary.Key`, or a subclass of
            `settings.base.Settings`.
        calibrates: whether the statistic shows calibrated scores as a separate readout, if config asks for them.
        methods: sentences for the text of methods, which cite entries of `Result.references` by ``[@key]``, and our
            sentences those of `cards/references.bib`.
    """

    probes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    settings: tuple[str, ...] = ("bootstrap",)
    derived: tuple[str, ...] = ()
    block: type | Mapping[str, Any] | None = None
    methods: str = ""
    calibrates: bool = False
    question: str = ""
    read: str = ""
    cannot: str = ""


class Shown(NamedTuple):
    """A table or a figure. `table(...)` or `draw(...)` of its module makes it.

    Attributes:
        statistics: statistics that the table or figure reads; by default the result's own. Each is an argument with the
            name of the statistic. The other arguments are the keys of its block of config.
        category: section of the report that contains the table or figure; by default the result's.
        title: its title in the report; by default the result's, with *table* or *figure* if the result has both.
        derived, block: as in `Statistic`.
        caption: what is shown and how to read it, with settings in braces; of other packages also the constant
            ``CAPTION`` of the module.
        notes: what a caption of 60 words has no room for.
        gone: dictionary from each key of its block that was removed to the reason.
    """

    statistics: tuple[str, ...] = ()
    category: str = ""
    title: str = ""
    derived: tuple[str, ...] = ()
    block: type | Mapping[str, Any] | None = None
    caption: str = ""
    notes: str = ""
    gone: Mapping[str, str] = {}


class Result(NamedTuple):
    """A result: a statistic, a table and a figure of one name, or some of these.

    Attributes:
        folder: package with one module for each of the records that exist: `estimate`, `table` or `figure`; our records
            are in this package themselves.
        statistic, table, figure: records as in this catalogue; None for a record that does not exist.
        references: BibTeX entries of the works that its methods cite, separated by empty lines.
        title, category: title and section in the report of its table and figure. Our themes have a category.
        order: place among our results, in reports and lists; results without one are last.
    """

    folder: str = ""
    statistic: Statistic | None = None
    table: Shown | None = None
    figure: Shown | None = None
    references: str = ""
    title: str = ""
    category: str = ""
    order: int = 10_000


SCORE_ORDER, CRITERION_ORDER = ("score_order",), ("criterion_order",)
COMPARING = ("pair_order", "list_order")
ANY = "any"  # means every probe, instead of a name
ANY_PROBE = (ANY,)

# From a paper to the statistics in its tables. All other statistics belong to every paper that is not listed here.
REPLICATED = {"li2025": ("scoring_accuracy", "golden_alignment"), "shi2025": ("position_consistency",)}

MODULES = {"statistics": "estimate", "tables": "table", "figures": "figure"}  # modules in the folder of a result
# Names that these modules must define. A caption is in the record, or in the module of another package's result.
PARTS = {"statistics": ("COLUMNS", "estimate"), "tables": ("TABLE",), "figures": ("draw",)}
RECORDS = {"statistics": "statistic", "tables": "table", "figures": "figure"}  # fields of `Result`
# Categories of the themes of our results.
CATEGORIES = {
    "position": "Position bias",
    "agreement": "Human agreement",
    "criteria": "Criterion order",
    "comparisons": "Comparisons",
    "scoring": "Scoring bias",
}
Part = TypeVar("Part", Statistic, Shown)


@functools.cache
def _folders() -> dict[str, Path]:
    """Dictionary from each of our results to its folder, in alphabetical order."""
    homes = (Path(__file__).with_name(name) for name in ("analyses", "extras"))
    records = (path for home in homes for path in home.rglob("record.py"))
    return {path.parent.name: path.parent for path in sorted(records, key=lambda path: path.parent.name)}


def package(name: str) -> str:
    """Dotted name of the package of one of our results."""
    return ".".join((__package__, *_folders()[name].relative_to(Path(__file__).parent).parts))


def theme(name: str) -> str:
    """Theme of one of our results: the folder that has its folder."""
    return _folders()[name].parent.name


@functools.cache
def result(name: str) -> Result:
    """The record of one of our results."""
    module: Any = importlib.import_module(f"{package(name)}.record")
    return module.RESULT


def complete(record: Result, kind: str, name: str, category: str = "") -> Any:
    """The statistic, table or figure of a record, with the statistic, title and category that it leaves out."""
    part: Statistic | Shown | None = getattr(record, RECORDS[kind])
    if not isinstance(part, Shown):
        return part
    title = f"{record.title}, {RECORDS[kind]}" if record.title and record.table and record.figure else record.title
    return part._replace(
        statistics=part.statistics or (name,),
        category=part.category or record.category or category,
        title=part.title or title,
    )


class Parts(Mapping[str, Part], Generic[Part]):
    """Our statistics, tables or figures by name. Only a record that is looked up is imported.

    Attributes:
        kind: `statistics`, `tables` or `figures`.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind

    @functools.cached_property
    def _names(self) -> dict[str, None]:
        """Names of the results whose folders have the module of this kind."""
        file = f"{MODULES[self.kind]}.py"
        return dict.fromkeys(name for name, folder in _folders().items() if (folder / file).exists())

    def __getitem__(self, name: str) -> Part:
        if name not in self._names:
            raise KeyError(name)
        part: Part = complete(result(name), self.kind, name, CATEGORIES.get(theme(name), ""))
        return part

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


STATISTICS: Mapping[str, Statistic] = Parts("statistics")
TABLES: Mapping[str, Shown] = Parts("tables")
FIGURES: Mapping[str, Shown] = Parts("figures")


def module(kind: str, name: str) -> str:
    """Dotted name of the module that makes one of our results.

    Args:
        kind: `statistics`, `tables` or `figures`.
    """
    return f"{package(name)}.{MODULES[kind]}"


def module_file(kind: str, name: str) -> str:
    """Path in the library of the file of `module`."""
    return module(kind, name).partition(".")[2].replace(".", "/") + ".py"


def fits(probe: str, among: Collection[str]) -> bool:
    """Tell whether `among`, such as `Statistic.probes` or a result of `registry.probes`, has `probe` or `ANY`."""
    return ANY in among or probe in among
