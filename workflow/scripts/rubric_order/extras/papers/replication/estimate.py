"""Published numbers beside ours."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from rubric_order.base.errors import InputError
from rubric_order.base.keys import BASELINE, DEFAULT_PROFILE, EVERY, MACRO
from rubric_order.base.readouts import Readout
from rubric_order.base.rows import rows_with
from rubric_order.methods import tidy
from rubric_order.methods.uncertainty import resampling

log = logging.getLogger(__name__)

# Keys of a number. `other` is the strategy that `strategy` is compared with. `detail` is a score, an ordering, or the
# source of golden scores with the changed part of the prompt.
KEYS = ["judge", "profile", "dataset", "strategy", "other", "n", "detail", "quantity"]
PERMUTATION, REPEAT = {"strategy": "balanced"}, {"strategy": "fixed"}
DIFFERENCE = PERMUTATION | {"other": "fixed"}

# For each published table: its columns of values, each with its quantity and with the keys that the column implies.
PUBLISHED: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {
    "xu2026_table2": {"chi2": ("chi2", {}), "pos1": ("pos1", {}), "pos5": ("pos5", {})},
    "xu2026_table3": {"difference": ("pearson_difference", {})},
    "xu2026_table4": {"cramers_v": ("mean_cramers_v", {})},
    "xu2026_table5": {
        "pearson": ("criteria_pearson", {"n": 5}),
        "mean_gap": ("criteria_mean_gap", {"n": 5}),
        "max_gap": ("criteria_max_gap", {"n": 5}),
        "n_significant": ("criteria_n_significant", {"n": 5}),
    },
    "xu2026_table6": {
        "pearson_balanced": ("criteria_pearson", {"n": 5} | PERMUTATION),
        "pearson_random": ("criteria_pearson", {"n": 5, "strategy": "random"}),
        "pearson_fixed": ("criteria_pearson", {"n": 5} | REPEAT),
        "difference": ("criteria_pearson_difference", {"n": 5} | DIFFERENCE),
    },
    "xu2026_table7": {"kendall_tau": ("kendall_tau", {}), "top1_flip": ("top1_flip", {})},
    "xu2026_v1_table2": {
        "pearson_balanced": ("pearson", PERMUTATION),
        "pearson_fixed": ("pearson", REPEAT),
        "pearson_difference": ("pearson_difference", DIFFERENCE),
        "spearman_balanced": ("spearman", PERMUTATION),
        "spearman_fixed": ("spearman", REPEAT),
        "spearman_difference": ("spearman_difference", DIFFERENCE),
    },
    "xu2026_v1_table3": {"sd_balanced": ("within_item_sd", PERMUTATION), "sd_fixed": ("within_item_sd", REPEAT)},
    "xu2026_v1_table4": {
        "pearson_canonical": ("pearson_canonical", PERMUTATION),
        "pearson_mean": ("pearson_one_read", PERMUTATION),
        "rank": ("rank_canonical", PERMUTATION),
    },
    "xu2026_v1_table5": {f"pos{p}": (f"pos{p}_of_score", {}) for p in range(1, 6)},
    "li2025_table2": {"spearman": ("golden_spearman", {"n": 5}), "pearson": ("golden_pearson", {"n": 5})},
    "li2025_table3": {"spearman": ("golden_spearman", {"n": 5}), "pearson": ("golden_pearson", {"n": 5})},
    "xu2026_v1_table6": {
        "bias_cost": ("bias_cost", PERMUTATION),
        "bias_cost_canonical": ("bias_cost_canonical", PERMUTATION | {"detail": ""}),
        "rank": ("pearson_rank", PERMUTATION),
        "rank_canonical": ("pearson_rank_canonical", PERMUTATION | {"detail": ""}),
    },
}
# Table 2 of Shi et al. (2025): each measure. Some measures also have a standard deviation, printed beside them.
CONSISTENCY = ("repetition_stability", "position_consistency", "preference_fairness", "error_rate")
WITH_SD = CONSISTENCY[:3]
PUBLISHED["shi2025_table2"] = {
    name: (name, {"profile": DEFAULT_PROFILE}) for name in (*CONSISTENCY, *(f"{measure}_sd" for measure in WITH_SD))
}
CANDIDATES = {"pair_order": 2, "list_order": 3}  # for each probe, number of candidates in a prompt of Shi et al.
# Published quantities that could be one of two of our quantities, because the paper does not say how it breaks ties of
# the best candidates. The second of our quantities gets a further row.
AGAIN = {"top1_flip": "top1_flip_strict"}
CANONICAL = "1 2 3 4 5"
# `ORDERS`: order of the levels under each perturbation of Li et al. (2025). `PERTURBATIONS`: their perturbation for
# each of our pairs of condition and order.
ORDERS = {"baseline": "single", "letter": "single", "descending": "descending", "random": "random"}
PERTURBATIONS = {("reference_none", order): name for name, order in ORDERS.items() if name != "letter"}
PERTURBATIONS |= {("letter+reference_none", "single"): "letter"}
# Names of our datasets in Li et al. (2025). Their FLASK has people's scores.
THEIR_DATASETS = {"flask_human": "flask"}
DATASETS = ("hanna", "mt_bench", "summeval", "vicuna")  # in both versions of Xu et al.


def published_cells(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    parts = [pd.DataFrame(columns=["table", *KEYS, "published", "digits"])]
    for name, table in tables.items():
        for column, (quantity, constants) in PUBLISHED.get(name, {}).items():
            rows = table[table[column] != ""].assign(quantity=quantity, **constants)
            if "probe" in rows:
                rows["n"] = rows["probe"].map(CANDIDATES)
            rows["dataset"] = _datasets(rows)
            if "detail" not in constants:
                rows["detail"] = rows["score"] if "score" in rows else rows.get("ordering", "")
            if "scores_of" in rows:  # the detail is the source of the golden scores, and the changed part of the prompt
                changed = rows.get("perturbation", pd.Series("golden", index=rows.index))
                rows["detail"] = rows["scores_of"] + ", " + changed
                rows = rows.assign(strategy=changed.map(ORDERS).fillna(""), profile=DEFAULT_PROFILE)
            for key in KEYS:
                rows[key] = rows.get(key, "")
            digits = rows[column].str.partition(".")[2].str.len()
            values = {"published": rows[column].astype(float), "digits": digits}
            parts.append(rows[KEYS].assign(table=int(name.rpartition("table")[2]), **values))
    cells = pd.concat(parts, ignore_index=True)
    cells = tidy.typed(cells, {"table": "int64", "digits": "int64"})
    return cells[cells["judge"] != "average"].reset_index(drop=True)


def _datasets(rows: pd.DataFrame) -> pd.Series:
    if "datasets" in rows:
        return rows["datasets"].map(lambda names: " ".join(sorted(names.split())))
    return rows["dataset"] if "dataset" in rows else pd.Series(EVERY, index=rows.index)


# Our estimates. Each function takes one of our tables of statistics and returns its estimates of published quantities:
# `KEYS`, `ours`, `ci_low`, `ci_high` and `n_items`. By default scores are selected options, groups are clusters, and
# criteria are pooled.


def _chosen(table: pd.DataFrame, **values: object) -> pd.DataFrame:
    values = {"readout": Readout.HARD, "cluster": "group"} | values
    chosen = rows_with(table, **{column: value for column, value in values.items() if column in table})
    return chosen.rename(columns={"estimate": "ours"})


def _pooled(table: pd.DataFrame) -> pd.DataFrame:
    datasets = table.groupby(["study", "judge", "profile", "strategy", "n"])["dataset"]
    same = datasets.transform(lambda names: set(names) == {*DATASETS, EVERY}).astype(bool)
    return table[same & (table["dataset"] == EVERY)]


def _estimates(rows: pd.DataFrame, **values: object) -> pd.DataFrame:
    rows = rows.assign(**values)
    for key in ("other", "detail"):
        rows[key] = rows.get(key, "")
    return rows[["study", *KEYS, "ours", "ci_low", "ci_high", "n_items"]]


def _position_selection(table: pd.DataFrame) -> pd.DataFrame:
    shares, v = (_chosen(table, quantity=quantity) for quantity in ("share", "cramers_v"))
    # Chi-square is V squared times N (n - 1), also at the ends of the interval. If N were `Int64`, NaN would become NA.
    size = (v["n_reads"] * (v["n"] - 1)).astype(float)
    chi2 = {name: v[name] ** 2 * size for name in ("ours", "ci_low", "ci_high")}
    return pd.concat(
        [
            _estimates(shares, quantity="pos" + shares["position"].astype(str)),
            _estimates(v, quantity="chi2", **chi2),
            _mean_v(v),
        ]
    )


def _mean_v(v: pd.DataFrame) -> pd.DataFrame:
    """Mean of Cramer's V over each set of datasets that a paper averages, if the study has all of the set."""
    rows = []
    for datasets in (DATASETS, ("hanna", "summeval")):
        for key, block in v[v["dataset"].isin(datasets)].groupby(["study", "judge", "profile", "strategy", "n"]):
            if len(block) < len(datasets):
                continue
            low, high = resampling.interval_of_mean(*(block[name].to_numpy() for name in ("ours", "ci_low", "ci_high")))
            mean = {"ours": block["ours"].mean(), "ci_low": low, "ci_high": high}
            keys = dict(zip(("study", "judge", "profile", "strategy", "n"), key, strict=True))
            rows.append(keys | mean | {"dataset": " ".join(datasets), "n_items": block["n_items"].sum()})
    columns = ["study", "judge", "profile", "strategy", "n", "ours", "ci_low", "ci_high", "dataset", "n_items"]
    return _estimates(pd.DataFrame(rows, columns=columns), quantity="mean_cramers_v")


