import io
import re
import shutil
import subprocess
import unicodedata

import numpy as np
import pandas as pd
import pytest
from factories import one_read_each, order_tests_of, score_table, simulated_reads

from rubric_order import registry, tables
from rubric_order.analyses.agreement.human_agreement import estimate as agreement
from rubric_order.analyses.agreement.human_agreement import table as human_agreement
from rubric_order.analyses.agreement.strategy_comparison import estimate as comparison
from rubric_order.analyses.agreement.strategy_comparison import table as strategy_comparison
from rubric_order.analyses.overview.parse_failures import estimate as failures
from rubric_order.analyses.overview.parse_failures import table as parse_failures
from rubric_order.analyses.position.position_selection import estimate as bias
from rubric_order.analyses.position.position_selection import table as position_selection
from rubric_order.analyses.position.scales import estimate as levels
from rubric_order.analyses.position.scales import table as scales
from rubric_order.base.conditions import select_condition
from rubric_order.cards import card as cards
from rubric_order.library import estimates
from rubric_order.prompts import orderings

ENDS = ("", "_low", "_high")
AGREEMENT = [
    *("judge", "dataset", "criterion", "strategy", "readout", "cluster"),
    *("n_items", "n_clusters", "n_reads", "n_failed"),
    *(f"{name}{end}" for name in ("pearson", "spearman", "kendall", "kappa") for end in ENDS),
    *(f"{name}{end}" for name in ("pearson_corrected", "human_reliability") for end in ENDS),
    *("pearson_bound_low", "pearson_bound_high", "raters"),
]
BOOTSTRAP = {"resamples": 100, "confidence": 0.95, "seed": 1}


@pytest.fixture(scope="module")
def scores():
    """Reads of 8 items by two judges in both orders of two levels; one judge always takes the first position."""
    human = [1, 2] * 4
    fair = [[level] * 2 for level in human[:-1]] + [["empty"] * 2]
    options = {"n": 2, "shown": [[1, 2], [2, 1]], "per_group": 2, "soft": False}
    parts = [
        score_table(selected, human, judge=judge, **options)
        for judge, selected in (("fair", fair), ("first_only", [[1, 2]] * 8))
    ]
    return pd.concat(parts, ignore_index=True)


def everything(scores):
    """Each table, its printed form and its caption, by name, made from the given scores."""
    positions = bias.estimate(scores, **BOOTSTRAP)
    correlations = agreement.estimate(scores, confidence=0.95)
    differences = comparison.estimate(scores, confidence=0.95)
    selection = position_selection.TABLE.table(positions, order_tests_of(scores), study="s", strategy="balanced", n=2)
    correlation = human_agreement.TABLE.table(correlations, study="s", n=2)
    compared = strategy_comparison.TABLE.table(correlations, differences, study="s", n=2)
    by_scale = scales.TABLE.table(levels.estimate(positions, studies=["s"]))
    failed = parse_failures.TABLE.table(select_condition(failures.estimate(scores), "baseline"), study="s")
    return {
        "position_selection": (selection, position_selection.TABLE.printout(selection)),
        "human_agreement": (correlation, human_agreement.TABLE.printout(correlation)),
        "strategy_comparison": (compared, strategy_comparison.TABLE.printout(compared)),
        "scales": (by_scale, scales.TABLE.printout(by_scale)),
        "parse_failures": (failed, parse_failures.TABLE.printout(failed)),
    }


@pytest.fixture(scope="module")
def whole(scores):
    return everything(scores)


def test_the_columns_of_human_agreement_are_the_published_ones(whole):
    table, _ = whole["human_agreement"]
    assert table.columns.tolist() == AGREEMENT
    assert table["judge"].tolist() == ["fair", "first_only"]
    fair = table.iloc[0]
    assert fair[["cluster", "n_items", "n_clusters", "n_failed"]].tolist() == ["group", 7, 4, 2]
    assert fair["pearson"] == pytest.approx(1)


