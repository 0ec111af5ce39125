"""Published numbers beside ours: a study whose numbers are the published ones, moved by what is known."""

import itertools

import numpy as np
import pandas as pd
import pytest
from factories import criteria_table, draw_criteria, simulated_reads
from scipy import stats

from rubric_order import tables
from rubric_order.analyses.agreement.canonical_rank import estimate as canonical_rank
from rubric_order.analyses.agreement.human_agreement import estimate as human_agreement
from rubric_order.analyses.agreement.rank_reversal import estimate as rank_reversal
from rubric_order.analyses.agreement.strategy_comparison import estimate as strategy_comparison
from rubric_order.analyses.criteria.criteria_agreement import estimate as criteria_agreement
from rubric_order.analyses.criteria.criterion_order import estimate as criterion_order
from rubric_order.analyses.position.bias_cost import estimate as bias_cost
from rubric_order.analyses.position.position_selection import estimate as position_selection
from rubric_order.analyses.position.score_position import estimate as score_position
from rubric_order.analyses.position.within_item_deviation import estimate as within_item_deviation
from rubric_order.base.errors import InputError
from rubric_order.extras.papers.replication import estimate as replication
from rubric_order.extras.papers.replication import table as layout
from rubric_order.extras.papers.rerun import estimate as rerun
from rubric_order.methods.position import uniformity

BOOTSTRAP = {"resamples": 100, "confidence": 0.95, "seed": 1}


@pytest.fixture
def published(root):
    def read(paper):
        paths = sorted((root / "resources/published").glob(f"{paper}_table[0-9]*.csv"))
        return {path.stem: pd.read_csv(path, dtype=str, keep_default_na=False) for path in paths}

    return read