def _human_agreement(table: pd.DataFrame) -> pd.DataFrame:
    return _estimates(_chosen(table, criterion=EVERY, quantity=["pearson", "spearman"]))


def _strategy_comparison(table: pd.DataFrame) -> pd.DataFrame:
    table = _chosen(table, criterion=EVERY).rename(columns={"baseline": "other"})
    return _estimates(table, quantity=table["quantity"] + "_difference")


def _rank_reversal(table: pd.DataFrame) -> pd.DataFrame:
    new_names = {"kendall_tau_b": "kendall_tau", "top1_random": "top1_flip", "top1_flip": "top1_flip_strict"}
    table = _chosen(table, comparison="between", quantity=list(new_names))
    return _estimates(table, quantity=table["quantity"].map(new_names), n_items=table["n_prompts"])


def _within_item(table: pd.DataFrame) -> pd.DataFrame:
    return _estimates(_chosen(table, quantity="mean_sd"), quantity="within_item_sd")


def _canonical_rank(table: pd.DataFrame) -> pd.DataFrame:
    new_names = {"pearson_canonical": "pearson_canonical", "pearson_mean": "pearson_one_read", "rank": "rank_canonical"}
    table = _chosen(table, quantity=list(new_names))
    return _estimates(table, quantity=table["quantity"].map(new_names))