def test_the_columns_of_position_selection_have_every_position_with_its_interval(whole):
    table, printed = whole["position_selection"]
    intervals = ("", "_low", "_high", "_bound_low", "_bound_high")
    assert table.columns.tolist() == [
        *("judge", "dataset", "strategy", "n", "readout", "cluster", "n_items", "n_clusters", "n_reads", "n_failed"),
        *("chi2", "p", "p_cluster", "p_rotation", "p_holm", "p_bh", "n_tests", "p_card"),
        *(*(f"cramers_v{end}" for end in intervals), "flag"),
        *("cramers_v_corrected", "cramers_v_squared", "cramers_v_corrected_reads", "design_effect", "detectable_v"),
        *("saturated", "commonest_share", "discordant_pairs", "discordant_share", "direction"),
        *(f"pos{position}{end}" for position in (1, 2) for end in (*intervals, "_sim_low", "_sim_high")),
    ]
    first_only = table.set_index("judge").loc["first_only"]
    counts = ["n_items", "n_clusters", "n_reads", "n_failed"]
    assert first_only[[*counts, "pos1", "pos2", "cramers_v"]].tolist() == [8, 4, 16, 0, 1, 0, 1]
    assert printed.columns.tolist() == [
        *("judge", "dataset", "readout", "reads", "groups", "V", "corrected V", "detectable V", "chi2"),
        *("p", "p rotation"),
        *("Pos1 %", "Pos2 %", "commonest %", "same %", "direction", "flag"),
    ]
    assert set(printed["flag"]) == {"few clusters"}
    assert printed.set_index("judge").loc["first_only", ["Pos1 %", "Pos2 %"]].tolist() == [
        "100.0 [undefined]",
        "0.0 [undefined]",
    ]


def test_items_or_groups_are_the_sample_as_asked(scores):
    statistics = bias.estimate(scores, **BOOTSTRAP)
    by_group, by_item = (
        position_selection.TABLE.table(
            statistics, order_tests_of(scores), study="s", strategy="balanced", n=2, cluster=cluster
        )
        for cluster in ("group", "item")
    )
    assert by_group["n_clusters"].tolist() == [4, 4]
    assert by_item["n_clusters"].tolist() == [7, 8]
    assert by_group["chi2"].tolist() == by_item["chi2"].tolist()
    assert (by_group["p_cluster"] > by_item["p_cluster"])[1]


def test_the_columns_of_parse_failures_have_counts_and_share(whole):
    table, printed = whole["parse_failures"]
    assert table.columns.tolist() == [
        *("judge", "dataset", "strategy", "n", "option", "position", "reason", "n_scores", "n_failed", "share"),
    ]
    pooled = table[(table["position"] == "all") & (table["reason"] == "all")].set_index("judge")
    assert pooled.loc["fair", ["n_scores", "n_failed", "share"]].tolist() == [16, 2, 0.125]
    assert pooled.loc["first_only", "n_failed"] == 0
    assert "position" not in printed
    assert "12.50 %" in printed["share"].tolist()


def write(table, printed, folder, caption="A caption."):
    tables.write(table, printed, folder / "table", caption)
    return {suffix: (folder / f"table.{suffix}").read_text() for suffix in ("csv", "md", "tex", "html")}


def test_the_csv_has_every_digit(whole, tmp_path):
    for name, (table, printed) in whole.items():
        back = pd.read_csv(
            io.StringIO(write(table, printed, tmp_path / name)["csv"]), dtype={"position": str, "option": str}
        )
        pd.testing.assert_frame_equal(back, table, check_dtype=False, check_exact=True)


def test_every_form_has_a_row_a_row(whole, tmp_path):
    for name, (table, printed) in whole.items():
        written = write(table, printed, tmp_path / name)
        assert written["csv"].count("\n") == len(table) + 1
        assert written["md"].count("\n") == len(printed) + 4
        assert written["tex"].count(r" \\") == len(printed) + 1
        assert written["html"].count("<tr") == len(printed) + 1


def test_rows_of_other_studies_scales_and_strategies_are_left_out(scores):
    everything_else = [scores.assign(study="t"), scores.assign(strategy="random"), scores]
    statistics = bias.estimate(pd.concat(everything_else), **BOOTSTRAP)
    both = statistics, order_tests_of(everything_else)
    assert len(position_selection.TABLE.table(*both, study="s", strategy="balanced", n=2)) == 2
    assert position_selection.TABLE.table(*both, study="s", strategy="balanced", n=5).empty
    assert position_selection.TABLE.table(*both, study="u", strategy="balanced", n=2).empty
    correlations = agreement.estimate(pd.concat(everything_else), confidence=0.95)
    assert len(human_agreement.TABLE.table(correlations, study="s", n=2)) == 4
    assert human_agreement.TABLE.table(correlations, study="u", n=2).empty
    failed = failures.estimate(pd.concat(everything_else))
    assert set(parse_failures.TABLE.table(failed, study="s")["strategy"]) == {"balanced", "random"}
    assert set(parse_failures.TABLE.table(failed, study="t")["strategy"]) == {"balanced"}


