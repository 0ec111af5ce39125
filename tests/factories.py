"""Building blocks of tests: score tables, request tables, and judges with all defaults.

A table has here the columns that the library writes, so that a column that is added is added in one place.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rubric_order import catalogue
from rubric_order.analyses.position.decisiveness import estimate as decisiveness
from rubric_order.analyses.position.order_tests import estimate as order_tests
from rubric_order.analyses.position.position_preference import estimate as position_preference
from rubric_order.analyses.position.position_selection import estimate as position_selection
from rubric_order.analyses.position.score_effects import estimate as score_effects
from rubric_order.base import permutations
from rubric_order.judging.engines import Request
from rubric_order.parsing.choices import numbers
from rubric_order.probes import Question, Shown
from rubric_order.prompts import orderings
from rubric_order.run import loading
from rubric_order.settings import judges
from rubric_order.settings.base import parse
from rubric_order.settings.config import Config

ROOT = Path(__file__).resolve().parents[1]
# Whose reads they are.
ABOUT = {"study": "s", "judge": "j", "profile": "default", "condition": "baseline", "dataset": "d"}
CRITERIA = ("wit", "plot", "style", "depth", "pace", "voice", "mood", "form", "aim")


def demo_config() -> dict:
    """The demo's config as it is written, with its ready-made dataset and judge."""
    config: dict = {}
    for path in ("config/datasets/demo.yaml", "config/judges/smollm2_135m.yaml", "config/demo.yaml"):
        loading.merge(config, parse((ROOT / path).read_text(encoding="utf-8")))
    return config


def put(content: Any, path: str, value: object) -> None:
    """Change a value of nested mappings and lists in place; GONE removes it, and mappings on the way are made."""
    *parents, last = path.split("/")
    for name in parents:
        content = content[int(name)] if isinstance(content, list) else content.setdefault(_key(content, name), {})
    key = int(last) if isinstance(content, list) else _key(content, last)
    if value == "GONE":
        del content[key]
    else:
        content[key] = value


def _key(content: Mapping[Any, object], name: str) -> object:
    """The key of a mapping that is written so, which may be a number."""
    return next((key for key in content if str(key) == name), name)


def completed(config: Mapping[str, object], folder: Path = ROOT) -> dict[str, Any]:
    """A config as the rules read it, as plain values."""
    return loading.complete(config, folder=folder).block()


def blocks_of_all_results() -> dict[str, Any]:
    """A config of all figures and tables, with every default."""
    config = {"datasets": {"demo": {"adapter": "demo"}}, "judges": {}, "studies": {}}
    results = {"tables": {name: {} for name in catalogue.TABLES}, "figures": {name: {} for name in catalogue.FIGURES}}
    return Config.read(config | results).block()


def complete_judge(**settings: object) -> judges.Judge:
    """A judge with all defaults; a vLLM judge at temperature 0 that writes a score after a prefix."""
    usual = {
        "engine": "vllm",
        "model": "org/model",
        "answer_format": "score",
        "answer_prefix": "Score: ",
        "sampling": {"temperature": 0, "max_tokens": 8},
    }
    return judges.read(_with_address(usual | settings))


def changed(judge: judges.Judge, **settings: object) -> judges.Judge:
    """A judge with other settings, as a config has them."""
    return judges.read(_with_address(judge.block() | settings))


def _with_address(settings: dict) -> dict:
    """Settings in which a judge over an endpoint has an address; nobody listens at the one that is filled in."""
    if settings["engine"] != "openai":
        return settings
    if settings.get("serve") is not None:
        return {key: value for key, value in settings.items() if key != "base_url"}
    return {"base_url": "http://127.0.0.1:9/v1"} | settings


def questions(names=("",), n=5):
    """One question for the score of a rubric, or one per criterion where there are names."""
    kind = "option" if tuple(names) == ("",) else "level"
    return tuple(Question(name, numbers(n), kind) for name in names)


def request(request_id, prompt="short", *, n=5, names=("",), ordering=None, **others):
    """A request to a judge."""
    shown = Shown(tuple(range(1, n + 1) if ordering is None else ordering))
    return Request(
        request_id,
        prompt,
        questions(names, n),
        **{"dataset": "d", "unit_id": "i", "options": numbers(n), "shown": shown} | others,
    )


