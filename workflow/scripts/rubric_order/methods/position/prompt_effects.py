"""Effects of the prompt on a score: the score's position, its ID in the prompt, and a reference answer.

As `preference`, with log-weight a[i, s] + x_r(s) @ b of score s in read r: the log-odds of two reads are (x_1(u) +
x_2(v) - x_1(v) - x_2(u)) @ b.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rubric_order.methods.position.preference import centred
from rubric_order.methods.uncertainty import cluster_robust, conditional_logit

CELLS_AT_ONCE = 4_000_000
POSITION, ID, PRESENCE, NUMBER, TEXT = "position", "id", "presence", "number", "text"


class Terms(NamedTuple):
    """Columns of x (items, reads, n, columns), named by kind and position, ID or score (empty for attractions)."""

    names: list[tuple[str, str]]
    values: np.ndarray


def terms(places: np.ndarray, ids: np.ndarray, shown: np.ndarray, text: np.ndarray) -> Terms:
    """Columns of x: position, ID, presence of a reference answer, and attraction to its stated score (`NUMBER`) and to
    its `text` (`TEXT`), minus the distance.

    Presence has a column per score if only some reads show an answer: harsher then is no attraction.
    """
    items, reads, n = places.shape
    labels = list(dict.fromkeys(ids.ravel().tolist()))
    columns = [(np.eye(n)[places], [(POSITION, str(place + 1)) for place in range(n)])]
    number = np.array([[labels.index(label) for label in row] for row in ids.tolist()])
    of_ids = np.broadcast_to(np.eye(len(labels))[number], (items, reads, n, len(labels)))
    columns.append((of_ids, [(ID, label) for label in labels]))
    present = text > 0
    if present.any() and not present.all():
        of_presence = present[:, None, None] * np.eye(n)
        columns.append(
            (np.broadcast_to(of_presence, (items, reads, n, n)), [(PRESENCE, str(s)) for s in range(1, n + 1)])
        )
    for kind, level in ((NUMBER, shown), (TEXT, text)):
        if level.any():
            away = -np.abs(np.arange(1, n + 1) - level[:, None]) * (level > 0)[:, None]
            columns.append((np.broadcast_to(away[None, :, :, None], (items, reads, n, 1)), [(kind, "")]))
    column_names = [name for _, block_names in columns for name in block_names]
    return Terms(column_names, np.concatenate([values for values, _ in columns], axis=-1).astype(float))


def score_sums(of: Terms, scores: np.ndarray) -> cluster_robust.Sums:
    """Sums over each item, for the fit of b to scores (items, reads), from 0, -1 without one."""
    first, second = np.triu_indices(scores.shape[1], 1)
    step = max(1, CELLS_AT_ONCE // max(len(first) * len(of.names), 1))
    rows = [np.empty((0, len(of.names)))]
    items: list[np.ndarray] = [np.empty(0, dtype=int)]
    for start in range(0, len(scores), step):
        part, x = scores[start : start + step], of.values[start : start + step]
        item, pair = np.nonzero((part[:, first] != part[:, second]) & (part[:, first] >= 0) & (part[:, second] >= 0))
        one, other = first[pair], second[pair]
        u, v = part[item, one], part[item, other]
        row = x[item, one, u] + x[item, other, v] - x[item, one, v] - x[item, other, u]
        moved = row.any(axis=1)
        rows.append(row[moved])
        items.append(start + item[moved])
    data = conditional_logit.comparisons(np.concatenate(rows), np.concatenate(items))
    return conditional_logit.sums(data._replace(n_clusters=len(scores)))


def probability_sums(of: Terms, probabilities: np.ndarray) -> cluster_robust.Sums:
    """Sums over each item, for the fit of b to log-probabilities by least squares. A score with probability 0 in one
    read is left out of the item's.
    """
    usable = ~np.isnan(probabilities).any(axis=2)
    possible = ((probabilities > 0) | ~usable[..., None]).all(axis=1)
    several = (possible.sum(axis=1) > 1) & (usable.sum(axis=1) > 1)
    used = usable[:, :, None] & possible[:, None, :] & several[:, None, None]
    values = np.log(probabilities, out=np.zeros(probabilities.shape), where=used)
    items, reads, n = probabilities.shape
    k = len(of.names)
    right, information = np.zeros((items, k)), np.zeros((items, k, k))
    step = max(1, CELLS_AT_ONCE // (reads * n * k))
    for start in range(0, items, step):
        rows = slice(start, start + step)
        y = centred(values[rows], used[rows]).reshape(-1, reads * n, 1)
        x = centred(of.values[rows], used[rows][..., None]).reshape(-1, reads * n, k)
        right[rows], information[rows] = (x * y).sum(axis=1), x.transpose(0, 2, 1) @ x
    return cluster_robust.least_squares(right, information)


def contrasts(
    names: Sequence[tuple[str, str]], styles: Sequence[Sequence[str]]
) -> Mapping[tuple[str, str], np.ndarray]:
    """Weights of contrasts of b: a position or presence less its mean, an ID less the one that a reversed mapping of
    its style exchanges it with, each attraction.
    """
    weights = {}
    one = np.eye(len(names))
    for centred_kind in (POSITION, PRESENCE):
        places = [place for place, (kind, _) in enumerate(names) if kind == centred_kind]
        for place in places:
            weights[names[place]] = one[place] - one[places].mean(axis=0)
    at = {name: place for place, (kind, name) in enumerate(names) if kind == ID}
    for style in styles:
        for low, high in list(zip(style, style[::-1], strict=True))[: len(style) // 2]:
            weights[ID, f"{high} - {low}"] = one[at[high]] - one[at[low]]
    return weights | {name: one[place] for place, name in enumerate(names) if name[0] in (NUMBER, TEXT)}