def _score_position(table: pd.DataFrame) -> pd.DataFrame:
    table = _chosen(_pooled(table), quantity="share")
    name = "pos" + table["position"].astype(str) + "_of_score"
    return _estimates(table, quantity=name, detail=table["score"].astype(str))


def _bias_cost(table: pd.DataFrame) -> pd.DataFrame:
    new_names = {"cost": "bias_cost", "pearson_rank": "pearson_rank"}
    table = _chosen(_pooled(table), quantity=list(new_names)).rename(columns={"ordering": "detail"})
    table = table.assign(quantity=table["quantity"].map(new_names))
    canonical = table[table["detail"] == CANONICAL]
    return pd.concat(
        [_estimates(table), _estimates(canonical, quantity=canonical["quantity"] + "_canonical", detail="")]
    )


def _criterion_order(table: pd.DataFrame) -> pd.DataFrame:
    table = _chosen(table).rename(columns={"n_texts": "n_items"})
    gaps = table[table["quantity"].isin(["mean_gap", "max_gap"])]
    tests = table[table["quantity"] == "position_test"]
    keys = ["study", "judge", "profile", "dataset", "strategy", "n", "n_items"]
    counts = tests.assign(ours=(tests["p"] < 0.05).astype(float)).groupby(keys, as_index=False)["ours"].sum()
    return pd.concat(
        [
            _estimates(gaps, quantity="criteria_" + gaps["quantity"]),
            _estimates(counts, quantity="criteria_n_significant", ci_low=np.nan, ci_high=np.nan),
        ]
    )