def request_table(*names, prompt="short", repeat=None):
    """Requests with these ids, one row each, as planning writes them; repeats are 0, 1, 2, ... by default."""
    return pd.DataFrame(
        {
            "request_id": names,
            "prompt": prompt,
            "n": 5,
            "repeat": range(len(names)) if repeat is None else repeat,
            "profile": "default",
            "questions": [[question._asdict() for question in questions()]] * len(names),
            "options": [list(numbers(5))] * len(names),
            "dataset": "d",
            "unit_id": "i",
            "condition": "baseline",
            "ordering": [[1, 2, 3, 4, 5]] * len(names),
            "levels": [[]] * len(names),
        }
    )


def score_table(
    selected,
    human=None,
    *,
    n=5,
    shown=None,
    criteria=("quality",),
    per_group=4,
    expected=None,
    probabilities=None,
    soft=True,
    strategy="balanced",
    **about,
):
    """Reads with the given scores, as `scores.score_reads` returns them.

    Args:
        selected: score of each read (columns) of each item (rows). None is a read that failed, a text is why.
        human: human score of each item; unknown by default.
        shown: orderings of the reads, the same for each item; `balanced` by default, over and over.
        criteria: of the items, in turn.
        per_group: items of a group.
        expected: expected score of each read of each item; the selected score by default.
        probabilities: of each score, for each read of each item; one-hot on the selected score by default.
        soft: whether there are expected scores and probabilities.
        about: columns of `ABOUT`.
    """
    shown = orderings.balanced(n).tolist() if shown is None else np.asarray(shown).tolist()
    rows = []
    for item, scores in enumerate(selected):
        of_item = {
            "item_id": f"i{item:04d}",
            "group_id": f"g{item // per_group:04d}",
            "candidate": f"c{item % per_group}",
            "criterion": criteria[item % len(criteria)],
            "human_score": np.nan if human is None else human[item],
            "strategy": strategy,
            "n": n,
        }
        for read, given in enumerate(scores):
            row = of_item | {"read_index": read} | _given(given, shown[read % len(shown)], n)
            if probabilities is not None:
                row["options"] = probabilities[item][read]
            value, options = row["score"] if expected is None else expected[item][read], row.pop("options")
            row["expected_score"] = np.nan if value is None or not soft else value
            row["position_probabilities"] = [options[k - 1] for k in row["ordering"]] if options and soft else None
            rows.append(row)
    table = pd.DataFrame(rows)
    types = {"score": "Int8", "position": "Int8", "expected_score": float, "human_score": float}
    table = table.astype(types | {"position_probabilities": object})
    table["position_probabilities"] = [
        None if each is None else np.array(each) for each in table["position_probabilities"]
    ]
    return table.assign(unit_id=table["item_id"], question="", **ABOUT | about)


def _given(given, ordering, n):
    """Results of a read: `score`, `position`, `failure`, and the probability of each score (`options`)."""
    failure = "no_score" if given is None else given if isinstance(given, str) else None
    score = given if failure is None else None
    return {
        "ordering": np.array(ordering),
        "score": score,
        "position": ordering.index(score) + 1 if score in ordering else None,
        "failure": failure,
        "options": None if score is None else [float(k == score) for k in range(1, n + 1)],
    }


def random_scores(seed, *, n_items=12, n_reads=None, n=5, failing=0.2, rated=True, **options):
    """`score_table` of random scores, by default of 2n reads, and of random human ones."""
    rng = np.random.default_rng(seed)
    selected = rng.integers(1, n + 1, (n_items, n_reads or 2 * n)).astype(object)
    selected[rng.random(selected.shape) < failing] = None
    human = rng.integers(3, 3 * n + 1, n_items) / 3 if rated else None
    return score_table(selected.tolist(), human, n=n, **options)


def one_read_each(strategies, human, **options):
    """`score_table` with one read of each item under each strategy.

    Args:
        strategies: scores of the items by strategy.
    """
    parts = [
        score_table([[score] for score in scores], human, strategy=strategy, **options)
        for strategy, scores in strategies.items()
    ]
    return pd.concat(parts, ignore_index=True)


