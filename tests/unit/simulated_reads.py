"""Reads of a made-up judge, as `scores.score_reads` returns them: quick, and of any size."""

import numpy as np
import pandas as pd

from rubric_order.prompts import orderings


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
    **keys,
):
    """One judge's reads of one dataset.

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
        keys: `study`, `judge`, `profile`, `dataset`.
    """
    rng = np.random.default_rng(seed)
    preference = np.zeros(n) if preference is None else np.asarray(preference, dtype=float)
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
    items["human_score"] = raters.sum(axis=0) / 3 if human else np.nan
    parts = []
    for strategy in strategies:
        if strategy == "random":
            shown = np.stack([orderings.choose("random", n, budget=reads, rng=rng) for _ in range(len(items))])
        else:
            one = orderings.choose(strategy, n, budget=reads)
            shown = np.broadcast_to(one, (len(items), *one.shape))
        count = shown.shape[1]
        worth = -sharpness * np.abs(shown - quality[:, None, None]) + preference
        chosen = (worth + noise * rng.gumbel(size=shown.shape)).argmax(axis=-1)
        score = np.take_along_axis(shown, chosen[..., None], axis=-1)[..., 0].ravel()
        part = items.loc[np.repeat(items.index, count)].reset_index(drop=True)
        part["strategy"], part["n"] = strategy, n
        part["read_index"] = np.tile(np.arange(count), len(items))
        part["ordering"] = list(shown.reshape(-1, n))
        failed = rng.random(len(part)) < failing
        part["score"] = pd.array(np.where(failed, 0, score), dtype="Int8")
        part["position"] = pd.array(chosen.ravel() + 1, dtype="Int8")
        part.loc[failed, ["score", "position"]] = pd.NA
        part["failure"] = np.where(failed, "no_score", None)
        part["expected_score"], part["position_probabilities"] = np.nan, None
        if soft:
            weights = np.exp((worth - worth.max(axis=-1, keepdims=True)) / max(noise, 1e-3))
            shares = weights / weights.sum(axis=-1, keepdims=True)
            part["expected_score"] = (shares * shown).sum(axis=-1).ravel()
            part["position_probabilities"] = list(shares.reshape(-1, n))
        parts.append(part)
    table = pd.concat(parts, ignore_index=True)
    named = {"study": "s", "judge": "j", "profile": "default", "dataset": "d"} | keys
    for place, (name, value) in enumerate(named.items()):
        table.insert(place, name, value)
    return table