def _criteria_agreement(table: pd.DataFrame) -> pd.DataFrame:
    table = _chosen(table, criterion=MACRO).rename(columns={"n_texts": "n_items"})
    return _estimates(table, quantity="criteria_" + table["quantity"], other=table["other"].fillna(""))


def _their_datasets(table: pd.DataFrame) -> pd.DataFrame:
    others = [name for ours, name in THEIR_DATASETS.items() if (table["dataset"] == ours).any()]
    return table[~table["dataset"].isin(others)].replace({"dataset": THEIR_DATASETS})


def _scoring_accuracy(table: pd.DataFrame) -> pd.DataFrame:
    table = _chosen(table, quantity=["spearman", "pearson"])
    changes = [PERTURBATIONS.get(name, "") for name in zip(table["varied"], table["order"], strict=True)]
    table = table.assign(changed=pd.Series(changes, table.index, dtype="str"), strategy=table["order"])
    table = _their_datasets(table[table["changed"] != ""])
    return _estimates(table, quantity="golden_" + table["quantity"], detail=table["golden"] + ", " + table["changed"])


def _golden_alignment(table: pd.DataFrame) -> pd.DataFrame:
    table = _their_datasets(_chosen(table, quantity=["spearman", "pearson"]))
    judge = table["source"].replace("labels", "gpt_4")
    constants = {"study": "", "profile": DEFAULT_PROFILE, "strategy": "", "n": 5, "detail": "human, golden"}
    return _estimates(table.assign(judge=judge), quantity="golden_" + table["quantity"], **constants)


def _position_consistency(table: pd.DataFrame) -> pd.DataFrame:
    table = _chosen(table, task=EVERY).rename(columns={"n_clusters": "n_items"}).assign(strategy="")
    means, deviations = (rows_with(table, quantity=quantities) for quantities in (CONSISTENCY, WITH_SD))
    gaps = {"ours": deviations["sd"], "ci_low": np.nan, "ci_high": np.nan}
    return pd.concat([_estimates(means), _estimates(deviations, quantity=deviations["quantity"] + "_sd", **gaps)])


