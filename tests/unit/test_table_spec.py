"""Tables as lists of columns: which rows are chosen and laid out, and what is written of them."""

import inspect

import numpy as np
import pandas as pd
import pytest

from rubric_order import tables
from rubric_order.tables.columns import (
    Estimated,
    Flags,
    Number,
    OrderPValue,
    PValue,
    Text,
    away_from_zero,
    cell,
    counts,
    different,
    filled,
    known,
    numbers,
    texts,
    there,
    varied,
)
from rubric_order.tables.spec import Rows, Table, estimate, same, select, taken, wide

ESTIMATES = pd.DataFrame(
    {
        "study": ["s", "s", "s", "t"],
        "profile": ["default", "default", "warm", "default"],
        "judge": ["b", "a", "a", "c"],
        "quantity": ["share", "share", "share", "share"],
        "position": pd.array([1, 2, 1, None], dtype="Int64"),
        "estimate": [0.5, 0.25, 0.75, np.nan],
        "ci_low": [0.4, np.nan, 0.7, np.nan],
        "ci_high": [0.6, np.nan, 0.8, np.nan],
        "n_items": [9, 8, 7, 6],
    }
)


def written(rows, *columns):
    printed = Table(rows=lambda: rows, columns=columns).printout(rows)
    return {name: [*printed[name]] for name in printed}


def test_rows_are_chosen_by_settings_that_have_defaults():
    rows = Rows("shares", "study", "profile", columns=["judge"])
    assert str(inspect.signature(rows)) == "(shares, *, study, profile='default')"
    assert rows(ESTIMATES, study="s")["judge"].tolist() == ["b", "a"]
    assert rows(shares=ESTIMATES, study="s", profile="warm")["judge"].tolist() == ["a"]
    with pytest.raises(TypeError, match="study"):
        rows(ESTIMATES)


def test_several_studies_and_both_kinds_of_clusters_can_be_chosen():
    both = ESTIMATES.assign(cluster=["item", "group", "other", "item"])
    assert Rows("shares", "studies")(both, studies=["t", "s"])["judge"].tolist() == ["b", "a", "a", "c"]
    assert Rows("shares", "cluster")(both, cluster="both")["judge"].tolist() == ["b", "a", "c"]


def test_a_function_takes_the_chosen_rows_and_further_settings():
    def most(shares: pd.DataFrame, others: pd.DataFrame, *, n: int) -> pd.DataFrame:
        return shares.head(n).assign(of_others=len(others))

    rows = Rows(most, "study", where={"profile": "default"}, sort=["judge"], drop=["study"])
    assert str(inspect.signature(rows)).startswith("(shares: ")
    assert list(inspect.signature(rows).parameters) == ["shares", "others", "n", "study"]
    chosen = rows(ESTIMATES, ESTIMATES[["judge"]], study="s", n=2)  # a statistic without the columns is taken whole
    assert chosen["judge"].tolist() == ["a", "b"]
    assert chosen["of_others"].tolist() == [4, 4]
    assert "study" not in chosen


def test_values_are_selected_by_one_by_several_or_by_being_missing():
    assert select(ESTIMATES, position=1)["judge"].tolist() == ["b", "a"]
    assert select(ESTIMATES, position=[1, 2], profile="default")["judge"].tolist() == ["b", "a"]
    assert select(ESTIMATES, position=None)["judge"].tolist() == ["c"]


def test_a_wide_table_has_a_row_for_each_value_of_the_keys_in_their_order():
    first = estimate("share", "first", "n_items", position=1)
    values = [same("profile"), first, taken({"position": 2}, "n_items", prefix="second_", estimate="second")]
    found = wide(ESTIMATES[ESTIMATES["study"] == "s"], ["judge"], [*values, pd.Series({"a": 3}, name="further")])
    assert [*found] == [
        *("judge", "profile", "first", "first_low", "first_high", "first_n_items", "second", "second_n_items"),
        "further",
    ]
    b, a = found.to_dict("records")
    assert (b["judge"], b["first"], b["first_high"], b["first_n_items"], a["second"]) == ("b", 0.5, 0.6, 9, 0.25)
    assert np.isnan([b["second"], b["further"]]).all()
    assert a["further"] == 3


def test_several_rows_of_one_key_are_no_value():
    with pytest.raises(ValueError, match="duplicate"):
        wide(ESTIMATES, ["study"], ["share"])


