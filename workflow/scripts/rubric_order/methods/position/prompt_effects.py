"""Effects of the prompt on a score: the score's position, its ID in the prompt, and a reference answer.

In read r, a judge gives score s of item i the log-weight a[i, s] + x_r(s) @ b. Here x_r(s) describes how the prompt of
read r shows score s (see `terms`), and b contains the effects. Take two reads of an item, of which one gave score u and
the other score v. The log-odds that read 1 gave u and read 2 gave v, and not the reverse, are

    (x_1(u) + x_2(v) - x_1(v) - x_2(u)) @ b

for every item, because the a[i, s] cancel. `preference` has the same model with positions alone. If the probabilities
of all options are known, these log-odds can be computed from the logarithms of the probabilities.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rubric_order.methods.position.preference import centred
from rubric_order.methods.uncertainty import cluster_robust, conditional_logit

CELLS_AT_ONCE = 4_000_000
POSITION, ID, PRESENCE, NUMBER, TEXT = "position", "id", "presence", "number", "text"


class Terms(NamedTuple):
    """Columns of x, which describe how each read shows each score; see the module.

    Attributes:
        names: kind of each column, and what the column is about: the position from 1, the ID, or the score from 1; an
            empty string for attractions.
        values: the columns for each score in each read of each item, shape (items, reads, n, columns).
    """

    names: list[tuple[str, str]]
    values: np.ndarray


def terms(places: np.ndarray, ids: np.ndarray, shown: np.ndarray, text: np.ndarray) -> Terms:
    """Columns of x: for position, for ID, for presence of a reference answer, and for attraction to this answer.

    Args:
        places: index of each score's position in each read of each item, from 0, shape (items, reads, n).
        ids: ID of each score in each read, shape (reads, n).
        shown: score that the prompt of a read states for its reference answer, shape (reads,); 0 without a reference
            answer.
        text: score for which the reference answer was written, shape (reads,); 0 without a reference answer.

    Returns:
        The columns. There are two attractions: to the stated score (kind `NUMBER`) and to the text (kind `TEXT`). Each
        attraction has one column: minus the distance of a score from `shown`, or from `text`. An attraction has no
        column if `shown`, or `text`, is 0 in all reads. Presence has one column per score if some reads show a
        reference answer and other reads do not: a judge can be harsher whenever an answer is shown, and this is no
        attraction to the answer.
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


def of_scores(of: Terms, scores: np.ndarray) -> cluster_robust.Sums:
    """Sums over each item, for the fit of b to the scores that were given; items are the clusters.

    Args:
        of: columns of x for each score in each read of each item.
        scores: score of each read of each item, from 0, shape (items, reads); -1 for a read without a score.
    """
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


def of_probabilities(of: Terms, probabilities: np.ndarray) -> cluster_robust.Sums:
    """Sums over each item, for the fit of b to log-probabilities by least squares; items are the clusters.

    Args:
        of: columns of x for each score in each read of each item.
        probabilities: probability of each score in each read of each item, shape (items, reads, n); NaN in reads
            whose probabilities are unknown. A score with probability 0 in one read of an item is left out of all reads
            of this item.
    """
    given = ~np.isnan(probabilities).any(axis=2)
    kept = ((probabilities > 0) | ~given[..., None]).all(axis=1)
    used = given[:, :, None] & kept[:, None, :] & ((kept.sum(axis=1) > 1) & (given.sum(axis=1) > 1))[:, None, None]
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
    """Contrasts of b: a dictionary from kind and name to the weights of the columns.

    Args:
        names: kind of each column of x, and what the column is about, see `Terms`.
        styles: IDs of each style, in the order of the style. For `E`, `D`, `C`, `B`, `A`, the first ID is compared with
            the last, and the second with the last but one.

    Returns:
        The weights of four kinds of contrasts:

        - each position minus the mean of all positions;
        - the presence effect on each score minus its mean over all scores;
        - each ID in the second half of a style minus the ID with which a reversed mapping exchanges it;
        - each attraction.
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
