"""Data cards: against hand-worked and published numbers, those of another program, numpy and plain loops."""

import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rubric_order import datasets
from rubric_order.analyses.overview.datasets import estimate as cards
from rubric_order.analyses.overview.datasets import table as datasets_table
from rubric_order.base import parquet
from rubric_order.datasets import Item, Pair
from rubric_order.datasets.rubrics import Rubric

BOOTSTRAP = {"resamples": 50, "confidence": 0.95, "seed": 1}
FEW = settings(max_examples=50)
NONE = math.nan
# Scores of 2 to 4 raters for 2 to 12 items, some missing.
MATRICES = st.integers(2, 4).flatmap(
    lambda n: st.lists(
        st.lists(st.sampled_from([1, 2, 3, 4, 5, NONE]), min_size=n, max_size=n), min_size=2, max_size=12
    )
)
# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability: 4 observers, 12 units.
PUBLISHED = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NONE, NONE, NONE],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NONE, 3],
        [NONE, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NONE],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NONE],
    ]
).T


# Ordinal alpha of `made` for six seeds, of 24 x 3 scores (all, even, odd rows), and of the published HANNA:
# what version 0.9.0 of the package krippendorff gives, which is not installed here.
THEIRS = (0.810753231, 0.768428125, 0.849158908, 0.755932998, 0.757381382, 0.702991708)
THEIRS_OF_A_CARD = (-0.012452959, 0.014454244, -0.007296311)
THEIRS_OF_HANNA = {"all": 0.236155261, "coherence": 0.128343892, "complexity": 0.084410959, "empathy": 0.110788162}
THEIRS_OF_HANNA |= {"engagement": 0.067221809, "relevance": 0.130899629, "surprise": 0.082966231}