# Our tables of statistics, with the published quantities that each table has.
OURS: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], tuple[str, ...]]] = {
    "position_selection": (_position_selection, ("chi2", "pos1", "pos5", "mean_cramers_v")),
    "human_agreement": (_human_agreement, ("pearson", "spearman")),
    "strategy_comparison": (_strategy_comparison, ("pearson_difference", "spearman_difference")),
    "rank_reversal": (_rank_reversal, ("kendall_tau", "top1_flip", "top1_flip_strict")),
    "within_item_deviation": (_within_item, ("within_item_sd",)),
    "canonical_rank": (_canonical_rank, ("pearson_canonical", "pearson_one_read", "rank_canonical")),
    "score_position": (_score_position, tuple(f"pos{p}_of_score" for p in range(1, 6))),
    "bias_cost": (
        _bias_cost,
        tuple(f"{name}{end}" for name in ("bias_cost", "pearson_rank") for end in ("", "_canonical")),
    ),
    "criterion_order": (_criterion_order, ("criteria_mean_gap", "criteria_max_gap", "criteria_n_significant")),
    "scoring_accuracy": (_scoring_accuracy, ("golden_spearman", "golden_pearson")),
    "golden_alignment": (_golden_alignment, ("golden_spearman", "golden_pearson")),
    "criteria_agreement": (_criteria_agreement, ("criteria_pearson", "criteria_pearson_difference")),
    "position_consistency": (_position_consistency, tuple(PUBLISHED["shi2025_table2"])),
}
COLUMNS: dict[str, list[str]] = {}  # empty: all columns of each table are read


def estimate(
    published: Mapping[str, pd.DataFrame],
    *,
    studies: Sequence[str],
    judges: Mapping[str, str],
    **statistics: pd.DataFrame,
) -> pd.DataFrame:
    """Each published number, and our estimate if there is one.

    `rerun_low` and `rerun_high` are the range of `rerun.estimate`; `in_items` and `in_rerun` allow for the rounding of
    `digits`. `n_items` counts prompts for rank reversal, texts for criteria, questions for Shi et al. (2025). `status`
    is ``compared``, ``no estimate`` or ``not computed`` (no statistic of ours).
    """
    cells = published_cells(published)
    again = cells[cells["quantity"].isin(AGAIN) & ("rank_reversal" in statistics)]
    cells = pd.concat([cells, again.assign(quantity=again["quantity"].map(AGAIN))], ignore_index=True)
    _check_judges(judges, cells)
    available = {name: part for name, part in OURS.items() if name in statistics}
    statistics = {
        name: table[table["condition"] == BASELINE] if "condition" in table else table
        for name, table in statistics.items()
    }
    our_estimates = {name: estimates(statistics[name]) for name, (estimates, _) in available.items()}
    ours = _ours(our_estimates, _ranges(statistics.get("rerun"), statistics.get("criterion_order")), studies, judges)
    table = cells.merge(ours, on=KEYS, how="left", validate="many_to_one")
    table["difference"] = table["ours"] - table["published"]
    for name, low, high in (("in_items", "ci_low", "ci_high"), ("in_rerun", "rerun_low", "rerun_high")):
        table[name] = _reaches(table, low, high)
    computed = table["quantity"].isin({quantity for _, quantities in available.values() for quantity in quantities})
    table["status"] = np.select([table["ours"].notna(), computed], ["compared", "no estimate"], "not computed")
    _log_counts(table)
    values = ["our_judge", "published", "digits", "ours", "ci_low", "ci_high", "rerun_low", "rerun_high", "difference"]
    values += ["in_items", "in_rerun"]
    return table[["table", *KEYS, *values, "n_items", "status"]]


def _log_counts(table: pd.DataFrame) -> None:
    counts = table["status"].value_counts()
    log.info(
        "%d published numbers: %d compared, %d without an estimate, %d not computed; outside of what other items would "
        "show: %d of %d, of what another run would show: %d of %d",
        *(len(table), *(counts.get(status, 0) for status in ("compared", "no estimate", "not computed"))),
        *(
            count
            for name in ("in_items", "in_rerun")
            for count in (int((~table[name].dropna()).sum()), table[name].count())
        ),
    )


def _check_judges(judges: Mapping[str, str], cells: pd.DataFrame) -> None:
    theirs = set(cells["judge"]) | set(cells["judge"] + "/" + cells["profile"])
    for mine, target in judges.items():
        if target not in theirs:
            listed = ", ".join(sorted(set(cells["judge"])))
            raise InputError(
                f"config: statistics/replication/judges/{mine}: the paper has no judge {target!r}; it has {listed}"
            )