def simulated_reads(
    *,
    groups=20,
    candidates=4,
    criteria=("quality",),
    n=5,
    strategies=("balanced", "random", "fixed"),
    reads=10,
    preference=None,
    noise=0.5,
    sharpness=1.0,
    failing=0.0,
    human=True,
    soft=False,
    seed=0,
    **about,
):
    """Reads of a made-up judge of one dataset, as `scores.score_reads` returns them: quick, and of any size.

    Args:
        groups, candidates, criteria: items are their product.
        n, strategies, reads: scale, and how orderings are chosen; `reads` a strategy other than balanced and all.
        preference: what standing at each position adds to an option, shape (n,); none by default.
        noise: spread of what is drawn anew for each option and read. 0 is a judge that repeats itself.
        sharpness: what a level's distance from the item's quality costs.
        failing: share of reads without a score.
        human: whether items have human scores.
        soft: whether the probabilities of the options are known.
        seed: of everything.
        about: columns of `ABOUT`.
    """
    rng = np.random.default_rng(seed)
    preference = np.zeros(n) if preference is None else np.asarray(preference, dtype=float)
    items, quality = _made_items(rng, groups, candidates, criteria, n, human)
    parts = []
    for strategy in strategies:
        if strategy == "random":
            shown = np.stack([orderings.choose("random", n, budget=reads, rng=rng) for _ in range(len(items))])
        else:
            one = orderings.choose(strategy, n, budget=reads)
            shown = np.broadcast_to(one, (len(items), *one.shape))
        worth = -sharpness * np.abs(shown - quality[:, None, None]) + preference
        chosen = (worth + noise * rng.gumbel(size=shown.shape)).argmax(axis=-1)
        part = _chosen(items, shown, chosen, failed=rng.random(chosen.size) < failing)
        part["strategy"] = strategy
        if soft:
            weights = np.exp((worth - worth.max(axis=-1, keepdims=True)) / max(noise, 1e-3))
            shares = weights / weights.sum(axis=-1, keepdims=True)
            part["expected_score"] = (shares * shown).sum(axis=-1).ravel()
            part["position_probabilities"] = list(shares.reshape(-1, n))
        parts.append(part)
    table = pd.concat(parts, ignore_index=True)
    for place, (name, value) in enumerate((ABOUT | about).items()):
        table.insert(place, name, value)
    return table


def _made_items(rng, groups, candidates, criteria, n, human):
    """Items of `simulated_reads`, and the quality of each."""
    names = [(g, c, k) for g in range(groups) for c in range(candidates) for k in criteria]
    items = pd.DataFrame(
        {
            "item_id": [f"g{g:04d}-c{c}-{k}" for g, c, k in names],
            "group_id": [f"g{g:04d}" for g, _, _ in names],
            "candidate": [f"c{c}" for _, c, _ in names],
            "criterion": [k for _, _, k in names],
        }
    )
    quality = (
        (n + 1) / 2
        + 0.5 * np.repeat(rng.normal(size=groups), candidates * len(criteria))
        + 0.22 * n * rng.normal(size=len(items))
    )
    raters = np.clip(np.rint(quality + rng.normal(size=(3, len(items)))), 1, n)
    return items.assign(human_score=raters.sum(axis=0) / 3 if human else np.nan), quality


def _chosen(items, shown, chosen, *, failed):
    """Reads of items, without what is known of their options.

    Args:
        shown: score at each place of each read, shape (items, reads, n).
        chosen: the place that each chooses, from 0, shape (items, reads).
        failed: whether each has no score, shape (items * reads,).
    """
    _, count, n = shown.shape
    score = np.take_along_axis(shown, chosen[..., None], axis=-1)[..., 0].ravel()
    part = items.loc[np.repeat(items.index, count)].reset_index(drop=True)
    part["strategy"], part["n"] = "", n
    part["read_index"] = np.tile(np.arange(count), len(items))
    part["ordering"] = list(shown.reshape(-1, n))
    part["score"] = pd.array(np.where(failed, 0, score), dtype="Int8")
    part["position"] = pd.array(chosen.ravel() + 1, dtype="Int8")
    part.loc[failed, ["score", "position"]] = pd.NA
    part["failure"] = np.where(failed, "no_score", None)
    part["expected_score"], part["position_probabilities"] = np.nan, None
    return part


