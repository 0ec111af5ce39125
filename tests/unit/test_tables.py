import io

import numpy as np
import pandas as pd
import pytest

from rubric_order import agreement, bias, tables
from rubric_order.tables import human_agreement, parse_failures, position_selection

AGREEMENT = [
    *("judge", "dataset", "criterion", "strategy", "readout", "n_items", "n_failed"),
    *("pearson", "pearson_low", "pearson_high", "spearman", "spearman_low", "spearman_high"),
]
BOOTSTRAP = {"resamples": 100, "confidence": 0.95, "seed": 1}


@pytest.fixture
def scores():
    """Reads of 8 items by two judges in both orders of two levels; one judge always takes the first position."""
    rows = []
    for judge in ("fair", "first_only"):
        for item in range(8):
            for ordering in ([1, 2], [2, 1]):
                human = item % 2 + 1
                score = human if judge == "fair" else ordering[0]
                failed = judge == "fair" and item == 7
                rows.append(
                    {
                        "study": "s",
                        "judge": judge,
                        "profile": "default",
                        "dataset": "d",
                        "item_id": f"i{item}",
                        "criterion": "quality",
                        "human_score": float(human),
                        "strategy": "balanced",
                        "n": 2,
                        "ordering": ordering,
                        "score": None if failed else score,
                        "position": None if failed else ordering.index(score) + 1,
                        "failure": "empty" if failed else None,
                        "expected_score": np.nan,
                        "position_probabilities": None,
                    }
                )
    table = pd.DataFrame(rows)
    return table.astype({"score": "Int8", "position": "Int8"})


def everything(scores):
    """Each table, its printed form and its caption, by name, made from the given scores."""
    selection = position_selection.table(
        bias.position_selection(scores, **BOOTSTRAP), study="s", strategy="balanced", n=2
    )
    correlation = human_agreement.table(agreement.human_agreement(scores, **BOOTSTRAP), study="s", n=2)
    failures = parse_failures.table(bias.parse_failures(scores), study="s")
    return {
        "position_selection": (selection, position_selection.for_print(selection)),
        "human_agreement": (correlation, human_agreement.for_print(correlation)),
        "parse_failures": (failures, parse_failures.for_print(failures)),
    }


def test_the_columns_of_human_agreement_are_the_published_ones(scores):
    table, _ = everything(scores)["human_agreement"]
    assert table.columns.tolist() == AGREEMENT
    assert table["judge"].tolist() == ["fair", "first_only"]
    fair = table.iloc[0]
    assert fair[["n_items", "n_failed"]].tolist() == [7, 2]
    assert fair["pearson"] == pytest.approx(1)


def test_the_columns_of_position_selection_have_every_position_with_its_interval(scores):
    table, printed = everything(scores)["position_selection"]
    assert table.columns.tolist() == [
        *("judge", "dataset", "strategy", "n", "readout", "n_items", "n_reads", "n_failed", "chi2", "p", "p_cluster"),
        *("cramers_v", "cramers_v_low", "cramers_v_high", "pos1", "pos1_low", "pos1_high"),
        *("pos2", "pos2_low", "pos2_high"),
    ]
    first_only = table.set_index("judge").loc["first_only"]
    assert first_only[["n_items", "n_reads", "n_failed", "pos1", "pos2", "cramers_v"]].tolist() == [8, 16, 0, 1, 0, 1]
    assert printed.columns.tolist() == ["judge", "dataset", "readout", "reads", "chi2", "V", "Pos1 %", "Pos2 %"]
    assert printed.set_index("judge").loc["first_only"].tolist()[-2:] == ["100.0", "0.0"]


def test_the_columns_of_parse_failures_have_counts_and_share(scores):
    table, printed = everything(scores)["parse_failures"]
    assert table.columns.tolist() == [
        *("judge", "dataset", "strategy", "n", "position", "reason", "n_reads", "n_failed", "share"),
    ]
    pooled = table[(table["position"] == "all") & (table["reason"] == "all")].set_index("judge")
    assert pooled.loc["fair", ["n_reads", "n_failed", "share"]].tolist() == [16, 2, 0.125]
    assert pooled.loc["first_only", "n_failed"] == 0
    assert "position" not in printed
    assert "12.50 %" in printed["share"].tolist()


def write(table, printed, folder, caption="A caption."):
    tables.write(table, printed, folder / "table", caption)
    return {suffix: (folder / f"table.{suffix}").read_text() for suffix in ("csv", "md", "tex", "html")}


def test_the_csv_has_every_digit(scores, tmp_path):
    for name, (table, printed) in everything(scores).items():
        back = pd.read_csv(io.StringIO(write(table, printed, tmp_path / name)["csv"]), dtype={"position": str})
        pd.testing.assert_frame_equal(back, table, check_dtype=False, check_exact=True)