def _ranges(rerun: pd.DataFrame | None, criterion_order: pd.DataFrame | None) -> pd.DataFrame:
    columns = ["study", *KEYS, "rerun_low", "rerun_high"]
    parts = [pd.DataFrame(columns=columns)]
    if rerun is not None:
        rerun = rerun.rename(columns={"low": "ci_low", "high": "ci_high"})
        alone = rerun[rerun["baseline"] == ""].drop(columns="baseline")
        of_one = (_position_selection, _human_agreement, _within_item, _canonical_rank, _bias_cost)
        parts += [function(alone) for function in of_one]
        of_two = rerun[rerun["baseline"] != ""]
        reversals = of_two["quantity"].isin(["kendall_tau_b", "top1_flip", "top1_random"])
        parts.append(_strategy_comparison(of_two[~reversals]))
        parts.append(_rank_reversal(of_two[reversals].rename(columns={"baseline": "other", "n_items": "n_prompts"})))
    if criterion_order is not None:
        ends = {"rerun_low": "ci_low", "rerun_high": "ci_high"}
        parts.append(_criterion_order(criterion_order.drop(columns=[*ends.values()]).rename(columns=ends)))
    ranges = pd.concat([part.rename(columns={"ci_low": "rerun_low", "ci_high": "rerun_high"}) for part in parts])
    return ranges[columns].astype({"rerun_low": float, "rerun_high": float})


def _ours(
    parts: Mapping[str, pd.DataFrame], ranges: pd.DataFrame, studies: Sequence[str], judges: Mapping[str, str]
) -> pd.DataFrame:
    columns = ["study", *KEYS, "ours", "ci_low", "ci_high", "n_items"]
    ours = pd.concat([pd.DataFrame(columns=columns), *parts.values()])
    studies = [*studies, ""]  # estimates that belong to no study come last
    ours = ours[ours["study"].isin(studies)].merge(ranges, on=["study", *KEYS], how="left", validate="one_to_one")
    ours = ours.sort_values("study", key=lambda column: column.map(studies.index), kind="stable")
    return tidy.typed(_renamed(ours, judges).drop_duplicates(KEYS).drop(columns="study"), {"n_items": "Int64"})


def _reaches(table: pd.DataFrame, low: str, high: str) -> pd.Series:
    rounding = 0.5 * 10.0 ** -table["digits"] + 1e-12
    above = table[low] <= table["published"] + rounding
    below = table["published"] - rounding <= table[high]
    return (above & below).astype("boolean").where(table[["ours", low, high]].notna().all(axis=1))


def _renamed(ours: pd.DataFrame, judges: Mapping[str, str]) -> pd.DataFrame:
    """Our estimates with the published names of judge and profile."""
    pairs = ours[["judge", "profile"]].drop_duplicates().itertuples(index=False, name=None)
    published_names: dict[tuple[str, str], tuple[str, str]] = {}
    for judge, profile in pairs:
        target = judges.get(f"{judge}/{profile}") or judges.get(judge, judge)
        theirs, slash, variant = target.partition("/")
        published_names[judge, profile] = theirs, variant if slash else profile
    for theirs in set(published_names.values()):
        same = sorted("/".join(name) for name, target in published_names.items() if target == theirs)
        if len(same) > 1:
            raise InputError(f"config: statistics/replication/judges: {' and '.join(same)} are both {'/'.join(theirs)}")
    mine = list(zip(ours["judge"], ours["profile"], strict=True))
    label = [judge if profile == DEFAULT_PROFILE else f"{judge}/{profile}" for judge, profile in mine]
    theirs = [published_names[pair] for pair in mine]
    return ours.assign(
        our_judge=label, judge=[judge for judge, _ in theirs], profile=[profile for _, profile in theirs]
    )