def test_a_star_marks_what_a_bias_card_has_for_a_finding_and_no_other_p(whole):
    table, _ = whole["position_selection"]
    table = pd.concat([table, table], ignore_index=True)
    table = table.assign(p_cluster=[0.007, 0.007, np.nan, 0.0001], p_holm=0.007, p_card=[np.nan, 0.028, np.nan, 0.0004])
    assert position_selection.TABLE.printout(table)["p"].tolist() == ["0.007", "0.007*", "undefined", "<.001*"]


def test_marks_are_those_of_the_cards_of_the_same_scores():
    parts = [
        simulated_reads(
            groups=30, candidates=1, strategies=("balanced",), judge=f"j{k}", seed=k, soft=k % 2 == 0, preference=bias
        )
        for k, bias in enumerate([None, None, [0.3, 0, 0, 0, 0], [0.3, 0, 0, 0, 0]])
    ]
    scores = pd.concat(parts, ignore_index=True)
    tests = order_tests_of(scores).query("cluster == 'group' and dataset == 'd'")
    made = {found.judge: found for found in cards.cards(estimates.card_statistics(scores))}
    assert set(tests["judge"]) == set(made)
    for judge, own in tests.groupby("judge"):
        adjusted = own.set_index(["readout", "test"])["p_card"].to_dict()
        assert set(adjusted) == set(made[judge].verdict.tests)
        assert own["finding"].any() == made[judge].verdict.word.startswith("biased")
    assert tests.groupby("judge")["finding"].any().nunique() == 2


# Strategies and scales.


def rated_reads(strategies, *, n=5, **about):
    """Scores of items, one read each, by strategy; human scores are 1, 2, 3, 4, 5 over and over."""
    human = [item % 5 + 1 for item in range(max(map(len, strategies.values())))]
    return one_read_each(strategies, human, n=n, shown=[range(1, n + 1)], soft=False, **about)


def test_the_strategy_comparison_has_r_of_each_strategy_and_differences_from_one():
    rng = np.random.default_rng(1)
    human = np.arange(80) % 5 + 1
    noisy = {name: np.clip(human + rng.integers(-k, k + 1, 80), 1, 5) for k, name in enumerate(("balanced", "random"))}
    reads = rated_reads(noisy | {"fixed": rng.integers(1, 6, 80)})
    statistics = agreement.estimate(reads, confidence=0.95), comparison.estimate(reads, confidence=0.95)
    (row,) = strategy_comparison.TABLE.table(*statistics, study="s", n=5).to_dict("records")
    assert (row["r_balanced"], row["items_fixed"], row["delta_fixed_items"]) == (1, 80, 80)
    for other in ("random", "fixed"):
        assert row[f"delta_{other}"] == pytest.approx(row["r_balanced"] - row[f"r_{other}"])
        assert row[f"delta_{other}_low"] <= row[f"delta_{other}"] <= row[f"delta_{other}_high"]
    (turned,) = strategy_comparison.TABLE.table(*statistics, study="s", n=5, strategy="random").to_dict("records")
    assert turned["delta_balanced"] == pytest.approx(-row["delta_random"])
    assert turned["delta_balanced_low"] == pytest.approx(-row["delta_random_high"])
    assert turned["delta_balanced_p"] == row["delta_random_p"]
    (printed,) = strategy_comparison.TABLE.printout(
        strategy_comparison.TABLE.table(*statistics, study="s", n=5)
    ).to_dict("records")
    assert list(printed) == [
        *("judge", "dataset", "readout", "balanced r", "random r", "fixed r", "less random r", "less fixed r"),
        *("less fixed r: order", "less fixed r: averaging", "flag"),
    ]
    assert printed["flag"] == "few clusters"
    assert printed["less fixed r"].startswith(f"+{row['delta_fixed']:.3f} [+")
    assert printed["less fixed r"].endswith("**†")  # one read is no mean
    assert row["delta_fixed_flag"] == "one read"
    assert row["delta_fixed_order"] == pytest.approx(row["delta_fixed"])
    assert row["delta_fixed_averaging"] == row["delta_fixed_averaging_baseline"] == 0


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((0.05, 0.027, 0.072, 0.01), "+0.050 [+0.027, +0.072]**"),
        ((0.05, 0.027, 0.072, 0.2), "+0.050 [+0.027, +0.072]*"),
        ((-0.025, -0.053, 0.003, 0.2), "-0.025 [-0.053, +0.003]"),
        ((0.1, np.nan, np.nan, np.nan), "+0.100 [undefined]"),
        ((np.nan, np.nan, np.nan, np.nan), "undefined"),
    ],
)
def test_stars_mark_differences_whose_interval_does_not_hold_0(values, text):
    ends = ("", "_low", "_high", "_p_holm")
    row = {"judge": "j", "dataset": "d", "readout": "hard", "cluster": "group"}
    row |= {"delta_fixed_items": 9, "n_clusters": 40}
    row |= {f"delta_fixed{end}": value for end, value in zip(ends, values, strict=True)}
    printed = strategy_comparison.TABLE.printout(pd.DataFrame([row]))
    assert printed[["less fixed r", "flag"]].to_numpy().tolist() == [[text, ""]]