def order_tests_of(scores: pd.DataFrame | list[pd.DataFrame]) -> pd.DataFrame:
    """The tests that decide the bias cards of some scores, see `order_tests.estimate`."""
    scores = pd.concat(scores, ignore_index=True) if isinstance(scores, list) else scores
    return order_tests.estimate(
        decisiveness=decisiveness.estimate(scores),
        position_selection=position_selection.estimate(scores, resamples=20, confidence=0.95, seed=1),
        position_preference=position_preference.estimate(scores, confidence=0.95, sampling_temperatures={}),
        score_effects=score_effects.estimate(scores, confidence=0.95, seed=1, sign_changes=499),
    )


def predecessors(orderings: np.ndarray) -> np.ndarray:
    """The option right before each: entry k - 1 of a row is the one before option k, 0 where k is the first.

    Same shape as the input.
    """
    before = np.concatenate([np.zeros_like(orderings[..., :1]), orderings[..., :-1]], axis=-1)
    return np.take_along_axis(before, np.argsort(orderings, axis=-1), axis=-1)


def criteria_table(values, shown, *, human=None, groups=None, soft=None, levels=None, **about):
    """Scores of texts by reads by criteria, as `scores.score_reads` returns them.

    Args:
        values: shape (U, R, C), NaN where the answer gives none.
        shown: orderings of the criteria, shape (R, C) or (U, R, C).
        human: human score of each text and criterion; 3 by default.
        groups: name of each text's group; a text is its own by default.
        soft: expected scores, like `values`; unknown by default.
        levels: orderings of the levels, shape (U, R, n); none by default.
    """
    values = np.asarray(values, dtype=float)
    n_criteria = values.shape[2]
    shown = np.broadcast_to(shown, values.shape)
    place, before = permutations.positions_of(shown), predecessors(shown)
    text, read, criterion = (axis.ravel() for axis in np.indices(values.shape))
    names = np.array([*CRITERIA[:n_criteria], None], dtype=object)
    units = np.array([f"t{number:04d}" for number in range(len(values))], dtype=object)
    owners = [f"g{number:04d}" for number in range(len(values))] if groups is None else groups
    score, failed = values.ravel(), np.isnan(values.ravel())
    reads = pd.DataFrame(
        ABOUT
        | {"strategy": "balanced", "n": 5}
        | about
        | {
            "unit_id": units[text],
            "question": names[criterion],
            "ordering": shown[text, read].tolist(),
            "group_id": np.array(owners, dtype=object)[text],
            "item_id": units[text] + "-" + names[criterion],
            "criterion": names[criterion],
            "human_score": np.full(values.shape, 3.0).ravel()
            if human is None
            else np.asarray(human)[text, criterion].astype(float),
            "read_index": read,
            "criterion_position": place.ravel(),
            "predecessor": names[before.ravel() - 1],
            "score": pd.array(np.trunc(score), dtype="Int8"),
            "failure": np.where(failed, "no_score", None),
            "expected_score": np.nan if soft is None else np.asarray(soft, dtype=float).ravel(),
            "levels": [[]] * values.size,
            "position": pd.array([pd.NA] * len(score), dtype="Int8"),
        }
    )
    if levels is not None:
        rows = np.asarray(levels)[text, read]
        reads["levels"] = rows.tolist()
        position = np.where(failed, np.nan, (rows == score[:, None]).argmax(axis=1) + 1)
        reads["position"] = pd.array(position, dtype="Float64").astype("Int8")
    return reads


