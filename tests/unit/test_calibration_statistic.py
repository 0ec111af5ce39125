"""The statistic `calibration`: errors of single reads against reads that they have no part in, its table and figure."""

import itertools

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from factories import score_table, simulated_reads

from rubric_order.base.labels import Labels
from rubric_order.extras.one_read.agreement.calibration import estimate as calibration
from rubric_order.extras.one_read.agreement.calibration import figure
from rubric_order.extras.one_read.agreement.calibration import table as layout
from rubric_order.extras.one_read.methods.calibration import evidence, learning
from rubric_order.figures import view
from rubric_order.library import estimates
from rubric_order.methods.position import blocks
from rubric_order.methods.uncertainty import resampling
from rubric_order.prompts import orderings
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation

OPTIONS = {"confidence": 0.95, "seed": 1}
BALANCED = orderings.balanced(5)
FIRST = Simulation(preference="first", preference_strength=1.5, prompts=0.3)


def made(of=FIRST, *, groups=24, candidates=2, seed=1, strategy="balanced", **about):
    reads = studies.read_items(of, n=5, strategies=[strategy], groups=groups, candidates=candidates, seed=seed)
    return studies.as_scores(reads, candidates=candidates, **{"study": "s", "dataset": "d"} | about)


@pytest.fixture(scope="module")
def scores():
    return made()


@pytest.fixture(scope="module")
def rows(scores):
    return calibration.estimate(scores, **OPTIONS, groups=[6, 12, 13], draws=8)


def value(rows, quantity="rmse", *, readout="hard", design="usual", reads=1, kind="none", column="estimate", **more):
    chosen = rows.query("quantity == @quantity and readout == @readout and design == @design and calibration == @kind")
    chosen = chosen[chosen["reads"] == reads]
    for name, wanted in more.items():
        chosen = chosen[chosen[name] == wanted]
    (found,) = chosen[column]
    return found


def matrix(scores, column):
    """Items by orderings, in the order of `BALANCED`, and human scores."""
    table = scores.assign(number=[BALANCED.tolist().index(list(row)) for row in scores["ordering"]])
    wide = table.astype({column: float}).pivot(index="item_id", columns="number", values=column)
    return wide.to_numpy(), table.groupby("item_id")["human_score"].first().to_numpy()


def levels(values):
    """Means of both halves, less what they add to the mean of both in other groups; two items are a group."""
    halved = np.stack([values[:, :5].mean(axis=1), values[:, 5:].mean(axis=1)], axis=1)
    for i in range(len(values)):
        others = np.arange(len(values)) // 2 != i // 2
        added = values[others][:, :5].mean() - values[others].mean()
        halved[i] -= added, -added
    return halved.T


@pytest.mark.parametrize(("readout", "column"), [("hard", "score"), ("soft", "expected_score")])
def test_single_reads_as_they_are_by_a_loop(scores, rows, readout, column):
    values, human = matrix(scores, column)
    forward, reverse = levels(values)
    means = [values[:, :5].mean(axis=1), values[:, 5:].mean(axis=1)]
    apart = {"usual": values[:, 0] - reverse}
    turns = [(i, i % 10) for i in range(len(values))]
    apart["rotated"] = np.array([values[i, k] - (reverse if k < 5 else forward)[i] for i, k in turns])
    apart["random"] = np.hstack([values[:, :5] - reverse[:, None], values[:, 5:] - forward[:, None]]).ravel()
    own = {"usual": values[:, 0], "rotated": np.array([values[i, k] for i, k in turns]), "random": values.ravel()}
    people = {"usual": human, "rotated": human, "random": np.repeat(human, 10)}
    noise = ((forward - reverse) ** 2).mean() / 2
    for design, error in apart.items():
        about = {"readout": readout, "design": design}
        assert value(rows, **about) == pytest.approx(np.sqrt((error**2).mean()))
        assert value(rows, "error", **about) == pytest.approx(np.sqrt((error**2).mean() - noise))
        assert value(rows, "shift", **about) == pytest.approx(error.mean(), abs=1e-12)
        assert value(rows, "pearson", **about) == pytest.approx(np.corrcoef(own[design], people[design])[0, 1])
    both = np.concatenate([means[0] - reverse, means[1] - forward])
    assert value(rows, readout=readout, design="balanced", reads=5) == pytest.approx(np.sqrt((both**2).mean()))
    pairs = [values[:, list(two)].mean(axis=1) - reverse for two in itertools.combinations(range(5), 2)]
    pairs += [values[:, list(two)].mean(axis=1) - forward for two in itertools.combinations(range(5, 10), 2)]
    assert value(rows, readout=readout, design="random", reads=2) == pytest.approx(np.sqrt(np.square(pairs).mean()))