def placed_reads(places, *, n, **about):
    """Items that are read in every rotation, by a judge that takes the score at one place of each item."""
    turns = orderings.rotations(n)
    return score_table([turns[:, place - 1].tolist() for place in places], n=n, shown=turns, soft=False, **about)


def test_scales_average_v_over_the_datasets_of_each_scale():
    rng = np.random.default_rng(2)
    parts = [
        placed_reads(rng.integers(1, n + 1, 60), n=n, dataset=dataset)
        for n, dataset in ((2, "a"), (2, "b"), (5, "a"), (5, "b"), (9, "a"))
    ]
    statistics = bias.estimate(pd.concat(parts), **BOOTSTRAP)
    table = scales.TABLE.table(levels.estimate(statistics, studies=["s"]))
    means = table[table["dataset"] == "mean"].set_index("n")
    assert means["n_datasets"].to_dict() == {2: 2, 5: 2, 9: 1}
    for n, block in table[table["dataset"] != "mean"].groupby("n"):
        assert means.at[n, "cramers_v"] == pytest.approx(block["cramers_v"].mean())
        assert means.at[n, "cramers_v_corrected"] == pytest.approx(block["cramers_v_corrected"].mean())
        widths = block["cramers_v_high"] - block["cramers_v"]
        width = np.sqrt((widths**2).sum()) / len(block)
        assert means.at[n, "cramers_v_high"] == pytest.approx(means.at[n, "cramers_v"] + width)
    printed = scales.TABLE.printout(table)
    assert printed.columns.tolist() == ["judge", "readout", "n = 2", "n = 5", "n = 9"]
    assert printed["n = 5"].item().startswith(f"{means.at[5, 'cramers_v_corrected']:.3f} [")
    saturated = statistics.assign(saturated=statistics["dataset"] == "a")
    text = scales.TABLE.printout(scales.TABLE.table(levels.estimate(saturated, studies=["s"])))["n = 2"].item()
    assert text.endswith("(2, 1 saturated)")
    assert [text[-3:] for text in printed.iloc[0, 2:]] == ["(2)", "(2)", "(1)"]


def test_scales_of_several_studies_take_each_dataset_from_the_first():
    first = placed_reads([1, 1, 1, 2] * 10, n=2)
    again = placed_reads([1, 2] * 20, n=2).assign(study="t")
    more = placed_reads([1, 2, 3] * 20, n=3).assign(study="t")
    statistics = bias.estimate(pd.concat([again, first, more]), **BOOTSTRAP)
    found = (
        scales.TABLE.table(levels.estimate(statistics, studies=["s", "t"]))
        .query("dataset == 'd'")
        .set_index("n")["cramers_v"]
    )
    assert found.to_dict() == {2: pytest.approx(0.5), 3: pytest.approx(0)}
    turned = (
        scales.TABLE.table(levels.estimate(statistics, studies=["t", "s"]))
        .query("dataset == 'd'")
        .set_index("n")["cramers_v"]
    )
    assert turned[2] == pytest.approx(0)


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ((0.1234, -0.05, 0.3), "0.12 [-0.05, 0.30]"),
        ((np.nan, np.nan, np.nan), "undefined"),
        ((0.5, np.nan, np.nan), "0.50 [undefined]"),
    ],
)
def test_an_estimate_is_printed_with_its_interval_or_says_that_there_is_none(ends, text):
    row = dict.fromkeys(AGREEMENT[:6], "x") | dict.fromkeys(AGREEMENT[6:], 0.5) | {"readout": "hard"}
    row |= dict(zip(["pearson", "pearson_low", "pearson_high"], ends, strict=True))
    assert human_agreement.TABLE.printout(pd.DataFrame([row]))["Pearson r"].tolist() == [text]