def draw_criteria(
    n_texts,
    n_criteria,
    *,
    rng,
    strategy="balanced",
    position=0.0,
    carry=0.0,
    levels=0.0,
    spread=0.7,
    noise=0.5,
    failing=0.0,
    rounded=True,
):
    """Values and orderings of a judge with planted effects.

    Args:
        position: what each position adds, one number or one per position.
        carry: share of the score before, less 3, that is added.
        levels: mean score under each criterion, less 3: one number or one per criterion.
        spread: standard deviation of a text's opinion, half of it common to all criteria.
        noise: standard deviation of a read. failing: share of missing scores.
    """
    shown = orderings.choose(strategy, n_criteria, rng=rng)
    opinion = (
        3
        + np.broadcast_to(levels, n_criteria)
        + spread * np.sqrt(0.5) * (rng.normal(size=(n_texts, 1)) + rng.normal(size=(n_texts, n_criteria)))
    )
    shift = np.broadcast_to(position, n_criteria)
    values = np.full((n_texts, *shown.shape), np.nan)
    for read, row in enumerate(shown):
        carried = 0.0
        for place, criterion in enumerate(row):
            score = opinion[:, criterion - 1] + shift[place] + carried + noise * rng.normal(size=n_texts)
            score = np.clip(np.round(score), 1, 5) if rounded else score
            values[:, read, criterion - 1] = score
            carried = carry * (score - 3)
    values[rng.random(values.shape) < failing] = np.nan
    return values, shown


def comparison_table(verdicts, *, per_group=1, per_source=1, tie=True, n=2, repeat=0, first=0, task="t", **about):
    """Reads of pairs or lists with the given verdicts, as `_comparisons.score` returns them.

    Args:
        verdicts: of each comparison, one of each cyclic order of its candidates: the place that is chosen, 0 for a tie,
            None for no choice. Shape (n_comparisons, n).
        per_group: comparisons of a group. per_source: groups that share a source.
        tie: whether a tie is offered. n: number of candidates.
        repeat: number of the run. first: number of the first comparison.
        task: of all comparisons, or one each.
        about: columns of `ABOUT`.
    """
    shown = np.array([[(start + place) % n + 1 for place in range(n)] for start in range(n)])
    rows = []
    for number, chosen in enumerate(verdicts, start=first):
        group = number // per_group
        for order, place in zip(shown, chosen, strict=True):
            rows.append(
                {
                    "unit_id": f"u{number:04d}",
                    "group_id": f"g{group:04d}",
                    "source_id": f"s{group // per_source:04d}" if per_source > 1 else f"g{group:04d}",
                    "benchmark": "B",
                    "task": task if isinstance(task, str) else task[number - first],
                    "candidates": ["base", *(f"c{number % per_group}{k}" for k in range(1, n))],
                    "candidate": f"c{number % per_group}1" if n == 2 else None,
                    "baseline": "base" if n == 2 else None,
                    "human_scores": None,
                    "lengths": None,
                    "input_length": None,
                    "criterion": "overall",
                    "n": n,
                    "strategy": "recorded" if n == 2 else "cyclic",
                    "ordering": order,
                    "repeat": repeat,
                    "tie": tie,
                    "score": None if place is None else order[place - 1] if place else 0,
                    "position": place,
                    "pattern": None if place is None else "brackets",
                    "failure": "no_score" if place is None else None,
                    "first_verdict": place,
                }
            )
    table = pd.DataFrame(rows).astype({"score": "Int8", "position": "Int8", "first_verdict": "Int8"})
    table["read_index"] = table.groupby("unit_id").cumcount()
    empty = {"option_mass": np.nan, "expected_score": np.nan, "position_probabilities": None, "ranking": None}
    about = {**ABOUT, "study": "judging_the_judges", **about}
    return table.assign(item_id=table["unit_id"], question="", **empty, **about)


def of_positions_alone(judge, weights, *, groups=40, of_score=(1, 1, 1, 1, 1)):
    """Rows of reads of a judge that weighs positions, and scores, alike in all groups; orderings are balanced."""
    usual = np.arange(1, 6)
    for group in range(groups):
        for shift in range(5):
            for ordering in (np.roll(usual, shift), np.roll(usual, shift)[::-1]):
                shares = np.array(weights) * np.array(of_score)[ordering - 1]
                read = {"item": f"i{group}", "group": f"g{group}", "judge": judge, "ordering": ordering.tolist()}
                shares = {f"p_{score}": share for score, share in zip(ordering, shares / shares.sum(), strict=True)}
                yield read | {"score": int(ordering[group % 5])} | shares
