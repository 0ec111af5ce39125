import numpy as np
import pandas as pd
import pytest
from factories import ROOT, comparison_table

from rubric_order.analyses.comparisons.bias_factors import estimate as bias_factors
from rubric_order.analyses.comparisons.bias_factors import table as bias_factors_table
from rubric_order.analyses.comparisons.influencing_factors import table as influencing_factors
from rubric_order.methods.uncertainty import stepwise

A, B, TIE = 1, 2, 0


def judged(judge, rng, *, questions=6, candidates=5, tasks=3, lean=0.0, quality=True):
    """Pairs of a judge, each candidate with the baseline, in every task."""
    parts = []
    for task in range(tasks):
        worth = np.tile(np.linspace(-2, 2, candidates), questions) * quality + 0.3 * task
        chance = 1 / (1 + np.exp(-np.column_stack([worth + lean, lean - worth])))
        verdicts = np.where(rng.random(chance.shape) < chance, A, B)
        part = comparison_table(verdicts.tolist(), per_group=candidates, task=f"t{task}", judge=judge)
        parts.append(part.assign(unit_id=part["unit_id"] + f"t{task}", group_id=part["group_id"] + f"t{task}"))
    return pd.concat(parts, ignore_index=True)


def study(judges=14, **options):
    rng = np.random.default_rng(20261122)
    return [judged(f"j{number:02d}", rng, lean=number / 10, **options) for number in range(judges)]


def test_fourteen_judges_give_a_table_of_the_papers_shape():
    found = bias_factors.estimate(study(), forms={})
    rows = bias_factors_table.TABLE.table(found, study="judging_the_judges")
    own = rows.query("outcome == 'position_consistency' and gap == 'own'").set_index("removed")
    assert own.index[0] == "none"  # no removal makes the model better
    assert own["aic"].is_monotonic_increasing
    assert own.loc["judge", "df"] == 13
    assert own.loc["quality_gap", "df"] == 1
    assert set(own["n_cells"]) == {14 * 5 * 3}
    assert np.allclose(own["rss"] - own.loc["none", "rss"], own["sum_of_squares"])
    printed = bias_factors_table.TABLE.printout(rows)
    assert printed.columns.tolist()[3:8] == ["removed", "DF", "sum of squares", "RSS", "AIC"]


def test_the_own_gap_explains_consistency_that_has_nothing_to_do_with_quality_and_that_of_others_does_not():
    found = bias_factors.estimate(study(quality=False), forms={}).query("outcome == 'position_consistency'")
    gain = {}
    for gap, rows in found.groupby("gap"):
        rows = rows.set_index("removed")
        gain[gap] = rows.loc["quality_gap", "aic"] - rows.loc["none", "aic"] if "quality_gap" in rows.index else 0.0
    assert gain["own"] > 10
    assert gain["others"] < 6


def test_numbers_are_those_of_the_cells():
    tables = study(judges=2)
    found = bias_factors.estimate(tables, forms={}).query("outcome == 'position_consistency' and gap == 'own'")
    cells = []
    for table in tables:
        wide = table.pivot(index=["judge", "candidate", "task", "unit_id"], columns="read_index", values="score")
        same = (wide[0] == wide[1]).astype(float)
        won = same * (wide[0] == 2) + (1 - same) / 2
        both = pd.DataFrame({"y": same, "rate": won}).groupby(["judge", "candidate", "task"]).mean()
        cells.append(both.reset_index())
    cells = pd.concat(cells)
    cells["quality_gap"] = (cells["rate"] - 0.5).abs()
    terms = {name: stepwise.columns(cells[name]) for name in ("judge", "candidate", "task", "quality_gap")}
    chosen = stepwise.search(cells["y"].to_numpy(), terms)
    expected = stepwise.removals(cells["y"].to_numpy(), {name: terms[name] for name in chosen})
    assert found["removed"].tolist() == [removal.term or "none" for removal in expected]
    assert np.allclose(found["rss"].astype(float), [removal.rss for removal in expected])