def test_latex_escapes_every_special_character(tmp_path):
    table = pd.DataFrame({"judge_id": [r"a_b & 5% #1 $x$ {y} ~ ^ \z"], "chi2": ["9.1†"], "Spearman rho": ["1"]})
    tex = write(table, table, tmp_path, caption="50% of 3_000 †")["tex"]
    assert r"judge\_id & $\chi^2$ & {Spearman $\rho$} \\" in tex
    row = r"a\_b \& 5\% \#1 \$x\$ \{y\} \textasciitilde{} \textasciicircum{} \textbackslash{}z & 9.1$^\dagger$ & 1 \\"
    assert row in tex
    assert r"\caption{50\% of 3\_000 $^\dagger$}" in tex
    assert r"\begin{tabular}{llS[table-format=1]}" in tex


def test_latex_lines_numbers_up_and_sets_what_a_caption_explains_as_notes(tmp_path):
    table = pd.DataFrame({"judge": ["a", "b"], "reads": ["1,234", "12"], "r": ["-0.50", ""], "p": ["<.001", "0.2"]})
    caption = "What is shown, after Xu et al. (2026). A note: p < .001. Another."
    tex = write(table, table, tmp_path, caption=caption)["tex"]
    assert r"\begin{tabular}{lS[table-format=4]S[table-format=+1.2]l}" in tex
    assert r"judge & {reads} & {r} & p \\" in tex
    assert r"a & 1234 & -0.50 & $<$.001 \\" in tex
    assert r"b & 12 & {} & 0.2 \\" in tex
    assert r"\caption{What is shown, after Xu et al. (2026).}" in tex
    assert r"\parbox{\linewidth}{\small A note: p $<$ .001. Another.}" in tex
    for name in ("table", "tabular"):
        assert tex.count(rf"\begin{{{name}}}") == tex.count(rf"\end{{{name}}}") == 1


def test_latex_of_a_wide_table_is_in_small_print_or_turned(tmp_path):
    # A column of 10 characters takes 62 points in the usual size, and 48.5 in small print, of 455 or, turned, of 650.
    marks = {7: "", 8: "small", 9: "small", 10: "small turned", 13: "small turned", 14: "small turned cut"}
    for columns, of_table in marks.items():
        small, turned, cut = (name in of_table.split() for name in ("small", "turned", "cut"))
        table = pd.DataFrame({f"column {k:03d}": ["text"] for k in range(columns)})
        tex = write(table, table, tmp_path / str(columns), caption="What is shown. And a note.")["tex"]
        environment = "sidewaystable" if turned else "table"
        assert rf"\begin{{{environment}}}" in tex
        assert tex.endswith(f"\\end{{{environment}}}\n")
        assert (r"\footnotesize\setlength{\tabcolsep}{3pt}" in tex) == small
        assert (r"{\small And a note." in tex) != small
        assert tex.startswith(rf"% \usepackage{{booktabs, graphicx, siunitx{', rotating' * turned}}}")
        assert ("% Wider than a page" in tex) == cut


def test_every_form_but_the_data_has_the_caption(whole, tmp_path):
    for name, (table, printed) in whole.items():
        written = write(table, printed, tmp_path / name, caption="What is shown. And a note.")
        assert written["md"].endswith("\n\nTable: What is shown. And a note.\n")
        assert "<caption>What is shown. And a note.</caption>" in written["html"]
        assert r"\caption{What is shown.}" in written["tex"]
        assert "And a note." in written["tex"].partition(r"\parbox{\linewidth}")[2]
        assert "What is shown" not in written["csv"]


def test_a_table_in_markdown_holds_no_element_of_html_and_no_further_cell(tmp_path):
    table = pd.DataFrame({"judge": ["<script>a</script>|b"], "p": ["< 0.001"]})
    rows = write(table, table, tmp_path, caption="<img src=x> and 1 < 2.")["md"]
    assert "<script" not in rows
    assert "<img" not in rows
    assert r"&lt;script>a&lt;/script>\|b" in rows
    assert "< 0.001" in rows
    assert rows.endswith("Table: &lt;img src=x> and 1 < 2.\n")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX is installed")
