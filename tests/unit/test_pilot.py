"""Samples of requests for a pilot."""

import numpy as np
import pandas as pd
import pytest

from rubric_order.base import parquet
from rubric_order.judging import pilot

ORDERINGS = 10


@pytest.fixture
def written(tmp_path):
    def write(items, study):
        rows = [
            {"request_id": f"{study}-{item}-{order}", "dataset": "d", "unit_id": f"i{item:05d}", "prompt": "p"}
            for item in range(items)
            for order in range(ORDERINGS)
        ]
        path = tmp_path / study / "judge.parquet"
        parquet.write(pd.DataFrame(rows), path)
        return path

    return write


def test_a_sample_has_whole_units_of_all_studies_as_their_shares_and_from_everywhere(written):
    paths = [written(600, "large"), written(200, "small")]
    asked, studies = pilot.sample(paths, ["score_order", "score_order"])
    assert 160 <= len(asked) <= 260
    assert np.mean(np.array(studies) == "large") == pytest.approx(0.75, abs=0.1)
    assert (asked.groupby(["request_id"]).size() == 1).all()
    whole = asked.assign(study=studies).groupby(["study", "unit_id"]).size()
    assert (whole == ORDERINGS).all()
    places = asked.loc[np.array(studies) == "large", "unit_id"].str[1:].astype(int)
    assert (places.min(), places.max()) == (0, 599)


def test_of_few_requests_all_are_the_sample(written):
    asked, _ = pilot.sample([written(15, "one")], ["score_order"])
    assert sorted(asked["request_id"]) == sorted(f"one-{item}-{order}" for item in range(15) for order in range(10))