def test_the_papers_table_1_marks_what_is_kept_in_every_dataset():
    rng = np.random.default_rng(5)
    tables = []
    for number in range(14):
        for dataset in ("one", "two"):
            table = judged(f"j{number:02d}", rng, lean=number / 5).assign(dataset=dataset, benchmark=dataset)
            sizes = {name: 1000 + 300 * k for k, name in enumerate(sorted(table["candidate"].unique()))}
            tables.append(table.assign(lengths=[[900, sizes[name]] for name in table["candidate"]]))
    found = bias_factors.estimate(tables, forms={})
    rows = influencing_factors.TABLE.table(found, study="judging_the_judges", gap="own").set_index("factor")
    assert (
        rows.index[:5].tolist()
        == pd.read_csv(ROOT / "resources/published/shi2025_table1.csv")["factor"].unique().tolist()
    )
    assert rows.loc["familial_property", ["judge", "candidate", "task"]].tolist() == ["yes*", "no", "no"]
    assert rows.loc["answer_quality_gap", "candidate"] == "yes*"
    # Lengths are the same in all cells of a candidate: they say nothing beside it, but they are a term.
    assert rows.loc["task_output_length", "significant"] in ("yes", "no")
    assert rows.loc["prompt_length", "significant"] == "not known"
    assert rows.loc["familial_property", "aic_one_PF"] > 10
    assert len(influencing_factors.TABLE.printout(rows.reset_index())) == 7
    # Another profile, strategy or number of options is no part of these rows.
    more = pd.concat([found, found.assign(profile="think"), found.assign(strategy="cyclic", n=3)])
    several = influencing_factors.TABLE.table(more, study="judging_the_judges", gap="own")
    assert several.groupby(["strategy", "n"]).size().tolist() == [7, 7]
    assert influencing_factors.TABLE.table(found, study="none", gap="own").empty


def test_lengths_of_questions_and_prompts_are_terms_where_they_are_known():
    rng = np.random.default_rng(7)
    tables = []
    for judge in "abcd":
        verdicts, texts, asked, tasks = [], [], [], []
        for task in range(4):
            for candidate in range(6):
                size = 400 * ((candidate * 5 + task * 3) % 7)  # of the candidate's texts in this cell
                for question in range(10):
                    consistent = rng.random() < 0.2 + size / 3600
                    verdicts.append((A, B) if consistent else (A, A))
                    texts.append([1000, size])
                    asked.append(100 * task + 10 * question)
                    tasks.append((task, candidate, question))
        table = comparison_table(verdicts, tie=False, judge=judge)
        unit = table["unit_id"].str[1:].astype(int)
        table["task"] = [f"t{tasks[k][0]}" for k in unit]
        table["candidate"] = [f"c{tasks[k][1]}" for k in unit]
        table["candidates"] = [["base", f"c{tasks[k][1]}"] for k in unit]
        table["group_id"] = [f"t{tasks[k][0]}q{tasks[k][2]}" for k in unit]
        table["lengths"] = [texts[k] for k in unit]
        tables.append(table.assign(input_length=[asked[k] for k in unit]))
    found = bias_factors.estimate(tables, forms={}).query("outcome == 'position_consistency' and gap == 'others'")
    assert {"output_length", "input_length", "prompt_length"} <= set(found["offered"].iloc[0].split())
    # The two of the candidate's texts tell the same here beside the task, and one of them is kept.
    assert {"output_length", "prompt_length"} & set(found["removed"])
    (cell,) = (
        bias_factors._cells(
            dict(
                zip(
                    [*bias_factors.KEYS, "benchmark"], tables[0][[*bias_factors.KEYS, "benchmark"]].iloc[0], strict=True
                )
            ),
            tables[0],
            {},
        )
        .query("candidate == 'c1' and task == 't2'")
        .to_dict("records")
    )
    assert cell["input_length"] == pytest.approx((200 + 45) / 1000)
    assert cell["prompt_length"] == pytest.approx(cell["input_length"] + 1 + cell["output_length"])
    unknown = [table.assign(input_length=None) for table in tables]
    assert "input_length" not in bias_factors.estimate(unknown, forms={})["offered"].iloc[0]


def test_one_judge_has_no_gap_of_others_and_pairs_without_a_baseline_no_cells():
    found = bias_factors.estimate(study(judges=1), forms={})
    assert set(found["gap"]) == {"own"}
    assert "judge" not in set(found["removed"])
    alone = [table.assign(candidate=None) for table in study(judges=2)]
    assert bias_factors.estimate(alone, forms={}).empty