@pytest.mark.parametrize("readout", ["hard", "soft"])
def test_a_fold_is_corrected_by_what_other_groups_say(scores, rows, readout):
    (block,) = blocks.blocks(scores)
    laid = evidence.lay_out(block, readout)
    fold = resampling.folds(24, 5, seed=1, name="/".join(map(str, block.key)))
    corrected = np.empty(laid.values.shape)
    for one in range(5):
        inside = fold[laid.group] == one
        groups = np.unique(laid.group[~inside])
        # Learnt from a table that lacks the fold.
        kept = np.isin(scores["group_id"], block.items["group_id"].unique()[groups])
        (others,) = blocks.blocks(scores[kept])
        model = learning.learn(evidence.lay_out(others, readout).evidence(), np.arange(len(groups)))
        for i, k in itertools.product(np.flatnonzero(inside), range(10)):
            if readout == "soft":
                corrected[i, k] = model.calibrate_probabilities(laid.probabilities[i, k], laid.orderings[k])
            else:
                corrected[i, k] = model.calibrate_scores(laid.values[i, k], laid.orderings[k])
    error = corrected[:, 0] - levels(laid.values)[1]
    about = {"readout": readout, "kind": "folds"}
    assert value(rows, **about) == pytest.approx(np.sqrt((error**2).mean()))
    assert value(rows, "shift", **about) == pytest.approx(error.mean())
    before = value(rows, readout=readout)
    assert value(rows, "rmse_ratio", **about) == pytest.approx(np.sqrt((error**2).mean()) / before)
    assert value(rows, "rmse_change", **about) == pytest.approx(np.sqrt((error**2).mean()) - before)


def test_slopes_between_systems_are_ratios_of_differences_of_two_systems(scores):
    """Two systems in each of 24 groups: the ratio of differences, with both halves in the denominator."""
    named = scores.assign(candidate=scores["item_id"].astype(str).str[-1])
    assert named["candidate"].nunique() == 2
    rows = calibration.estimate(named, **OPTIONS, groups=[])
    values, _ = matrix(named, "score")
    forward, reverse = levels(values)
    second = np.arange(len(values)) % 2 == 1
    usual, first, other = (own[second].mean() - own[~second].mean() for own in (values[:, 0], forward, reverse))
    assert value(rows, "slope_systems") == pytest.approx(usual * other / (first * other))
    spread = np.cov(forward, reverse, ddof=0)[0, 1]
    assert value(rows, "slope") == pytest.approx(np.cov(values[:, 0], reverse, ddof=0)[0, 1] / spread)
    passes = (values[:, 0] >= 3.5).mean() - (reverse >= 3.5 - 1e-12).mean()
    assert value(rows, "pass_shift") == pytest.approx(passes)
    assert "slope_systems" not in set(calibration.estimate(scores.assign(candidate="x"), **OPTIONS)["quantity"])


def test_calls_hold_the_reads_that_were_learnt_on(rows):
    assert value(rows, column="calls") == 1
    assert value(rows, design="opposite", reads=2, column="calls") == 2
    assert value(rows, design="balanced", reads=5, column="calls") == 5
    # 6 groups of two items in ten orderings, shared among 48 items.
    assert value(rows, kind="groups", n_learning=6, column="calls") == pytest.approx(1 + 120 / 48)
    assert value(rows, kind="folds", column="n_learning") == pytest.approx(0.8 * 24, abs=0.01)
    assert value(rows, kind="folds", column="calls") == pytest.approx(1 + 0.8 * 480 / 48, abs=0.01)
    assert set(rows.query("calibration == 'groups'")["n_learning"]) == {6, 12}  # 13 are more than half
    assert set(rows.query("calibration == 'scores'")["readout"]) == {"hard"}


def test_what_an_item_says_elsewhere_does_not_change_its_calibrated_read(scores):
    """An item's other reads, and those of its group, are the target: a calibration that saw them would follow them."""
    for readout in ("hard", "soft"):
        (block,) = blocks.blocks(scores)
        laid = evidence.lay_out(block, readout)
        own = laid.group == 3
        values = laid.values.copy()
        values[np.ix_(own, range(1, 10))] = 6 - values[np.ix_(own, range(1, 10))]
        probabilities = laid.probabilities
        if probabilities is not None:
            probabilities = probabilities.copy()
            probabilities[np.ix_(own, range(1, 10))] = probabilities[np.ix_(own, range(1, 10))][..., ::-1]
        changed = laid._replace(values=values, probabilities=probabilities)
        settings = {"seed": 1, "folds": 5, "groups": [6], "draws": 4, "interactions": True}
        pairs = zip(
            calibration.corrected(laid, "x", **settings), calibration.corrected(changed, "x", **settings), strict=True
        )
        for before, after in pairs:
            moved = 0.0
            for one, other in zip(before.versions, after.versions, strict=True):
                assert np.array_equal(one[own, 0], other[own, 0], equal_nan=True)
                moved += np.nansum(np.abs(one[~own] - other[~own]))
            assert moved > 0  # other groups learn from them