def made(seed):
    """Scores of 3 or 4 raters for 15 items that they mostly agree on, a fifth missing."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(1, 6, (15, 1)) + rng.integers(-1, 2, (15, 3 + seed % 2))
    scores = np.clip(scores, 1, 5).astype(float)
    scores[rng.random(scores.shape) < 0.2] = NONE
    return scores


def whole(statistic, scores):
    """A statistic of a sample in which each item is a group of its own and counts once."""
    scores = np.asarray(scores, dtype=float)
    return float(statistic(scores, np.arange(len(scores)), np.ones(len(scores))))


def plain_alpha(scores):
    """Ordinal alpha by its definition: disagreement within items over disagreement among all scores, pair by pair."""
    units = [[score for score in unit if not math.isnan(score)] for unit in scores]
    units = [unit for unit in units if len(unit) > 1]
    everything = [score for unit in units for score in unit]

    def difference(a, b):
        low, high = min(a, b), max(a, b)
        between = sum(low <= score <= high for score in everything)
        return (between - (everything.count(low) + everything.count(high)) / 2) ** 2 if low != high else 0

    if len(set(everything)) < 2:
        return math.nan
    n = len(everything)
    within = sum(difference(a, b) / (len(unit) - 1) for unit in units for a, b in itertools.permutations(unit, 2))
    among = sum(difference(a, b) for a, b in itertools.permutations(everything, 2))
    return 1 - (within / n) / (among / (n * (n - 1)))


def plain_rater_vs_rest(scores):
    values = []
    for rater in range(len(scores[0])):
        mine, rest = [], []
        for unit in scores:
            others = [s for place, s in enumerate(unit) if place != rater and not math.isnan(s)]
            if others and not math.isnan(unit[rater]):
                mine.append(unit[rater])
                rest.append(sum(others) / len(others))
        if len(mine) < 2 or len(set(mine)) == 1 or np.ptp(rest) < 1e-12:
            return math.nan
        values.append(np.corrcoef(mine, rest)[0, 1])
    return sum(values) / len(values)


# Krippendorff's alpha.


def test_alpha_of_krippendorffs_own_example():
    assert whole(cards.krippendorff_alpha, PUBLISHED) == pytest.approx(0.815, abs=0.0005)
    assert plain_alpha(PUBLISHED) == pytest.approx(0.815, abs=0.0005)


def test_alpha_of_a_hand_worked_case():
    # Pairs 11, 22, 12: three scores of each kind, two coincidences 1-2 of six: 1 - (6 - 1) * 1 / (3 * 3).
    assert whole(cards.krippendorff_alpha, [[1, 1], [2, 2], [1, 2]]) == pytest.approx(4 / 9)
    # Scores 1, 1, 3, 5: differences 1-3 1.5, 1-5 2.5, 3-5 1. Within, 2 ordered pairs: 2 * 1; among all 12:
    # 4 * 1.5^2 + 4 * 2.5^2 + 2 * 1 = 36.
    assert whole(cards.krippendorff_alpha, [[1, 1], [3, 5]]) == pytest.approx(1 - (2 / 4) / (36 / 12))


@FEW
@given(MATRICES)
def test_alpha_agrees_with_plain_loops(scores):
    alpha = whole(cards.krippendorff_alpha, scores)
    assert alpha == pytest.approx(plain_alpha(scores), abs=1e-9, nan_ok=True)


def test_alpha_agrees_with_what_another_program_gave():
    assert [whole(cards.krippendorff_alpha, made(seed)) for seed in range(6)] == pytest.approx(THEIRS, abs=1e-8)


@FEW
@given(MATRICES, st.randoms())
def test_alpha_ignores_the_order_of_items_and_raters_and_the_distance_of_levels(scores, random):
    alpha = pytest.approx(whole(cards.krippendorff_alpha, scores), abs=1e-9, nan_ok=True)
    raters = random.sample(range(len(scores[0])), len(scores[0]))
    shuffled = np.array(random.sample(scores, len(scores)))[:, raters]
    assert whole(cards.krippendorff_alpha, shuffled) == alpha
    assert whole(cards.krippendorff_alpha, np.array(scores) ** 3 - 7) == alpha
    assert whole(cards.krippendorff_alpha, -np.array(scores)) == alpha


def test_alpha_is_one_where_all_agree_and_about_zero_where_scores_are_random():
    assert whole(cards.krippendorff_alpha, [[1, 1, 1], [4, 4, 4], [2, 2, NONE]]) == pytest.approx(1)
    random = np.random.default_rng(1).integers(1, 6, (4000, 3))
    assert whole(cards.krippendorff_alpha, random) == pytest.approx(0, abs=0.03)


# One rater against the rest.


def test_rater_vs_rest_of_a_hand_worked_case():
    # Rater 1: 1, 2, 3 with 1.5, 2, 2.5 is 1; rater 2: 1, 3, 2 with 1.5, 1.5, 3 is 0; so is 2, 1, 3 with 1, 2.5, 2.5.
    assert whole(cards.rater_vs_rest, [[1, 1, 2], [2, 3, 1], [3, 2, 3]]) == pytest.approx(1 / 3)


def test_rater_vs_rest_of_two_raters_is_their_correlation():
    first, second = np.random.default_rng(2).integers(1, 6, (2, 40))
    assert whole(cards.rater_vs_rest, np.transpose([first, second])) == pytest.approx(np.corrcoef(first, second)[0, 1])


@FEW
@given(MATRICES)
def test_rater_vs_rest_agrees_with_numpy_and_plain_loops(scores):
    assert whole(cards.rater_vs_rest, scores) == pytest.approx(plain_rater_vs_rest(scores), abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("constant", [3, 3.3, 7 / 3])
def test_rater_vs_rest_is_undefined_where_a_rater_gives_one_score(constant):
    scores = np.random.default_rng(3).integers(1, 6, (1600, 3)).astype(float)
    scores[:, 1] = constant
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(whole(cards.rater_vs_rest, scores))
        assert np.isnan(whole(cards.rater_vs_rest, scores[:, :1]))


def test_a_rater_who_never_scored_with_another_leaves_it_undefined():
    assert np.isnan(whole(cards.rater_vs_rest, [[1, 2, NONE], [2, 3, NONE], [NONE, NONE, 4]]))


# Resamples.


@pytest.mark.parametrize("statistic", [cards.krippendorff_alpha, cards.rater_vs_rest])
def test_a_group_that_counts_twice_is_as_if_its_items_stood_there_twice(statistic):
    rng = np.random.default_rng(4)
    scores = rng.integers(1, 6, (30, 3)).astype(float)
    scores[rng.random(scores.shape) < 0.1] = NONE
    groups = rng.permutation(np.arange(30) % 7)
    weights = rng.multinomial(7, np.full(7, 1 / 7), size=12).astype(float)
    values = statistic(scores, groups, weights)
    assert values.shape == (12,)
    for value, counts in zip(values, weights, strict=True):
        repeated = np.concatenate([scores[groups == group] for group, n in enumerate(counts) for _ in range(int(n))])
        assert value == pytest.approx(whole(statistic, repeated), abs=1e-9, nan_ok=True)


@pytest.mark.slow
def test_intervals_agree_with_scipys_bootstrap_of_items():
    rng = np.random.default_rng(5)
    scores = np.clip(rng.integers(1, 6, (60, 1)) + rng.integers(-1, 2, (60, 3)), 1, 5)
    row = describe(scores.tolist(), resamples=4000).iloc[0]
    for name, plain in (("alpha", cards.krippendorff_alpha), ("rater_vs_rest", cards.rater_vs_rest)):
        theirs = stats.bootstrap(
            (np.arange(60),),
            lambda drawn, plain=plain: whole(plain, scores[drawn]),
            vectorized=False,
            method="percentile",
            n_resamples=2000,
            rng=np.random.default_rng(6),
        ).confidence_interval
        width = theirs.high - theirs.low
        assert row[f"{name}_low"] == pytest.approx(theirs.low, abs=0.1 * width)
        assert row[f"{name}_high"] == pytest.approx(theirs.high, abs=0.1 * width)


# The table.


def entries(human, *, labels=None, criteria=("quality",), group_size=1, response="Two words."):
    """Items with the given scores; criteria in turn, and as many items per group as `group_size` says."""
    for place, scores in enumerate(human):
        criterion = criteria[place % len(criteria)]
        yield Item(
            where=f"item {place}",
            item_id=f"i{place:03d}",
            group_id=f"g{place // group_size:03d}",
            candidate=f"model{place // len(criteria) % 2}",
            instruction="Do.",
            response=response,
            rubric=Rubric(criterion, criterion, "Is it?", ("no", "yes")),
            human_scores=scores,
            reference_labels=labels[place] if labels else [],
        )


def describe(human, *, pairs=(), resamples=50, **options):
    prepared = datasets.prepare("d", [*entries(human, **options), *pairs])
    return cards.estimate(prepared.items, prepared.pairs, **BOOTSTRAP | {"resamples": resamples})


def test_a_card_counts_items_groups_candidates_criteria_pairs_raters_and_scores():
    human = [[1, 2], [3], [5, 5], [], [2, 2], [4, 4], [1, 1], [2.5, 9]]
    pair = Pair("pair", "p", "g000", "i000", "i002", criterion="coherence")
    table = describe(human, criteria=("coherence", "empathy"), group_size=4, pairs=[pair])
    assert table["criterion"].tolist() == ["all", "coherence", "empathy"]
    card, coherence, empathy = table.to_dict("records")
    expected = {"n_items": 8, "n_groups": 2, "n_candidates": 2, "n_criteria": 2, "n_pairs": 1, "n_responses": 4}
    assert {name: card[name] for name in expected} == expected
    assert [card[name] for name in ("n_raters", "n_rated", "n_scores")] == [2, 7, 13]
    assert card["score_mean"] == pytest.approx(41.5 / 13)
    shares = [card[f"share_{score}"] for score in (1, 2, 3, 4, 5, "other")]
    assert np.multiply(shares, 13) == pytest.approx([3, 3, 1, 2, 2, 2])
    assert [coherence["n_items"], coherence["n_pairs"], coherence["n_scores"]] == [4, 1, 8]
    assert [empathy["n_items"], empathy["n_pairs"], empathy["n_scores"]] == [4, 0, 5]


def test_lengths_are_of_distinct_responses_in_characters_and_words():
    items = datasets.prepare(
        "d",
        [
            *entries([[1], [2]], criteria=("a", "b"), group_size=2, response="één twee\ndrie"),
            Item("x", "x", "x", "m", "Do.", "Word", Rubric("a", "a", "Is it?", ("no", "yes"))),
        ],
    )
    card = cards.estimate(items.items, items.pairs, **BOOTSTRAP).iloc[0]
    assert card["n_responses"] == 2
    assert card[["characters_mean", "characters_min", "characters_max"]].tolist() == [8.5, 4, 13]
    assert card[["words_mean", "words_min", "words_max"]].tolist() == [2, 1, 3]


def test_agreement_of_a_card_is_that_of_its_items_and_each_criterion():
    rng = np.random.default_rng(7)
    human = rng.integers(1, 6, (24, 3))
    table = describe(human.tolist(), criteria=("coherence", "empathy"), group_size=2)
    parts = zip(table.itertuples(), (human, human[::2], human[1::2]), THEIRS_OF_A_CARD, strict=True)
    for row, mine, theirs in parts:
        assert row.alpha == pytest.approx(theirs, abs=1e-8)
        assert row.rater_vs_rest == pytest.approx(plain_rater_vs_rest(mine.astype(float).tolist()))
        assert row.alpha_low < row.alpha < row.alpha_high
        assert row.rater_vs_rest_low < row.rater_vs_rest < row.rater_vs_rest_high


def test_reference_labels_have_a_row_of_their_own():
    labels = [[1, 1, 2], [3, 3, 3], [5, 4, 5]]
    table = describe([[2], [3], [4]], labels=labels)
    assert table[["source", "criterion", "n_raters", "n_scores"]].to_numpy().tolist() == [
        ["human", "all", 1, 3],
        ["reference", "all", 3, 9],
    ]
    assert table["alpha"].isna().tolist() == [True, False]
    assert table["alpha"][1] == pytest.approx(plain_alpha(labels))
    assert describe([[], [], []], labels=labels)["source"].tolist() == ["reference"]


def test_without_scores_a_card_has_sizes_only_and_its_numbers_stay_numbers():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = describe([[], [], []])
    card = table.iloc[0]
    assert card[["source", "n_items", "n_raters", "n_rated", "n_scores"]].tolist() == ["none", 3, 0, 0, 0]
    empty = ["score_mean", "share_1", "share_other", "alpha", "alpha_low", "rater_vs_rest", "rater_vs_rest_high"]
    assert table[empty].isna().all(axis=None)
    assert table[empty].select_dtypes(float).shape[1] == len(empty)


def test_one_group_has_agreement_without_an_interval():
    card = describe([[1, 2], [3, 3], [5, 4]], group_size=3).iloc[0]
    assert card["alpha"] == pytest.approx(plain_alpha([[1, 2], [3, 3], [5, 4]]))
    assert card[["alpha_low", "alpha_high", "rater_vs_rest_low", "rater_vs_rest_high"]].isna().all()


def test_row_order_and_other_datasets_change_nothing_and_the_seed_does():
    human = np.random.default_rng(8).integers(1, 6, (20, 3)).tolist()
    prepared = datasets.prepare("d", entries(human, group_size=2))
    table = cards.estimate(prepared.items, prepared.pairs, **BOOTSTRAP)
    both = pd.concat([prepared.items.sample(frac=1, random_state=1), prepared.items.assign(dataset="a")])
    again = cards.estimate(both, prepared.pairs, **BOOTSTRAP)
    assert again["dataset"].tolist() == ["a", "d"]
    pd.testing.assert_frame_equal(again[1:].reset_index(drop=True), table)
    other = cards.estimate(prepared.items, prepared.pairs, **BOOTSTRAP | {"seed": 2})
    assert other["alpha_low"][0] != table["alpha_low"][0]


def test_files_of_datasets_with_and_without_scores_and_pairs_are_read_together(tmp_path):
    rated = datasets.prepare("rated", entries([[1, 2], [3, 3]]))
    pair = Pair("pair", "p", "g000", "i000", "i001", criterion="quality")
    paired = datasets.prepare("paired", [*entries([[], []], group_size=2), pair])
    paths = {"items": [], "pairs": []}
    for name, prepared in (("rated", rated), ("paired", paired)):
        for kind, found in paths.items():
            found.append(tmp_path / f"{name}_{kind}.parquet")
            parquet.write(getattr(prepared, kind), found[-1])
    table = cards.estimate(
        parquet.read(paths["items"], cards.COLUMNS["items"]),
        parquet.read(paths["pairs"], cards.COLUMNS["pairs"]),
        **BOOTSTRAP,
    )
    assert table[["dataset", "source", "n_pairs"]].to_numpy().tolist() == [["paired", "none", 1], ["rated", "human", 0]]


# The table of datasets.


def test_the_printed_table_has_one_row_a_dataset_and_source_and_the_csv_every_criterion():
    statistics = pd.concat(
        [
            describe([[1, 2], [3, 3], [5, 5], [2, 2]], criteria=("coherence", "empathy"), group_size=2),
            describe([[1], [4]]).assign(dataset="one"),
            describe([[], []]).assign(dataset="unrated"),
        ]
    )
    table = datasets_table.TABLE.table(statistics)
    assert table["criterion"].tolist() == ["all", "coherence", "empathy", "all", "all"]
    printed = datasets_table.TABLE.printout(table).set_index("dataset")
    assert printed["scored by"].to_dict() == {"d": "2 raters", "one": "1 rater", "unrated": "none"}
    assert printed.loc["d", ["items", "groups", "criteria", "pairs"]].tolist() == [4, 2, 2, 0]
    assert printed["% of scores 1 to 5"].tolist() == ["12 / 38 / 25 / 0 / 25", "50 / 0 / 0 / 50 / 0", ""]
    assert printed["mean score"].tolist() == ["2.88", "2.50", ""]
    assert printed["words (min, max)"].tolist() == ["2 (2, 2)"] * 3
    assert printed["alpha"].tolist()[1:] == ["undefined"] * 2


# The published data.


def test_the_published_hanna_agrees_with_another_program_and_numpy(mirror, root):
    folder = mirror / "hanna"
    paths = {"stories": folder / "hanna_llm_stories.csv", "ratings": folder / "hanna_metric_scores_llm.csv"}
    entries = datasets.read("hanna", paths | {"rubrics": root / "resources/rubrics/hanna.yaml"})
    prepared = datasets.prepare("hanna", entries)
    table = cards.estimate(prepared.items, prepared.pairs, **BOOTSTRAP).set_index("criterion")
    for criterion, row in table.iterrows():
        mine = prepared.items if criterion == "all" else prepared.items.query("criterion == @criterion")
        scores = np.array(mine["human_scores"].tolist())
        assert row["alpha"] == pytest.approx(THEIRS_OF_HANNA[criterion], abs=1e-8)
        rest = [np.corrcoef(scores[:, r], np.delete(scores, r, axis=1).mean(axis=1))[0, 1] for r in range(3)]
        assert row["rater_vs_rest"] == pytest.approx(np.mean(rest))
    assert table.loc["all", ["n_items", "n_groups", "n_responses", "n_raters", "n_scores"]].tolist() == [
        *(576, 96, 96, 3, 1728)
    ]