def selection(judge="gpt_oss_20b", dataset="hanna", *, v=0.06, half=0.01, n=5, n_reads=5760, shares=None, **keys):
    """Statistics of positions as `position_selection.estimate` gives them, with intervals of a known width."""
    keys = {"study": "position_bias", "profile": "default", "condition": "baseline", "strategy": "balanced"} | keys
    common = keys | {"judge": judge, "dataset": dataset, "n": n, "readout": "hard", "n_items": n_reads // 10}
    common |= {"n_reads": n_reads, "n_failed": 0, "method": "", "confidence": 0.95, "seed": 1}
    rows = [{"quantity": "cramers_v", "estimate": v, "ci_low": v - half, "ci_high": v + half}]
    rows += [{"quantity": "chi2", "estimate": v**2 * n_reads * (n - 1), "p": 0.01, "p_cluster": 0.01}]
    for position, share in enumerate(shares or [1 / n] * n, start=1):
        interval = {"ci_low": share - half, "ci_high": share + half}
        rows.append({"quantity": "share", "position": position, "estimate": share} | interval)
    return pd.DataFrame([common | row for row in rows]).astype({"position": "Int8"})


def compare(tables_, *parts, judges=None, studies=("position_bias",), **others):
    statistics = {"position_selection": pd.concat(parts)} | others
    return replication.estimate(tables_, studies=studies, judges=judges or {}, **statistics)


def one(rows, **values):
    found = rows
    for column, value in values.items():
        found = found[found[column] == value]
    assert len(found) == 1, found
    return found.iloc[0]


def test_every_published_value_is_a_cell_with_the_digits_that_were_printed(published):
    sizes = {paper: replication.published_cells(published(paper)) for paper in ("xu2026", "xu2026_v1")}
    # Tables 2 to 7: 24 x 3, 24, 24, 12 x 4, 12 x 4, 18 x 2. Earlier version, 2 to 6: 14 x (6, 2, 3), 35 x 5, 7 x 4.
    assert len(sizes["xu2026"]) == 72 + 24 + 24 + 48 + 48 + 36
    assert len(sizes["xu2026_v1"]) == 84 + 28 + 42 + 175 + 28
    for cells in sizes.values():
        assert not cells.duplicated(["table", *replication.KEYS]).any()
        assert cells[["published", "digits"]].notna().all(axis=None)
    chi2 = one(sizes["xu2026"], judge="gpt_oss_20b", dataset="hanna", quantity="chi2")
    assert (chi2["published"], chi2["digits"], chi2["strategy"], chi2["n"]) == (98.7, 1, "balanced", 5)
    fixed = one(
        sizes["xu2026_v1"], judge="qwen3_8b", profile="think", dataset="summeval", quantity="pearson", strategy="fixed"
    )
    assert (fixed["published"], fixed["digits"]) == (0.415, 3)
    usual = one(sizes["xu2026_v1"], judge="gpt_4_1", quantity="pearson_rank_canonical")
    assert (usual["detail"], usual["dataset"], usual["published"], usual["digits"]) == ("", "all", 7, 0)
    least = one(sizes["xu2026_v1"], judge="gpt_4_1", quantity="bias_cost")
    assert (least["detail"], least["dataset"], least["published"]) == ("5 4 3 2 1", "all", 0.058)


def test_the_published_columns_are_those_that_are_named(published):
    for paper in ("xu2026", "xu2026_v1"):
        for name, table in published(paper).items():
            assert set(replication.PUBLISHED.get(name, {})) <= set(table), name


def test_a_number_that_is_the_published_one_is_within_its_interval(published):
    shares = [0.250, 0.2, 0.19, 0.166, 0.194]
    rows = compare(published("xu2026"), selection(v=np.sqrt(98.7 / 23040), shares=shares))
    for quantity, value in (("chi2", 98.7), ("pos1", 0.250), ("pos5", 0.194)):
        row = one(rows, judge="gpt_oss_20b", dataset="hanna", quantity=quantity)
        assert row["status"] == "compared"
        assert row["ours"] == pytest.approx(value)
        assert row["difference"] == pytest.approx(0, abs=1e-9)
        assert row["in_items"]
        assert pd.isna(row["in_rerun"])  # of reads nothing is known here
        assert (row["our_judge"], row["n_items"]) == ("gpt_oss_20b", 576)


def test_the_interval_of_chi_square_is_that_of_v(published):
    row = one(
        compare(published("xu2026"), selection(v=0.06, half=0.01)),
        quantity="chi2",
        judge="gpt_oss_20b",
        dataset="hanna",
    )
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((0.05**2 * 23040, 0.07**2 * 23040))


@pytest.mark.parametrize(("ours", "half", "reached"), [(0.26, 0.01, True), (0.2606, 0.01, False), (0.2604, 0.01, True)])
def test_the_interval_reaches_a_number_up_to_its_rounding(published, ours, half, reached):
    # 25.0 % was printed: anything from 24.95 to 25.05 % may have been meant
    rows = compare(published("xu2026"), selection(half=half, shares=[ours, 0.2, 0.2, 0.2, 0.14]))
    row = one(rows, quantity="pos1", judge="gpt_oss_20b", dataset="hanna")
    assert row["in_items"] == reached
    assert row["difference"] == pytest.approx(ours - 0.25)


def test_v_is_averaged_over_the_paper_s_datasets_where_all_are_there(published):
    names = {"hanna": (0.06, 5760), "summeval": (0.07, 16000), "mt_bench": (0.05, 3200), "vicuna": (0.09, 3200)}
    parts = [selection(dataset=name, v=v, half=0.02, n_reads=n_reads) for name, (v, n_reads) in names.items()]
    row = one(compare(published("xu2026"), *parts), quantity="mean_cramers_v", judge="gpt_oss_20b", n=5)
    assert row["ours"] == pytest.approx(0.0675)
    # Four independent intervals of half width 0.02: that of the mean is 0.02 / sqrt(4).
    assert (row["ci_low"], row["ci_high"]) == pytest.approx((0.0575, 0.0775))
    assert row["dataset"] == "hanna mt_bench summeval vicuna"
    rows = compare(published("xu2026"), *parts[:3])
    assert one(rows, quantity="mean_cramers_v", judge="gpt_oss_20b", n=5)["status"] == "no estimate"
    nine = [selection(dataset=name, n=9, v=v) for name, v in (("hanna", 0.03), ("summeval", 0.05))]
    assert one(compare(published("xu2026"), *nine), quantity="mean_cramers_v", judge="gpt_oss_20b", n=9)["ours"] == 0.04


def test_only_the_same_judge_profile_dataset_strategy_and_scale_are_compared(published):
    for other in ({"judge": "mine"}, {"dataset": "demo"}, {"profile": "low"}, {"strategy": "random"}, {"n": 3}):
        rows = compare(published("xu2026"), selection(**other))
        assert not (rows["status"] == "compared").any(), other
    statistics = selection()
    statistics["readout"] = "soft"
    assert not (compare(published("xu2026"), statistics)["status"] == "compared").any()


def test_other_clusters_are_not_taken_for_groups(published):
    groups = selection(shares=[0.3, 0.2, 0.2, 0.2, 0.1]).assign(cluster="group")
    rows = compare(published("xu2026"), groups, selection(shares=[0.25, 0.2, 0.2, 0.2, 0.15]).assign(cluster="item"))
    assert one(rows, quantity="pos1", judge="gpt_oss_20b", dataset="hanna")["ours"] == 0.3


def test_a_judge_under_another_name_is_compared_where_config_says_which_it_is(published):
    rows = compare(published("xu2026"), selection("mine"), judges={"mine": "gpt_oss_20b"})
    row = one(rows, quantity="chi2", judge="gpt_oss_20b", dataset="hanna")
    assert (row["our_judge"], row["status"]) == ("mine", "compared")
    think = selection("local_think", shares=None).assign(profile="default")
    ours = agreement_of(think["judge"].iloc[0])
    rows = compare(published("xu2026_v1"), think, judges={"local_think": "qwen3_8b/think"}, human_agreement=ours)
    row = one(rows, quantity="pearson", judge="qwen3_8b", profile="think", dataset="hanna", strategy="balanced")
    assert (row["our_judge"], row["ours"], row["published"]) == ("local_think", 0.4, 0.378)
    ours = agreement_of("qwen", profile="reasoning")
    rows = compare(published("xu2026_v1"), think, judges={"qwen/reasoning": "qwen3_8b/think"}, human_agreement=ours)
    row = one(rows, quantity="spearman", judge="qwen3_8b", profile="think", dataset="hanna", strategy="balanced")
    assert row["our_judge"] == "qwen/reasoning"


def agreement_of(judge, profile="default"):
    row = {
        "study": "position_bias",
        "judge": judge,
        "profile": profile,
        "condition": "baseline",
        "dataset": "hanna",
        "strategy": "balanced",
        "n": 5,
    }
    row |= {"criterion": "all", "readout": "hard", "cluster": "group", "n_items": 576}
    pearson = {"quantity": "pearson", "estimate": 0.4, "ci_low": 0.3, "ci_high": 0.5}
    spearman = {"quantity": "spearman", "estimate": 0.39, "ci_low": 0.29, "ci_high": 0.49}
    kappa = {"quantity": "kappa", "estimate": 0.3, "ci_low": 0.2, "ci_high": 0.4}
    return pd.DataFrame([row | found for found in (pearson, spearman, kappa)])


@pytest.mark.parametrize(
    ("judges", "message"),
    [
        ({"mine": "gpt_oss_20"}, "judges/mine: the paper has no judge 'gpt_oss_20'; it has gemma_3_12b, "),
        ({"mine": "gpt_oss_20b/high"}, "judges/mine: the paper has no judge 'gpt_oss_20b/high'"),
        ({"mine": "gpt_oss_20b"}, "judges: gpt_oss_20b/default and mine/default are both gpt_oss_20b/default"),
    ],
)
def test_a_mistake_in_naming_judges_is_one_clear_error(published, judges, message):
    with pytest.raises(InputError) as error:
        compare(published("xu2026"), selection("mine"), selection(), judges=judges)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_of_a_number_in_several_studies_the_first_study_s_is_taken(published):
    parts = [
        selection(study=study, shares=[share, 0.2, 0.2, 0.2, 0.3]) for study, share in (("scales", 0.1), ("main", 0.2))
    ]
    for studies, share in ((("main", "scales"), 0.2), (("scales", "main"), 0.1), (("main",), 0.2)):
        rows = compare(published("xu2026"), *parts, studies=studies)
        assert one(rows, quantity="pos1", judge="gpt_oss_20b", dataset="hanna")["ours"] == share
    assert not (compare(published("xu2026"), *parts, studies=("none",))["status"] == "compared").any()


def test_what_we_do_not_compute_is_said_not_dropped(published):
    rows = compare(published("xu2026"), selection())
    assert len(rows) == len(replication.published_cells(published("xu2026")))
    reversal = rows[rows["table"] == 7]
    assert len(reversal) == 36
    assert set(rows["status"]) == {"compared", "no estimate", "not computed"}
    assert rows.loc[rows["status"] != "compared", "ours"].isna().all()
    printed = layout.TABLE.printout(rows)
    assert set(printed["judge"]) == {"gpt_oss_20b"}
    assert "not computed" in set(printed["ours"])


def test_a_strategy_of_one_read_has_a_chi2_without_a_range_of_other_runs(published):
    """As in config/papers/position_bias.yaml: nothing is known of how often one read would differ."""
    about = {"study": "position_bias", "groups": 6, "strategies": ("balanced", "single")}
    scores = simulated_reads(judge="gpt_oss_20b", dataset="hanna", **about)
    statistics = {
        "position_selection": position_selection.estimate(scores, **BOOTSTRAP),
        "rerun": rerun.estimate(scores, confidence=0.95, seed=1),
    }
    once = statistics["rerun"].query("strategy == 'single' and quantity == 'cramers_v'")
    assert once["error"].isna().tolist() == [True]
    rows = replication.estimate(published("xu2026"), studies=["position_bias"], judges={}, **statistics)
    chi2 = one(rows, judge="gpt_oss_20b", dataset="hanna", quantity="chi2")
    assert chi2["rerun_low"] < chi2["ours"] < chi2["rerun_high"]


def test_the_tables_of_a_study_with_the_paper_s_ids_are_put_beside_it(published):
    """Through the statistics themselves, so that their columns are those that are read here."""
    judged = [("gpt_oss_20b", "hanna"), ("gpt_oss_20b", "summeval"), ("gemma_3_27b", "hanna")]
    about = {"study": "position_bias", "groups": 10, "strategies": ("balanced", "fixed")}
    parts = [
        simulated_reads(judge=judge, dataset=name, seed=seed, **about) for seed, (judge, name) in enumerate(judged)
    ]
    scores = pd.concat(parts, ignore_index=True)
    statistics = {
        "position_selection": position_selection.estimate(scores, **BOOTSTRAP),
        "human_agreement": human_agreement.estimate(scores, confidence=0.95),
        "rerun": rerun.estimate(scores, confidence=0.95, seed=1),
    }
    rows = replication.estimate(published("xu2026"), studies=["position_bias"], judges={}, **statistics)
    compared = rows[rows["status"] == "compared"]
    assert set(zip(compared["judge"], compared["dataset"], strict=True)) == {
        ("gpt_oss_20b", "hanna"),
        ("gpt_oss_20b", "summeval"),
        ("gemma_3_27b", "hanna"),
    }
    assert compared[["ci_low", "ci_high", "in_items", "n_items"]].notna().all(axis=None)
    assert compared["in_rerun"].notna().all()
    v = one(statistics["rerun"], judge="gemma_3_27b", strategy="balanced", quantity="cramers_v")
    chi2 = one(compared, judge="gemma_3_27b", quantity="chi2")
    assert chi2[["rerun_low", "rerun_high"]].tolist() == pytest.approx(
        (v[["low", "high"]] ** 2 * 4 * v["n_reads"]).tolist()
    )
    chosen = scores.query("judge == 'gemma_3_27b' and strategy == 'balanced'")
    first = one(compared, judge="gemma_3_27b", quantity="pos1")
    assert first["ours"] == pytest.approx((chosen["position"] == 1).mean())
    test = uniformity.position_test(chosen["position"], 5)
    assert one(compared, judge="gemma_3_27b", quantity="chi2")["ours"] == pytest.approx(test.chi2)
    rows = replication.estimate(
        published("xu2026_v1"), studies=["position_bias"], judges={"gemma_3_27b": "qwen3_8b"}, **statistics
    )
    means = (
        scores.query("judge == 'gemma_3_27b' and strategy == 'fixed'")
        .groupby("item_id")[["score", "human_score"]]
        .mean()
    )
    row = one(rows, judge="qwen3_8b", profile="default", dataset="hanna", quantity="pearson", strategy="fixed")
    assert row["ours"] == pytest.approx(np.corrcoef(means["score"].astype(float), means["human_score"])[0, 1])


def test_published_rank_reversals_and_rank_correlations_stand_beside_the_range_of_another_run(published):
    about = {
        "study": "position_bias",
        "judge": "gpt_oss_20b",
        "dataset": "mt_bench",
        "strategies": ("balanced", "fixed"),
    }
    scores = simulated_reads(groups=10, **about)
    statistics = {
        "rank_reversal": rank_reversal.estimate(scores, confidence=0.95, seed=1),
        "rerun": rerun.estimate(scores, confidence=0.95, seed=1),
    }
    rows = replication.estimate(published("xu2026"), studies=["position_bias"], judges={}, **statistics)
    compared = rows[rows["status"] == "compared"].set_index("quantity")
    assert set(compared.index) == {"kendall_tau", "top1_flip", "top1_flip_strict"}
    ours = statistics["rerun"].query("readout == 'hard' and baseline == 'fixed'").set_index("quantity")
    names = {"kendall_tau_b": "kendall_tau", "top1_random": "top1_flip", "top1_flip": "top1_flip_strict"}
    for name, theirs in names.items():
        assert compared.loc[theirs, "ours"] == pytest.approx(ours.loc[name, "estimate"])
        ends = compared.loc[theirs, ["rerun_low", "rerun_high"]].tolist()
        assert ends == pytest.approx(ours.loc[name, ["low", "high"]].tolist())
    assert {"spearman"} < set(ours.index)


def everything(scores):
    """All statistics that published numbers are compared with, by the names of their files."""
    return {
        "rank_reversal": rank_reversal.estimate(scores, halvings=2, confidence=0.95, seed=1),
        "within_item_deviation": within_item_deviation.estimate(scores, confidence=0.95),
        "canonical_rank": canonical_rank.estimate(scores, **BOOTSTRAP),
        "score_position": score_position.estimate(scores, **BOOTSTRAP),
        "bias_cost": bias_cost.estimate(scores, splits=2, **BOOTSTRAP),
        "strategy_comparison": strategy_comparison.estimate(scores, confidence=0.95),
    }


@pytest.fixture(scope="module")
def reads_of_both():
    """A study of the earlier version: its judges and datasets, two of which people have rated."""
    parts = [
        simulated_reads(seed=seed, groups=12, preference=[0.6, 0, 0, 0, 0.3], **about)
        for seed, about in enumerate(
            {"study": "position_bias", "judge": judge, "dataset": dataset}
            for judge in ("gpt_4_1", "gpt_oss_120b")
            for dataset in replication.DATASETS
        )
    ]
    scores = pd.concat(parts, ignore_index=True)
    return scores.assign(human_score=scores["human_score"].where(scores["dataset"].isin(["hanna", "summeval"])))


def test_the_other_statistics_are_put_beside_the_papers_too(published, reads_of_both):
    scores = reads_of_both
    statistics = everything(scores)
    rows = replication.estimate(published("xu2026_v1"), studies=["position_bias"], judges={}, **statistics)
    compared = rows[rows["status"] == "compared"]
    assert set(compared["judge"]) == {"gpt_4_1", "gpt_oss_120b"}
    # Of each judge: 2 datasets x 2 differences; 2 x 2 strategies; 2 x 3; 25 cells; 4 of the costs.
    assert compared["table"].value_counts().to_dict() == {2: 2 * 4, 3: 2 * 4, 4: 2 * 6, 5: 2 * 25, 6: 2 * 4}
    balanced = scores.query("judge == 'gpt_4_1' and strategy == 'balanced'").astype({"score": float})

    of_hanna = balanced[balanced["dataset"] == "hanna"]
    row = one(compared, judge="gpt_4_1", dataset="hanna", quantity="within_item_sd", strategy="balanced")
    assert row["ours"] == pytest.approx(of_hanna.groupby("item_id")["score"].std().mean())

    usual = of_hanna[of_hanna["read_index"] == 0]  # the first of the rotations is the usual ordering
    row = one(compared, judge="gpt_4_1", dataset="hanna", quantity="pearson_canonical")
    assert row["ours"] == pytest.approx(np.corrcoef(usual["score"], usual["human_score"])[0, 1])

    fours = balanced[balanced["score"] == 4]
    row = one(compared, judge="gpt_4_1", quantity="pos2_of_score", detail="4")
    assert row["ours"] == pytest.approx((fours["position"] == 2).mean())
    assert row["dataset"] == "all"

    shares = pd.crosstab(balanced["score"], balanced["position"], normalize="index").to_numpy()
    least = one(compared, judge="gpt_4_1", quantity="bias_cost")
    assert least["detail"] == "5 4 3 2 1"
    assert least["ours"] == pytest.approx(bias_cost.bias_cost(shares, np.array([5, 4, 3, 2, 1])))
    usual = one(compared, judge="gpt_4_1", quantity="bias_cost_canonical")
    assert usual["ours"] == pytest.approx(bias_cost.bias_cost(shares, np.array([1, 2, 3, 4, 5])))


def test_single_orderings_have_a_range_of_another_run(published, reads_of_both):
    scores = reads_of_both.query("judge == 'gpt_4_1' and strategy == 'balanced'")
    statistics = {
        "canonical_rank": canonical_rank.estimate(scores, **BOOTSTRAP),
        "bias_cost": bias_cost.estimate(scores, splits=1, **BOOTSTRAP),
        "rerun": rerun.estimate(scores, confidence=0.95, seed=1),
    }
    rows = replication.estimate(published("xu2026_v1"), studies=["position_bias"], judges={}, **statistics)
    compared = rows[rows["status"] == "compared"]
    # The costs are of all datasets together; their ranks are those of r of the two that people have rated.
    assert compared["quantity"].value_counts().to_dict() == {
        "pearson_canonical": 2,
        "pearson_one_read": 2,
        "rank_canonical": 2,
        "bias_cost": 1,
        "pearson_rank": 1,
        "bias_cost_canonical": 1,
        "pearson_rank_canonical": 1,
    }
    assert (compared["rerun_low"] <= compared["ours"]).all()
    assert (compared["ours"] <= compared["rerun_high"]).all()
    assert compared["in_rerun"].notna().all()


def test_gaps_between_positions_of_criteria_have_a_range_of_another_run_and_counts_of_tests_none(published):
    values, shown = draw_criteria(12, 6, rng=np.random.default_rng(1), position=[0.5, 0, 0, 0, 0, 0])
    scores = criteria_table(values, shown, study="criterion_order", judge="gpt_oss_20b", dataset="hanna")
    table = criterion_order.estimate(scores, **BOOTSTRAP)
    rows = replication.estimate(published("xu2026"), studies=["criterion_order"], judges={}, criterion_order=table)
    found = rows[rows["status"] == "compared"].set_index("quantity")
    gaps = found.loc[["criteria_mean_gap", "criteria_max_gap"]]
    assert (gaps["rerun_low"] < gaps["ours"]).all()
    assert (gaps["ours"] < gaps["rerun_high"]).all()
    assert (gaps["rerun_high"] != gaps["ci_high"]).all()
    assert pd.isna(found.loc["criteria_n_significant", "in_rerun"])


@pytest.mark.parametrize("datasets", [["hanna", "summeval"], [*replication.DATASETS, "own"]])
def test_what_the_paper_pools_is_compared_with_the_same_datasets_alone(published, reads_of_both, datasets):
    scores = reads_of_both
    others = scores[scores["dataset"] == "vicuna"].assign(dataset="own")
    scores = pd.concat([scores, others])
    statistics = everything(scores[scores["dataset"].isin(datasets)])
    rows = replication.estimate(published("xu2026_v1"), studies=["position_bias"], judges={}, **statistics)
    pooled = rows[rows["table"].isin([5, 6])]
    assert set(pooled["status"]) == {"no estimate"}
    assert pooled["ours"].isna().all()


def test_differences_of_strategies_are_the_first_less_the_second(published, reads_of_both):
    scores = reads_of_both.query("judge == 'gpt_oss_120b'")
    statistics = {"strategy_comparison": strategy_comparison.estimate(scores, confidence=0.95)}
    rows = replication.estimate(published("xu2026"), studies=["position_bias"], judges={}, **statistics)
    compared = rows[rows["status"] == "compared"]
    assert set(compared["quantity"]) == {"pearson_difference"}
    assert len(compared) == 4  # two datasets, from random and from fixed
    means = scores.astype({"score": float}).groupby(["dataset", "strategy", "item_id"])[["score", "human_score"]].mean()
    r = {key: np.corrcoef(block.T)[0, 1] for key, block in means.groupby(["dataset", "strategy"])}
    for row in compared.itertuples():
        assert row.ours == pytest.approx(r[row.dataset, "balanced"] - r[row.dataset, row.other])
        assert row.ci_low < row.ours < row.ci_high


def test_statistics_without_an_estimate_are_no_mistake(published, reads_of_both):
    """Such as those of a study without human scores, or of other strategies."""
    empty = {name: table.iloc[:0] for name, table in everything(reads_of_both).items()}
    rows = compare(published("xu2026_v1"), selection().iloc[:0], human_agreement=agreement_of("x").iloc[:0], **empty)
    assert set(rows["status"]) == {"no estimate"}


def test_table_7_has_flips_with_ties_broken_at_random_beside_its_number_and_strict_flips_too(published, reads_of_both):
    scores = reads_of_both.query("judge == 'gpt_oss_120b' and dataset == 'summeval'")
    statistics = {"rank_reversal": rank_reversal.estimate(scores, halvings=2, confidence=0.95, seed=1)}
    rows = replication.estimate(published("xu2026"), studies=["position_bias"], judges={}, **statistics)
    compared = rows[rows["status"] == "compared"]
    assert set(compared["quantity"]) == {"kendall_tau", "top1_flip", "top1_flip_strict"}
    means = scores.astype({"score": float}).pivot_table(
        index=["group_id", "candidate"], columns="strategy", values="score", aggfunc="sum"
    )
    flips, broken, taus = [], [], []
    for _, prompt in means.groupby("group_id"):
        best = [(prompt[name] == prompt[name].max()).to_numpy() for name in ("balanced", "fixed")]
        flips.append(not np.logical_and(*best).any())
        pairs = list(itertools.product(*(np.flatnonzero(tied) for tied in best)))  # each as likely as another
        broken.append(np.mean([one != other for one, other in pairs]))
        taus.append(stats.kendalltau(prompt["balanced"], prompt["fixed"]).statistic)
    assert np.mean(broken) > np.mean(flips)
    assert one(compared, quantity="top1_flip")["ours"] == pytest.approx(np.mean(broken))
    assert one(compared, quantity="top1_flip_strict")["ours"] == pytest.approx(np.mean(flips))
    assert len(set(compared.loc[compared["quantity"].str.startswith("top1"), "published"])) == 1
    assert one(compared, quantity="kendall_tau")["ours"] == pytest.approx(np.nanmean(taus))
    assert one(compared, quantity="kendall_tau")["n_items"] == len(flips)
    assert set(compared["other"]) == {"fixed"}


def test_the_printed_table_has_one_digit_more_than_was_published(published, tmp_path):
    rows = compare(published("xu2026"), selection(shares=[0.25213, 0.2, 0.2, 0.2, 0.14787]))
    printed = layout.TABLE.printout(rows)
    first = one(printed, quantity="pos1", dataset="hanna")
    expected = ("0.250", "0.2521", "[0.2421, 0.2621]", "", "")
    assert tuple(first[["published", "ours", "other items", "another run", "outside"]]) == expected
    far = layout.TABLE.printout(rows.assign(in_rerun=False, rerun_low=0.2511, rerun_high=0.2531))
    first = one(far, quantity="pos1", dataset="hanna")
    assert (first["another run"], first["outside"]) == ("[0.2511, 0.2531]", "another run")
    tables.write(rows, printed, tmp_path / "replication", "A caption.")
    again = pd.read_csv(tmp_path / "replication.csv")
    assert len(again) == len(rows)
    assert "0.2521" in (tmp_path / "replication.md").read_text(encoding="utf-8")


def test_a_study_that_shares_no_judge_with_the_paper_prints_an_empty_table(published):
    rows = compare(published("xu2026"), selection("smollm2_135m", "demo"))
    assert layout.TABLE.printout(rows).empty
    assert list(layout.TABLE.printout(rows).columns)[:2] == ["table", "judge"]


def test_the_order_of_criteria_is_compared_with_its_tables(published):
    rng = np.random.default_rng(1)
    parts = []
    for strategy in ("balanced", "random", "fixed"):
        values, shown = draw_criteria(30, 6, rng=rng, strategy=strategy, position=[0.5, 0, 0, 0, 0, 0])
        human = np.clip(np.round(3 + rng.normal(size=(30, 6))), 1, 5)
        about = {"strategy": strategy, "judge": "gpt_oss_20b", "dataset": "hanna"}
        parts.append(criteria_table(values, shown, human=human, **about))
    reads = pd.concat(parts, ignore_index=True)
    reads["human_score"] = reads.groupby(["unit_id", "criterion"])["human_score"].transform("first")
    order = criterion_order.estimate(reads, **BOOTSTRAP)
    agreed = criteria_agreement.estimate(reads, **BOOTSTRAP)
    found = replication.estimate(
        published("xu2026"),
        criterion_order=order,
        criteria_agreement=agreed,
        studies=["s"],
        judges={},
    )
    found = found[(found["judge"] == "gpt_oss_20b") & (found["dataset"] == "hanna") & (found["status"] == "compared")]
    assert found.groupby("table").size().to_dict() == {5: 4, 6: 4}
    hard = order[order["readout"] == "hard"]
    tests = hard[(hard["quantity"] == "position_test") & (hard["strategy"] == "balanced")]
    assert one(found, table=5, quantity="criteria_n_significant")["ours"] == (tests["p"] < 0.05).sum() == 6
    gap = hard[(hard["quantity"] == "max_gap") & (hard["strategy"] == "balanced")].iloc[0]
    row = one(found, table=5, quantity="criteria_max_gap")
    assert row[["ours", "ci_low", "ci_high"]].tolist() == gap[["estimate", "ci_low", "ci_high"]].tolist()
    macro = agreed[(agreed["criterion"] == "macro") & (agreed["cluster"] == "group")]
    ours = {(row.strategy, row.other): row.estimate for row in macro.fillna({"other": ""}).itertuples()}
    for strategy in ("balanced", "random", "fixed"):
        assert one(found, table=6, quantity="criteria_pearson", strategy=strategy)["ours"] == ours[strategy, ""]
    assert one(found, quantity="criteria_pearson_difference")["ours"] == ours["balanced", "fixed"]
    assert one(found, table=5, quantity="criteria_pearson")["ours"] == ours["balanced", ""]


def consistency(**keys):
    """Rows of comparisons as `position_consistency.estimate` gives them, over all tasks and in one."""
    about = {"study": "judging", "judge": "mine", "profile": "default", "dataset": "mtbench_pairs"}
    about |= {"condition": "baseline", "strategy": "recorded", "n": 2, "cluster": "group", "n_clusters": 80} | keys
    values = {"repetition_stability": (0.967, 0.054), "position_consistency": (0.815, 0.149)}
    values |= {"preference_fairness": (0.0196, 0.2), "error_rate": (0.0, 0.0), "ties": (0.1, 0.1)}
    rows = [
        about
        | {"task": task, "quantity": name, "estimate": value - shift, "sd": sd}
        | {"ci_low": value - 0.02, "ci_high": value + 0.02}
        for name, (value, sd) in values.items()
        for task, shift in (("all", 0.0), ("math", 0.3))
    ]
    return pd.DataFrame(rows)


def test_table_2_of_judges_that_compare_stands_beside_ours(published):
    cells = replication.published_cells(published("shi2025"))
    assert len(cells) == 30 * 6 + 4 * 5  # of pairs RS, PC with deviations, PF, errors; of lists no RS
    assert set(cells["n"]) == {2, 3}
    ours = pd.concat([consistency(), consistency(cluster="source")])
    found = replication.estimate(
        published("shi2025"), studies=["judging"], judges={"mine": "gpt_4"}, position_consistency=ours
    )
    rows = found[found["status"] == "compared"].set_index("quantity")
    assert set(rows["our_judge"]) == {"mine"}
    assert len(rows) == 6
    assert rows.loc["repetition_stability_sd", ["published", "ours"]].tolist() == [0.05, 0.054]
    assert rows.loc["position_consistency", "difference"] == pytest.approx(-0.005)
    assert rows.loc["position_consistency", "in_items"]
    assert rows["n_items"].unique().tolist() == [80]
    printed = layout.TABLE.printout(found)
    assert "0.815" in printed["ours"].tolist()


def test_lists_are_compared_with_lists(published):
    ours = consistency(n=3, strategy="cyclic")
    found = replication.estimate(
        published("shi2025"), studies=["judging"], judges={"mine": "gpt_4o"}, position_consistency=ours
    )
    rows = found[found["status"] == "compared"]
    assert set(rows["n"]) == {3}
    assert "preference_fairness_sd" in set(rows["quantity"])


def test_flask_with_peoples_scores_is_the_flask_of_li_et_al_and_not_the_one_without_them(published):
    about = {"study": "s", "judge": "gpt_4o", "profile": "default", "n": 5, "readout": "hard", "cluster": "group"}
    about |= {"varied": "reference_none", "order": "single", "golden": "human", "quantity": "spearman"}
    ends = {"ci_low": 0.5, "ci_high": 0.6, "n_items": 2001, "condition": "baseline"}
    rows = [
        about | ends | {"dataset": name, "estimate": value} for name, value in (("flask", 0.1), ("flask_human", 0.55))
    ]
    aligned = [{"source": "labels", "dataset": "flask_human", "quantity": "pearson", "estimate": 0.68} | ends]
    found = replication.estimate(
        published("li2025"),
        studies=["s"],
        judges={},
        scoring_accuracy=pd.DataFrame(rows),
        golden_alignment=pd.DataFrame(aligned),
    )
    compared = found[found["status"] == "compared"]
    assert set(compared["dataset"]) == {"flask"}
    row = one(compared, judge="gpt_4o")
    assert (row["published"], row["ours"]) == (0.5529, 0.55)
    assert one(compared, judge="gpt_4")["published"] == 0.6862
