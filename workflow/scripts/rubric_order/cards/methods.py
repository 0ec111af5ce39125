"""The methods of a run in words, made from its config and results, with their references as BibTeX."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import pandas as pd

from rubric_order import strategies
from rubric_order.base import gold
from rubric_order.contracts.scores import SCORES

Cite = Callable[..., str]  # writes the citation of some keys, and notes the keys

STRATEGIES = {name: strategy.words for name, strategy in strategies.STRATEGIES.items()}

COUNTED = ("unit_id", "group_id", "failure", "n")  # columns of scores
SLOT = ["group_id", "criterion", "rubric_id", "level"]  # one reference answer is written for each combination
CITED = re.compile(r"@([\w:-]+)")  # a key in the sentences of a record


class Counts(NamedTuple):
    """Counts of one study and dataset, over all judges. `scales` are the numbers of options that were shown."""

    n_items: int
    n_groups: int
    n_reads: int
    n_failed: int
    scales: tuple[int, ...] = ()


class Answers(NamedTuple):
    """Reference answers at several scores of one dataset: wanted (by group, criterion, score), attempts, texts,
    accepted.
    """

    levels: Sequence[int]
    n_wanted: int
    n_attempts: int
    n_texts: int
    n_accepted: int

    @classmethod
    def of(cls, attempts: pd.DataFrame) -> Self:
        """Facts about the reference answers of a dataset, from a table of `contracts.items.REFERENCES`."""
        is_accepted = attempts.groupby(SLOT)["accepted"].any()
        levels = sorted(attempts["level"].astype(int).unique().tolist())
        n_texts = int(attempts["text"].notna().sum())
        return cls(levels, len(is_accepted), len(attempts), n_texts, int(is_accepted.sum()))


def counts(scores: Iterable[Path]) -> dict[str, dict[str, Counts]]:
    """`Counts` by study and dataset, from files of scores in folders of these names."""
    tables: dict[tuple[str, str], list[pd.DataFrame]] = {}
    for path in scores:
        tables.setdefault((path.parts[-3], path.parts[-2]), []).append(SCORES.read(path, columns=COUNTED))
    by_study: dict[str, dict[str, Counts]] = {}
    for (study, dataset), parts in tables.items():
        reads = pd.concat(parts)
        count = Counts(
            reads["unit_id"].nunique(),
            reads["group_id"].nunique(),
            len(reads),
            int(reads["failure"].count()),
            tuple(sorted(map(int, reads["n"].unique()))),
        )
        by_study.setdefault(study, {})[dataset] = count
    return by_study


def text(
    run: Mapping[str, Any],
    *,
    counts: Mapping[str, Mapping[str, Counts]],
    versions: Mapping[str, Mapping[str, Mapping[str, int]]],
    statistics: Iterable[str],
    software: Mapping[str, str],
    library: str,
    references: Mapping[str, Answers] = MappingProxyType({}),
) -> tuple[str, str]:
    """Methods of a run as Markdown, citing by ``[@key]``, and the references as BibTeX, from those in `library`.

    `run`: `studies` (with `permutes` and `source` of the probe), `judges`, `datasets`, `statistics`, perhaps
    `references`, `described` (sentences of each statistic, and whether its intervals are `resampled`), `packages`
    (`package`, `version` and `references` of each statistic of another package) and `rehearsal`, a sentence.
    `versions`: answers by judge, kind and version. `software`: versions by package.
    """
    cited: list[str] = ["rubric_order", "snakemake"]

    def cite(*keys: str) -> str:
        cited.extend(keys)
        return f" [{'; '.join(f'@{key}' for key in keys)}]" if keys else ""

    parts = [
        "# Methods",
        *([f"**{run['rehearsal']}**"] if "rehearsal" in run else []),
        f"We used rubric-order {software['rubric-order']}{cite('rubric_order')}, a Snakemake workflow"
        f"{cite('snakemake')}. {_versions(software)}",
        "## Data",
        *_data(run, counts, cite),
        "## Judges",
        *(_judge(facts, versions.get(name, {}), cite) for name, facts in run["judges"].items()),
        *(["## Reference answers"] if references else []),
        *(_references(name, run, answers, cite) for name, answers in references.items()),
        "## Design",
        *(_study(name, study, counts.get(name, {}), cite) for name, study in run["studies"].items()),
        "## Analysis",
        gold.worded(
            _analysis(run, sorted(set(statistics)), cite),
            gold.common_kind([dataset.get("gold", gold.HUMAN) for dataset in run["datasets"].values()]),
        ),
    ]
    libraries = (*(package["references"] for package in run.get("packages", {}).values()), library)
    entries_of_all = (entry.strip() for text in libraries for entry in re.split(r"\n\s*\n", text) if entry.strip())
    entry_by_key = {entry.partition("{")[2].partition(",")[0]: entry for entry in entries_of_all}
    entries = [entry_by_key.get(key) or _dataset(key, run) for key in dict.fromkeys(cited)]
    return "\n\n".join(parts) + "\n", "\n\n".join(entries) + "\n"


def _versions(software: Mapping[str, str]) -> str:
    named = [f"{name} {version}" for name, version in software.items() if name != "rubric-order"]
    return f"It ran with {', '.join(named)}."


def _data(run: Mapping[str, Any], counts: Mapping[str, Any], cite: Cite) -> Iterable[str]:
    for name, dataset in run["datasets"].items():
        of_studies = [by_dataset[name] for by_dataset in counts.values() if name in by_dataset]
        if not of_studies:
            continue
        items, groups = max(counted.n_items for counted in of_studies), max(counted.n_groups for counted in of_studies)
        key = cite(f"data_{name}") if dataset.get("citation") else ""
        limit = f" It was limited to its first {dataset['limit']:,} groups." if dataset.get("limit") else ""
        unrated = dataset.get("gold") == gold.INTENDED
        labels = " Nobody rated it: its texts were written for levels, the intended levels." if unrated else ""
        yield f"{dataset['label']}{key} has {_many(items, 'unit')} in {_many(groups, 'group')}.{limit}{labels}"


def _judge(facts: Mapping[str, Any], versions: Mapping[str, Any], cite: Cite) -> str:
    if facts["engine"] == "recorded":
        return f"{facts['label']}: answers that had been recorded elsewhere; nothing is known of how they were sampled."
    if facts["engine"] == "simulated":
        return f"{facts['label']} is a simulated judge, whose bias was planted; its answers say nothing of any model."
    if facts["engine"] == "decisions":
        how = f"was asked by questions of type {facts['question']} over an endpoint (dialect {facts['dialect']})"
        said = f"{facts['label']} (model {facts['model']}), a decision model, {how}; it returned a probability of each"
        who = _answered(versions)
        return f"{said} level and wrote no text. What answered: {who}." if who else f"{said} level and wrote no text."
    revision = f", revision {facts['revision']}" if facts.get("revision") else ""
    how = facts["run_by"] + (cite(*facts["cited"]) if facts["cited"] else "")
    sampling = facts["sampling"]
    settings = [f"temperature {_left(sampling['temperature'])}", f"top-p {_left(sampling['top_p'])}"]
    settings += [f"at most {_left(sampling['max_tokens'])} tokens", f"seed {_left(sampling['seed'])}"]
    if "function" in facts:
        how = f"as a function of Python (`{facts['function']}`)"
        settings = ["which sampled as it does"]
    if facts["loaded"]:
        settings.append(f"number format {facts['dtype']}")
    form = "wrote feedback and then a score" if facts["answer_format"] == "feedback" else "wrote a score at once"
    who = _answered(versions)
    note = " The prompt was our own." if facts.get("template") else ""
    model = (
        f"{facts['label']} (model {facts['model']}{revision}) was run {how}, {', '.join(settings)}, and {form}.{note}"
    )
    return f"{model} What answered: {who}." if who else model


def _answered(versions: Mapping[str, Any]) -> str:
    return "; ".join(
        f"{what}: {', '.join(f'{version} ({count:,} answers)' for version, count in numbers.items())}"
        for what, numbers in sorted(versions.items())
    )


def _left(value: object) -> object:
    return "left to the endpoint" if value is None else value


def _references(name: str, run: Mapping[str, Any], made: Answers, cite: Cite) -> str:
    block, label = run["references"][name], run["datasets"][name]["label"]
    if block["file"]:
        return f"{_many(made.n_texts, 'reference answer')} of {label} came from a file of our own."
    judges = [run["judges"].get(judge, {}).get("label", judge) for judge in block["judges"]]
    by = f"written and reviewed by {judges[0]}"
    if len(judges) > 1:
        by = f"written by {judges[0]} and reviewed by {judges[1]}; the two changed roles by round"
    how = "".join(
        f" For {role} they sampled with {', '.join(f'{key} {value}' for key, value in block[role].items())}."
        for role in ("writing", "reviewing")
        if block[role]
    )
    rejected = " A writer saw what had been rejected before." if block["shows_rejected"] else ""
    levels = ", ".join(map(str, made.levels))
    return (
        f"Reference answers of {label} at the scores {levels} were {by}, in at most {_many(block['rounds'], 'round')}"
        f"{cite('li2025')}; the prompts are ours.{how}{rejected} Of {made.n_wanted:,} that were wanted (one per group,"
        f" criterion and score) {made.n_accepted:,} were accepted. The other {made.n_wanted - made.n_accepted:,} are"
        f" not shown. It took {_many(made.n_attempts, 'attempt')}, of which {made.n_texts:,} gave a text."
    )


def _study(name: str, study: Mapping[str, Any], counts: Mapping[str, Counts], cite: Cite) -> str:
    source = study["source"]
    scales = sorted({n for counted in counts.values() for n in counted.scales}) or study["scales"]
    levels = " and ".join(map(str, scales))
    orders = "; ".join(
        f"{strategy}: {STRATEGIES.get(strategy, 'see the documentation')}" for strategy in study["strategies"]
    )
    reads, failed = (sum(getattr(counted, field) for counted in counts.values()) for field in ("n_reads", "n_failed"))
    conditions = [condition for condition in study["conditions"] if condition != "baseline"]
    varied = f" Conditions: {', '.join(study['conditions'])}{cite('li2025')}." if conditions else ""
    share = f" ({failed / reads:.2%})" if reads else ""
    seed = f" Random orderings had seed {study['seed']}." if any(map(_draws, study["strategies"])) else ""
    return (
        f"Study `{name}` varied the order of {study['permutes']}{cite(source) if source else ''}, "
        f"with {levels} options. Orderings: {orders}.{seed}{varied} Its judges gave {_many(reads, 'read')}; "
        f"{failed:,}{share} gave no score and were left out of estimates."
    )


def _draws(strategy: str) -> bool:
    """True if a strategy draws orderings, as one of another package may."""
    record = strategies.STRATEGIES.get(strategy)
    return record is None or record.drawn or record.crossed == "drawn"


def _analysis(run: Mapping[str, Any], statistics: Sequence[str], cite: Cite) -> str:
    bootstrap, packages = run["statistics"]["bootstrap"], run.get("packages", {})
    described: dict[str, dict[str, Any]] = {name: run.get("described", {}).get(name, {}) for name in statistics}
    said = [
        "Unless a caption says otherwise, groups of units that share a prompt were the sample, and intervals cover "
        f"{bootstrap['confidence']:.0%}."
    ]
    if resampled := [name for name, about in described.items() if about.get("resampled")]:
        said.append(
            f"Those of {', '.join(resampled)} come from {bootstrap['resamples']:,} bootstrap resamples of groups (seed "
            f"{bootstrap['seed']})."
        )
    sentences = [text for about in described.values() if (text := about.get("methods"))]
    cite(*CITED.findall(" ".join(sentences)))
    said += sentences
    others = [name for name, about in described.items() if name not in packages and not about.get("methods")]
    if others:
        said.append(f"Further statistics ({', '.join(others)}) are described in the documentation of rubric-order.")
    if packages:
        listed = (f"{name} ({package['package']} {package['version']})" for name, package in packages.items())
        said.append(f"Statistics of other packages: {', '.join(listed)}.")
    return " ".join(said)


def _dataset(key: str, run: Mapping[str, Any]) -> str:
    dataset = run["datasets"][key.removeprefix("data_")]
    note = re.sub(r"([{}\\&%#_$])", r"\\\1", " ".join(dataset["citation"].split()))
    return f"@misc{{{key},\n  title = {{{dataset['label']}}},\n  note = {{{note}}}\n}}"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
