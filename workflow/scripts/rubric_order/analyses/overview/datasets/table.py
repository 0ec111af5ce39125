"""Contents of the datasets."""

from rubric_order.base.gold import INTENDED
from rubric_order.base.keys import EVERY, HUMAN_SCORES
from rubric_order.tables.columns import Number, Row, cell, estimates, texts
from rubric_order.tables.spec import Rows, Table

SOURCES = {"human": "raters", "intended": "intended levels", "reference": "reference labels"}
COUNTS = {f"n_{name}": name for name in ("items", "groups", "candidates", "criteria", "pairs")}


def _scored_by(row: Row) -> str:
    if row["source"] == INTENDED and row["n_scores"]:
        return SOURCES[INTENDED]
    names = f"{row['n_raters']} {SOURCES.get(row['source'])}" if row["n_scores"] else "none"
    return names.removesuffix("s") if row["n_raters"] == 1 else names


def _shares(row: Row) -> str:
    return " / ".join(f"{100 * row[f'share_{score}']:.0f}" for score in HUMAN_SCORES) if row["n_scores"] else ""


TABLE = Table(
    rows=Rows("datasets", drop=["method", "confidence", "seed"]),
    columns=[
        *texts("dataset", **COUNTS),
        cell("words (min, max)", "{words_mean:.0f} ({words_min:.0f}, {words_max:.0f})".format_map),
        cell("scored by", _scored_by),
        Number("score_mean", ".2f", name="mean score", missing=""),
        cell("% of scores 1 to 5", _shares),
        *estimates(".3f", "alpha", rater_vs_rest="one against the rest, r"),
    ],
    printed={"criterion": EVERY},
)