def test_every_form_has_a_row_a_row(scores, tmp_path):
    for name, (table, printed) in everything(scores).items():
        written = write(table, printed, tmp_path / name)
        assert written["csv"].count("\n") == len(table) + 1
        assert written["md"].count("\n") == len(printed) + 2
        assert written["tex"].count(r" \\") == len(printed) + 1
        assert written["html"].count("<tr") == len(printed) + 1


def test_an_empty_table_still_has_its_header(scores, tmp_path):
    full = everything(scores)
    for name, (table, printed) in everything(scores[scores["judge"] == "none"]).items():
        written = write(table, printed, tmp_path / name)
        assert table.empty
        if name != "position_selection":  # how many positions there are is not known without a row
            assert printed.columns.tolist() == full[name][1].columns.tolist()
        assert written["csv"] == ",".join(full[name][0].columns) + "\n"
        assert written["md"].startswith("| judge")
        assert r"judge & dataset" in written["tex"]
        assert "<th>judge</th>" in written["html"]


def test_rows_of_other_studies_scales_and_strategies_are_left_out(scores):
    everything_else = [scores.assign(study="t"), scores.assign(strategy="random"), scores]
    statistics = bias.position_selection(pd.concat(everything_else), **BOOTSTRAP)
    assert len(position_selection.table(statistics, study="s", strategy="balanced", n=2)) == 2
    assert position_selection.table(statistics, study="s", strategy="balanced", n=5).empty
    assert position_selection.table(statistics, study="u", strategy="balanced", n=2).empty
    correlations = agreement.human_agreement(pd.concat(everything_else), **BOOTSTRAP)
    assert len(human_agreement.table(correlations, study="s", n=2)) == 4
    assert human_agreement.table(correlations, study="u", n=2).empty
    failures = bias.parse_failures(pd.concat(everything_else))
    assert set(parse_failures.table(failures, study="s")["strategy"]) == {"balanced", "random"}
    assert set(parse_failures.table(failures, study="t")["strategy"]) == {"balanced"}


def test_a_dagger_marks_what_the_test_over_items_does_not_find(scores):
    table, _ = everything(scores)["position_selection"]
    table = pd.concat([table, table], ignore_index=True).assign(p_cluster=[0.2, 0.01, np.nan, 0.05])
    printed = position_selection.for_print(table)
    assert [text.endswith("†") for text in printed["chi2"]] == [True, False, True, True]


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ((0.1234, -0.05, 0.3), "0.123 [-0.050, 0.300]"),
        ((np.nan, np.nan, np.nan), "undefined"),
        ((0.5, np.nan, np.nan), "0.500 [undefined]"),
    ],
)
def test_an_estimate_is_printed_with_its_interval_or_says_that_there_is_none(ends, text):
    row = dict.fromkeys(AGREEMENT, "x") | {"n_items": 3, "n_failed": 0, "readout": "hard"}
    row |= dict(zip(["pearson", "pearson_low", "pearson_high"], ends, strict=True))
    row |= {"spearman": 1.0, "spearman_low": 0.9, "spearman_high": 1.0}
    assert human_agreement.for_print(pd.DataFrame([row]))["Pearson r"].tolist() == [text]


def test_latex_escapes_every_special_character(tmp_path):
    table = pd.DataFrame({"judge_id": [r"a_b & 5% #1 $x$ {y} ~ ^ \z"], "chi2": ["9.1†"], "Spearman rho": ["1"]})
    tex = write(table, table, tmp_path, caption="50% of 3_000 †")["tex"]
    assert r"judge\_id & $\chi^2$ & Spearman $\rho$ \\" in tex
    row = r"a\_b \& 5\% \#1 \$x\$ \{y\} \textasciitilde{} \textasciicircum{} \textbackslash{}z & 9.1$^\dagger$ & 1 \\"
    assert row in tex
    assert r"\caption{50\% of 3\_000 $^\dagger$}" in tex
    assert r"\begin{tabular}{lll}" in tex


def test_html_escapes_text_and_cuts_none(tmp_path):
    table = pd.DataFrame({"judge": ["<b>&\"'" + "x" * 300] * 150})
    page = write(table, table, tmp_path, caption="a < b")["html"]
    assert "&lt;b&gt;&amp;" in page
    assert page.count("x" * 300) == 150
    assert "<caption>a &lt; b</caption>" in page
    assert "<b>" not in page


def test_the_same_table_gives_the_same_bytes(scores, tmp_path):
    for name, (table, printed) in everything(scores).items():
        assert write(table, printed, tmp_path / name / "a") == write(
            table.copy(), printed.copy(), tmp_path / name / "b"
        )