def test_intervals_are_around_estimates_and_narrower_for_paired_differences(rows):
    known = rows.dropna(subset="ci_low")
    assert (known["ci_low"] <= known["estimate"] + 1e-12).all()
    assert (known["estimate"] <= known["ci_high"] + 1e-12).all()
    about = {"readout": "soft", "design": "random", "kind": "folds"}
    assert value(rows, "rmse_change", **about, column="ci_high") < 0
    assert value(rows, "rmse_ratio", **about, column="ci_high") < 0.6
    assert (rows["n_clusters"] == 24).all()


def test_repeats_of_an_ordering_are_no_further_reads(scores, rows):
    again = scores.assign(read_index=scores["read_index"] + 10, score=pd.array([1] * len(scores), dtype="Int8"))
    found = calibration.estimate(pd.concat([scores, again]), **OPTIONS, groups=[6, 12, 13], draws=8)
    pd.testing.assert_frame_equal(found, rows)


def test_items_that_lack_a_read_are_left_out_and_counted():
    selected = np.random.default_rng(1).integers(1, 6, (40, 10)).astype(object)
    selected[3, 4] = None
    found = calibration.estimate(score_table(selected.tolist(), soft=False), **OPTIONS)
    assert set(found["n_items"]) == {39}
    assert set(found["n_incomplete"]) == {1}
    assert set(found["readout"]) == {"hard"}
    assert "pearson" not in set(found["quantity"])


def test_an_item_without_the_probabilities_of_a_read_is_left_out(scores, rows):
    holes = scores.copy()
    holes.loc[5, "position_probabilities"] = None
    found = calibration.estimate(holes, **OPTIONS, groups=[])
    assert set(found.query("readout == 'soft'")["n_items"]) == {47}
    assert set(found.query("readout == 'hard'")["n_items"]) == {48}


def test_without_a_score_in_common_orderings_there_is_nothing_to_compare():
    for table in (
        simulated_reads(groups=8, strategies=["random", "fixed", "repeated_rotations"], human=False),
        made(groups=2),
        score_table([[1] * 5] * 20, shown=orderings.rotations(5), strategy="recorded"),
    ):
        found = calibration.estimate(table, **OPTIONS)
        assert found.empty
        rows = layout.TABLE.table(found, study="s")
        assert rows.empty
        assert layout.TABLE.printout(rows).empty


def test_three_groups_are_corrected_one_by_one_whatever_the_folds():
    found = calibration.estimate(made(groups=3), **OPTIONS, folds=2)
    assert value(found, readout="soft", kind="folds", column="n_learning") == 2
    assert value(found, readout="soft", kind="folds") > 0


def test_a_judge_that_always_says_the_same_has_no_error_and_no_correlation():
    found = calibration.estimate(score_table([[4] * 10] * 20, [1.0, 2.0, 3.0, 4.0] * 5), **OPTIONS)
    assert (found.query("quantity == 'rmse'")["estimate"].abs() < 1e-9).all()
    assert "pearson" not in set(found["quantity"])


# Table and figure.


def test_the_table_has_a_row_a_design_and_calibration(rows):
    table = layout.TABLE.table(rows, study="s")
    assert len(table) == len(rows[["readout", "design", "reads", "calibration", "n_learning"]].drop_duplicates())
    printed = layout.TABLE.printout(table)
    hard = printed[printed["readout"] == "selected option"]
    usual = hard[hard["orders"] == "usual"]
    named = [
        "",
        "by score alone (19 groups)",
        "regressed (19 groups)",
        "6 groups",
        "12 groups",
        "other folds (19 groups)",
    ]
    assert usual["calibrated"].tolist() == named
    assert usual["error"].iloc[0].startswith(f"{value(rows):.3f} [")
    assert usual["times"].iloc[0] == ""
    assert usual["times"].iloc[-1].startswith(f"{value(rows, 'rmse_ratio', kind='folds'):.2f} [")
    assert hard["orders"].tolist()[-2:] == ["opposite", "balanced"]
    assert set(printed["flag"]) == {"few clusters"}