@pytest.mark.parametrize("columns", [1, 7, 9, 14, 30])
@pytest.mark.parametrize("rows", [0, 3])
def test_each_table_of_latex_fits_its_page(tmp_path, columns, rows):
    table = pd.DataFrame({f"column {k:03d}": ["some text", "1.2", ""][:rows] for k in range(columns)})
    tex = write(table, table, tmp_path, caption=f"What is shown. {70 * 'And a long note. '}")["tex"]
    packages = re.match(r"% (\\usepackage\{.*\})", tex)[1].replace(" ", "")
    head = rf"\documentclass{{article}}\usepackage[margin=1in]{{geometry}}{packages}"
    (tmp_path / "page.tex").write_text(rf"{head}\begin{{document}}{tex}\end{{document}}")
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert not re.findall(r"(?:Overfull .*|.*Float too large.*)", done.stdout)


def test_a_gap_in_words_leaves_a_column_of_numbers_lined_up(tmp_path):
    table = pd.DataFrame({"judge": ["a", "b", "c"], "V": ["0.125", "undefined", ""], "text": ["0.1*", "undefined", ""]})
    tex = write(table, table, tmp_path)["tex"]
    assert r"\begin{tabular}{lS[table-format=1.3]l}" in tex
    assert r"b & {undefined} & undefined \\" in tex


def cells(line):
    """The cells of a row of LaTeX: an ampersand with a backslash before it parts none."""
    return [cell.strip() for cell in re.split(r"(?<!\\)&", line.removesuffix(r"\\"))]


def test_every_row_of_latex_has_a_cell_a_column_and_nothing_that_pdflatex_cannot_set(whole, tmp_path):
    captions = {name: registry.caption("tables", name) for name in whole}
    for name, (table, printed) in whole.items():
        tex = write(table, printed, tmp_path / name, caption=captions[name])["tex"]
        bare = re.sub(r"\$[^$]*\$", "", re.sub(r"\\.", "", tex))  # without escaped characters, and without formulas
        assert bare.count("{") == bare.count("}")
        assert not set(bare) & set("^_#~"), "what LaTeX reads as a command"
        # Beside ASCII: letters with accents, which LaTeX knows. Signs have names in LaTeX.
        assert all(character.isascii() or unicodedata.decomposition(character) for character in tex)
        assert not re.search("[^\\x00-\\u024f]", tex)
        columns = re.findall(r"S\[table-format=[+0-9.]+\]|l", re.search(r"\\begin\{tabular\}\{(.*)\}", tex)[1])
        assert len(columns) == len(printed.columns)
        rows = [cells(line) for line in tex.splitlines() if line.endswith(r"\\")]
        assert len(rows) == 1 + len(printed)
        for row in rows:
            assert len(row) == len(columns)
            for cell, kind in zip(row, columns, strict=True):
                assert kind == "l" or re.fullmatch(r"\{.*\}|[+-]?[0-9.]+", cell)


def test_html_escapes_text_and_cuts_none(tmp_path):
    table = pd.DataFrame({"judge": ["<b>&\"'" + "x" * 300] * 150})
    page = write(table, table, tmp_path, caption="a < b")["html"]
    assert "&lt;b&gt;&amp;" in page
    assert page.count("x" * 300) == 150
    assert "<caption>a &lt; b</caption>" in page
    assert "<b>" not in page


def test_the_same_table_gives_the_same_bytes(whole, tmp_path):
    for name, (table, printed) in whole.items():
        assert write(table, printed, tmp_path / name / "a") == write(
            table.copy(), printed.copy(), tmp_path / name / "b"
        )


def test_the_strategy_comparison_can_have_items_as_the_paper_draws_them_beside_groups():
    table = simulated_reads(groups=12, candidates=4, study="s")
    correlations = agreement.estimate(table, confidence=0.95)
    differences = comparison.estimate(table, confidence=0.95)
    rows = strategy_comparison.TABLE.table(correlations, differences, study="s", n=5, cluster="both")
    assert rows["cluster"].tolist() == ["group", "item"]
    for cluster, n in (("group", 12), ("item", 48)):
        (alone,) = strategy_comparison.TABLE.table(correlations, differences, study="s", n=5, cluster=cluster).to_dict(
            "records"
        )
        (same,) = rows[rows["cluster"] == cluster].to_dict("records")
        assert {key: value for key, value in same.items() if value == value} == {
            key: value for key, value in alone.items() if value == value
        }
        assert same["n_clusters"] == n
    assert strategy_comparison.TABLE.printout(rows)["sample"].tolist() == ["groups", "items"]
    assert "sample" not in strategy_comparison.TABLE.printout(rows[rows["cluster"] == "item"])