def test_hidden_columns_are_printed_and_not_in_the_csv_file():
    table = Table(rows=Rows("shares", "study", "profile"), columns=texts("judge", "position"), hidden=["position"])
    rows, printed = tables.study_rows(table, {"shares": ESTIMATES}, {"study": "s"})
    assert "position" not in rows
    assert printed["position"].tolist() == [1, 2]


def test_printed_rows_are_chosen_by_values_or_by_a_function():
    chosen = Table(rows=Rows("shares"), columns=texts("judge"), printed={"study": "t"})
    assert chosen.printout(ESTIMATES)["judge"].tolist() == ["c"]
    last = Table(
        rows=Rows("shares"), columns=[lambda rows: texts(*rows.columns[:1])], printed=lambda rows: rows.tail(1)
    )
    assert last.printout(ESTIMATES)["study"].tolist() == ["t"]


def test_numbers_and_estimates_say_what_is_missing():
    rows = ESTIMATES.assign(share=0.123, share_low=0.1, share_high=[0.2, np.nan, 0.2, 0.2])
    assert written(rows, Number("estimate", "+.1f", name="x", missing=""))["x"] == ["+0.5", "+0.2", "+0.8", ""]
    assert written(rows, Estimated("estimate", ".0f", name="%", times=100))["%"] == [
        *("50 [40, 60]", "25 [undefined]", "75 [70, 80]", "undefined"),
    ]
    assert written(rows, Estimated("share", ".2f"))["share"][:2] == ["0.12 [0.10, 0.20]", "0.12 [undefined]"]
    assert written(rows, *counts(n_items="items"))["items"] == ["9", "8", "7", "6"]
    forms = numbers(lambda rows: [f".{n - 6}f" for n in rows["n_items"]], "share")
    assert written(rows, *forms)["share"] == ["0.123", "0.12", "0.1", "0"]


def test_texts_have_readouts_in_words_names_and_blanks():
    rows = pd.DataFrame({"readout": ["hard", "soft"], "policy": ["one_order", "all"], "note": ["x", None]})
    found = written(rows, *texts("readout", note="remark"), Text("policy", names={"all": "all, drawn"}, spaced=True))
    assert found["readout"] == ["selected option", "option probabilities"]
    assert found["policy"] == ["one order", "all, drawn"]
    assert written(rows, Text("note", missing=""))["note"] == ["x", ""]
    assert written(rows, Text("note", marks=filled(" of {policy}"), where="note"))["note"] == ["x of one_order", ""]
    assert written(rows, cell("both", "{readout}, {policy}".format_map))["both"] == ["hard, one_order", "soft, all"]


def test_cells_and_columns_that_are_not_about_a_row_or_a_table_are_left_out():
    rows = ESTIMATES
    assert written(rows, Text("judge", where=different("study", "s")))["judge"] == ["", "", "", "c"]
    assert written(rows, Text("judge", when=varied("quantity"))) == {}
    assert written(rows, Text("judge", when=there("none"))) == {}
    assert [*written(rows, Text("judge", when=known("ci_low")))] == ["judge"]


def test_p_values_have_their_stars():
    rows = pd.DataFrame({"p": [0.04, 0.0123, 0.001, np.nan], "p_holm": [0.2, 0.03, 0.01, np.nan]})
    rows = rows.assign(least=0.001, card=[np.nan, 0.02, np.nan, np.nan])
    assert written(rows, PValue("p"))["p"] == ["0.04", "0.0123*", "0.001*", "undefined"]
    assert written(rows, PValue("p", least="least", missing=""))["p"] == ["0.04", "0.0123*", "< 0.001*", ""]
    assert written(rows, OrderPValue("p", card="card"))["p"] == ["0.040", "0.012*", "0.001", "undefined"]
    assert written(rows.assign(p=0.0001), OrderPValue("p"))["p"] == ["<.001"] * 4
    ends = pd.DataFrame({"d_low": [0.1, 0.1, -0.1, np.nan], "d_high": 0.3, "d_p_holm": [0.01, 0.2, 0.01, 0.01]})
    assert away_from_zero("d")(ends) == ["**", "*", "", ""]


def test_flags_are_few_clusters_and_what_else_is_named():
    rows = pd.DataFrame({"n_clusters": [3, 30, 3], "flag": ["", "separated", "separated"]})
    assert written(rows, Flags())["flag"] == ["few clusters", "", "few clusters"]
    assert written(rows, Flags(others=["flag"]))["flag"] == ["few clusters", "separated", "few clusters, separated"]
