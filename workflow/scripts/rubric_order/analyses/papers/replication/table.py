"""Published numbers beside ours."""

import pandas as pd

CAPTION = (
    "Published numbers beside ours, for the same judge, dataset, strategy and scale. Other items: "
    "{bootstrap[confidence]:.0%} interval over groups of items, which says how far ours would move with other items. "
    "Another run: where at least {bootstrap[confidence]:.0%} of the runs of the same judge on the same items would "
    "lie, from how the reads of an item vary. It is missing where no item was read twice, and of numbers for which it "
    "is not computed: shares within one score, correlations by criterion or with golden scores, and counts of "
    "significant tests, which have no error of their own. Where each order is read once an item, what the order does "
    "to single items counts as chance of reads, which makes ranges too wide; that of one order alone (canonical, "
    "rank) takes a share of the chance of the others (of two orders half), which makes it too narrow where the reads "
    "of this order vary by far the most. Outside names the ranges that do not reach what rounding leaves of the "
    "published number. Outside of another run: prompts, settings, items, or the version of the judge differ. Inside "
    "of both shows no agreement: with few items a worse judge is inside as well. Top1_flip breaks ties of the best "
    "candidates at random, top1_flip_strict counts them as no flip: the paper does not say what it does, so both stand "
    "beside its number. Not computed: no statistic of ours "
    "is that quantity. No estimate: this run has no reads for it. The CSV file has all numbers of the paper, also "
    "those of judges that were not run."
)
OUTSIDE = {"in_items": "other items", "in_rerun": "another run"}


def table(replication: pd.DataFrame) -> pd.DataFrame:
    """One row a published number, see `replication.estimate`."""
    return replication


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The numbers that there are for our judges, and of those judges the ones that we do not compute."""
    ours = rows.loc[rows["status"] == "compared", ["judge", "profile"]].drop_duplicates()
    kept = rows.merge(ours, on=["judge", "profile"])
    printed = pd.DataFrame({"table": kept["table"], "judge": kept["judge"], "our judge": kept["our_judge"].fillna("")})
    for name, empty in (("profile", "default"), ("dataset", ""), ("strategy", ""), ("n", "")):
        printed[name] = kept[name].where(kept[name] != empty, "")
    compared = kept["other"].map(lambda other: f" to {other}" if other else "")
    details = kept["detail"].map(lambda detail: f" ({detail})" if detail else "")
    printed["strategy"] += compared
    printed["quantity"] = kept["quantity"] + details
    printed["published"] = [
        f"{value:.{digits}f}" for value, digits in zip(kept["published"], kept["digits"], strict=True)
    ]
    printed["ours"] = [
        f"{value:.{digits + 1}f}" if status == "compared" else status
        for value, digits, status in zip(kept["ours"], kept["digits"], kept["status"], strict=True)
    ]
    for kind, name in (("ci", "other items"), ("rerun", "another run")):
        ends = zip(kept[f"{kind}_low"], kept[f"{kind}_high"], kept["digits"], strict=True)
        printed[name] = [_range(*row) for row in ends]
    outside = [kept[column].map({False: name}).fillna("") for column, name in OUTSIDE.items()]
    printed["outside"] = [", ".join(filter(None, row)) for row in zip(*outside, strict=True)]
    return printed


def _range(low: float, high: float, digits: int) -> str:
    """A range, with one digit more than the published number has; empty where there is none."""
    return f"[{low:.{digits + 1}f}, {high:.{digits + 1}f}]" if pd.notna(low) and pd.notna(high) else ""