def test_the_figure_has_a_panel_a_judge_and_dataset_and_a_line_a_method(rows, root):
    mpl.use("agg")
    other = made(Simulation(), judge="other", dataset="e", seed=2)
    table = pd.concat([rows, calibration.estimate(other, **OPTIONS, groups=[6])])
    keys = {"study": "s", "n": 5, "strategy": "balanced", "width_in": 6.5, "panel_height_in": 2.2, "columns": 2}
    labels = Labels({"other": "Other judge"}, {"d": "Data D"})
    with mpl.style.context(root / "resources/rubric_order.mplstyle"):
        drawn = view.draw(figure, table, **keys, readout="soft", labels=labels)
        nothing = view.draw(figure, table, **keys | {"strategy": "all"}, readout="soft", labels=labels)
    titles = [axis.get_title() for axis in drawn.axes if axis.get_visible()]
    assert titles == ["simulated\nData D (48 items)", "Other judge\ne (48 items)"]
    lines = {line.get_label(): line for line in drawn.axes[0].get_lines()}
    bars = {container.get_label(): container.lines[0] for container in drawn.axes[0].containers}
    assert set(bars) == set(figure.LINES)
    expected = [value(rows, readout="soft", design="random", reads=k) for k in (1, 2, 3, 4)]
    expected.append(value(rows, readout="soft", design="balanced", reads=5))
    assert bars["random orders"].get_xdata().tolist() == [1, 2, 3, 4, 5]
    assert bars["random orders"].get_ydata().tolist() == pytest.approx(expected)
    assert len(bars["usual order, calibrated"].get_xdata()) == 3  # of 6, of 12 groups, and of folds
    half = lines["error of the half"].get_ydata()[0]
    own = value(rows, "error", readout="soft", design="balanced", reads=5)
    assert half == pytest.approx(np.sqrt(expected[-1] ** 2 - own**2))
    assert "can be halved" in nothing.texts[0].get_text()
    plt.close("all")


def test_the_numbers_of_the_page_are_those_of_the_stored_reads(root):
    """Table "A real judge" of docs/calibration.md."""
    stored = pd.read_parquet(root / "docs/data/smollm2_demo.parquet")
    found = calibration.estimate(stored, confidence=0.95, seed=20261121)
    soft = found[(found["readout"] == "soft") & (found["strategy"] == "balanced")]
    page = (root / "docs/calibration.md").read_text(encoding="utf-8")
    for words, design, reads, kind in (
        ("usual order", "usual", 1, "none"),
        ("usual order, calibrated", "usual", 1, "folds"),
        ("random order", "random", 1, "none"),
        ("random order, calibrated", "random", 1, "folds"),
        ("two opposite orders", "opposite", 2, "none"),
        ("five orders", "balanced", 5, "none"),
    ):
        cells = []
        for quantity, form in (("rmse", ".3f"), ("rmse_ratio", ".2f")):
            ends = [
                value(soft, quantity, readout="soft", design=design, reads=reads, kind=kind, column=column)
                for column in ("estimate", "ci_low", "ci_high")
                if quantity == "rmse" or kind == "folds"
            ]
            cells.append("{} [{}, {}]".format(*(format(end, form) for end in ends)) if ends else "")
        assert " | ".join([f"| {words}", *cells]).rstrip() + " |" in page.replace("| |", "|  |").replace("  |", " |")
    other = stored[stored["score"] != 5]
    assert f"writes 5 in {1 - len(other) / len(stored):.0%} of its reads. All of the error" in page
    assert "of its written scores comes from three responses" in page
    assert other["item_id"].nunique() == 3


def test_the_numbers_of_two_further_judges_are_those_of_the_stored_reads(root):
    """Written scores of `local_judges`: calibration removes the bias of means, and regression makes slopes smaller."""
    stored = pd.read_parquet(root / "docs/data/local_judges.parquet")
    page = (root / "docs/calibration.md").read_text(encoding="utf-8")
    for judge, name in (("qwen_1_5b", "Qwen2.5-Coder-1.5B"), ("smollm2_135m", "SmolLM2-135M")):
        own = stored.loc[stored["judge"] == judge, ["judge", "group", "item", "ordering", "score"]]
        found = calibration.estimate(estimates.scores_of(own), confidence=0.95, seed=20261121, groups=[])
        for words, kind in (("raw", "none"), ("calibrated", "folds"), ("with regression", "regressed")):
            cells = []
            for quantity, form in (("rmse", ".2f"), ("shift", "+.2f"), ("slope", ".2f")):
                ends = [
                    value(found, quantity, kind=kind, column=column) for column in ("estimate", "ci_low", "ci_high")
                ]
                cells.append(f"{ends[0]:{form}} [{ends[1]:.2f}, {ends[2]:.2f}]")
            assert " | ".join([f"| {name if words == 'raw' else ''} | {words}", *cells]).replace("|  |", "| |") in page
