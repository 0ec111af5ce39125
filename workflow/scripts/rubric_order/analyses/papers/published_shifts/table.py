"""Differences of the published correlations of Li et al. (2025) from their baseline."""

import pandas as pd

from rubric_order.tables import numbers

CAPTION = (
    "Differences of the printed correlations of Li et al. (2025), Table 3, from the printed baseline: both "
    "coefficients, six pairs of dataset and golden scores, under each perturbation. Largest: the paper's fluctuation, "
    "with the dataset and golden scores where it is. Rises: how many of the differences are above 0. The table has "
    "neither Roman numerals nor reference answers. No number in it says how far a correlation moves under an edit "
    "without meaning, and the largest of many differences is not 0 for a judge that nothing moves: a fluctuation is no "
    "evidence by itself. The differences of a judge are not independent of each other, so that no test is made of them."
)


def table(published_shifts: pd.DataFrame) -> pd.DataFrame:
    """One row a judge and perturbation, see `published_shifts.estimate`."""
    return published_shifts


def for_print(rows: pd.DataFrame) -> pd.DataFrame:
    """Rounded."""
    printed = rows[["judge", "perturbation"]].assign(differences=rows["n_differences"])
    places = zip(numbers(rows["largest"], form=".4f"), rows["dataset"], rows["scores_of"], strict=True)
    printed["largest"] = [f"{size} ({dataset}, {source})" for size, dataset, source in places]
    for limit in (0.03, 0.05):
        printed[f"beyond {limit}"] = rows[f"beyond_{limit}"]
    printed["rises"] = rows["above_0"]
    return printed.assign(mean=numbers(rows["mean"], form="+.4f"))
