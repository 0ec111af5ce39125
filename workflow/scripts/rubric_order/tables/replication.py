"""Published numbers beside ours."""

import pandas as pd

CAPTION = (
    "Published numbers beside ours, for the same judge, dataset, strategy and scale. The interval says how far ours "
    "would move with other items; it contains the published number if it reaches what rounding leaves of it. The "
    "published numbers are of nearly the same items, so one outside points at other causes: prompts, settings, or "
    "another version of the judge. Not computed: no statistic of ours is that quantity. No estimate: this run has no "
    "reads for it. The CSV file has all numbers of the paper, also those of judges that were not run."
)
CONTAINS = {True: "yes", False: "no"}


def table(replication: pd.DataFrame) -> pd.DataFrame:
    """One row a published number, see `replication.estimate`."""
    return replication


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """The numbers that there are for our judges, and of those judges the ones that we do not compute."""
    ours = rows.loc[rows["status"] == "compared", ["judge", "profile"]].drop_duplicates()
    kept = rows.merge(ours, on=["judge", "profile"])
    printed = pd.DataFrame({"table": kept["table"], "judge": kept["judge"], "ours": kept["our_judge"].fillna("")})
    for name, empty in (("profile", "default"), ("dataset", ""), ("strategy", ""), ("n", "")):
        printed[name] = kept[name].where(kept[name] != empty, "")
    compared = kept["other"].map(lambda other: f" to {other}" if other else "")
    about = kept["detail"].map(lambda detail: f" ({detail})" if detail else "")
    printed["strategy"] += compared
    printed["quantity"] = kept["quantity"] + about
    printed["published"] = [
        f"{value:.{digits}f}" for value, digits in zip(kept["published"], kept["digits"], strict=True)
    ]
    found = zip(kept["ours"], kept["ci_low"], kept["ci_high"], kept["digits"], kept["status"], strict=True)
    printed["estimate"] = [_estimate(*row) for row in found]
    printed["contains"] = kept["contains"].map(CONTAINS).fillna("")
    return printed


def _estimate(value: float, low: float, high: float, digits: int, status: str) -> str:
    """Our number, with one digit more than the published one has, and its interval where there is one."""
    if status != "compared":
        return status
    places = digits + 1
    interval = f" [{low:.{places}f}, {high:.{places}f}]" if pd.notna(low) and pd.notna(high) else ""
    return f"{value:.{places}f}{interval}"
