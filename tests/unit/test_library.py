"""The offer of ``import rubric_order``: its names, what it imports, and the program ``rubric-order audit``."""

import doctest
import importlib
import inspect
import json
import re
import subprocess
import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import rubric_order as ro
from rubric_order import probes
from rubric_order.cards import card
from rubric_order.commands.app import app
from rubric_order.contracts.scores import CONSTRAINED
from rubric_order.library import estimates
from rubric_order.prompts import orderings
from rubric_order.simulation import studies
from rubric_order.simulation.judge import Simulation


@pytest.fixture(scope="module", autouse=True)
def _without_a_screen():
    mpl.use("agg")


@pytest.fixture(scope="module")
def plain():
    """Reads of two judges, as a user has them."""
    parts = []
    for name, judge in {"first": Simulation(preference="first"), "even": Simulation()}.items():
        reads = studies.read_items(judge, n=5, strategies=["balanced"], groups=40, candidates=2, seed=5)
        scores = studies.as_scores(reads, candidates=2)
        shown = np.stack(scores["ordering"].to_numpy())
        options = np.take_along_axis(np.stack(scores["position_probabilities"]), np.argsort(shown, axis=1), axis=1)
        table = pd.DataFrame({"item": scores["item_id"], "group": scores["group_id"], "judge": name})
        table["ordering"] = [" ".join(map(str, row)) for row in shown]
        table["score"], table["human_score"] = scores["score"], scores["human_score"]
        parts.append(table.join(pd.DataFrame(options, columns=[f"p_{k}" for k in range(1, 6)])))
    return pd.concat(parts, ignore_index=True)


def run(*words):
    return CliRunner().invoke(app, list(map(str, words)))


def test_importing_it_imports_nothing_that_is_slow_or_that_runs_models():
    program = "import sys, rubric_order as ro; before = set(sys.modules); ro.orderings(); ro.parse('Score: 4')"
    program += "; ro.bias_card; after = set(sys.modules)"
    program += (
        "; print(*sorted({n.partition('.')[0] for n in before})); print(*sorted({n.partition('.')[0] for n in after}))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    before, after = (set(line.split()) for line in done.stdout.splitlines())
    assert not before & {"numpy", "pandas", "scipy", "matplotlib"}
    assert not after & {"snakemake", "vllm", "torch", "transformers", "matplotlib"}


def test_every_public_name_is_there_and_documented():
    assert set(ro.__all__) <= set(dir(ro))
    for name in ro.__all__:
        assert inspect.getdoc(getattr(ro, name)), name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ro.nothing


def test_orderings_are_those_of_the_workflow_and_a_mistake_is_named():
    assert np.array_equal(ro.orderings("balanced", 5), orderings.balanced(5))
    assert np.array_equal(ro.orderings("random", 4, budget=3, seed=1), ro.orderings("random", 4, budget=3, seed=1))
    for words in ({"strategy": "none"}, {"n": 1}, {"budget": 0}, {"strategy": "all", "n": 10}):
        with pytest.raises(ro.InputError):
            ro.orderings(**words)


def test_a_prompt_has_its_levels_in_order_and_its_texts_as_they_stand(tmp_path):
    own = tmp_path / "own.jinja"
    own.write_text("{{ response }}|{% for option in options %}{{ option }};{% endfor %}\n")
    text = ro.render("{{ 7*7 }}", levels=["bad", "fair", "good"], ordering=[3, 1, 2], template=own)
    assert text == "{{ 7*7 }}|Score 3: good;Score 1: bad;Score 2: fair;"
    papers = ro.render(
        "A reply.", levels=["bad", "good"], ordering=[2, 1], instruction="Say it.", question="Is it good?"
    )
    assert papers.index("Score 2: good") < papers.index("Score 1: bad")
    for words in ({"ordering": [1, 1, 2]}, {"ordering": [1, 2, 3], "template": "none"}):
        with pytest.raises(ro.InputError):
            ro.render("x", levels=["a", "b", "c"], **words)


@pytest.mark.parametrize(
    "answer",
    [
        '{"note": 4}',
        '{"begruendung": "gut", "fluency": 4}',
        'Score: 3 {"fluency": 4}',
        '{"fluency": 2, "style": 4}',
        "4/5",
        "none",
    ],
)
def test_an_answer_is_parsed_as_a_study_parses_it(answer):
    """The command said `no_score` of JSON whose fields a study reads."""
    probe = probes.load("score_order")
    read = pd.DataFrame({"n": [5], "condition": ["baseline"], "criterion": ["fluency"]})
    (questions,) = probe.questions(read)
    assert ro.parse(answer, criterion="fluency") == probe.parse(answer, questions, truncated=False)[0]


def test_an_answer_is_parsed_or_fails_with_a_reason():
    assert ro.parse("Feedback: fine. [RESULT] 4").label == "4"
    assert ro.parse("I would rather not.").reason == "no_score"


def test_a_result_is_a_table_that_a_notebook_shows_and_draws(plain):
    for result in (ro.position_bias(plain), ro.score_effects(plain), ro.agreement(plain), ro.budget_curve(plain)):
        assert "<table" in result._repr_html_()
        assert repr(result) == repr(result.table)
        assert set(result.table["judge"]) == {"first", "even"}
        assert "cluster" not in result.table
        assert not result.table.duplicated().any()
        held = plt.get_fignums()
        assert result.plot().axes
        assert plt.get_fignums() == held  # a notebook shows what a cell returns, and all that pyplot holds


RESULTS = (ro.position_bias, ro.score_effects, ro.agreement, ro.budget_curve, ro.bias_card)
FULL = orderings.balanced(3).tolist()


def small(orderings, **columns):
    rows = [
        {
            "item": f"i{item}",
            "ordering": " ".join(map(str, shown)),
            "score": 1 + (item + place) % 3,
            "human_score": 1 + item % 3,
        }
        for item in range(12)
        for place, shown in enumerate(orderings)
    ]
    return pd.DataFrame(rows).assign(**columns)


@pytest.mark.parametrize("function", RESULTS)
@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (
            small(FULL[:1]),
            "All reads are in one ordering|Fewer than two items have a human score and a score from each of",
        ),
        (small([(1, 2, 3), (3, 2, 1)]), r"Some score stands seldom or never in some position \(2 orderings\)"),
        (small(FULL, score=""), "No read has a score|Fewer than two items have"),
    ],
    ids=["one ordering", "two orderings", "no scores"],
)
def test_a_result_without_estimates_says_so_in_its_figure(function, table, reason):
    try:
        result = function(table)
    except ro.InputError:
        assert table["score"].eq("").all()
        return
    figure = result.plot()
    assert figure.axes or re.match(reason, figure.texts[0].get_text())
    assert len(repr(result))


@pytest.mark.parametrize("function", [*RESULTS, ro.calibrate, ro.corrected_mean])
def test_every_function_of_reads_takes_names_of_columns(function, tmp_path):
    table = small(FULL)
    foreign = table.set_axis(["sample", "shown", "judge_score", "people"], axis=1)
    names = {"item": "sample", "ordering": "shown", "score": "judge_score", "human_score": "people"}
    foreign.to_csv(tmp_path / "reads.csv", index=False)
    expected = repr(function(table))
    assert repr(function(foreign, columns=names)) == expected
    assert repr(function(tmp_path / "reads.csv", columns=names)) == expected
    with pytest.raises(ro.InputError, match=r"columns: 'itme': expected one of item, .* did you mean 'item'"):
        function(foreign, columns={"itme": "sample"})


@pytest.mark.parametrize("function", RESULTS)
def test_every_statistic_of_reads_takes_a_scale(function):
    letters = small(FULL).replace({"ordering": {"1": "C", "2": "B", "3": "A"}}, regex=True)
    letters["score"] = letters["score"].map({1: "C", 2: "B", 3: "A"})
    letters["human_score"] = letters["human_score"].map({1: "C", 2: "B", 3: "A"})
    assert len(function(letters, scale="C,B,A").statistics) == len(function(small(FULL)).statistics)
    with pytest.raises(ro.InputError, match="expected each of"):
        function(letters, scale=["D", "B", "A"])


def test_calibrated_scores_take_names_of_columns():
    table, names = small(FULL), {"ordering": "shown", "score": "judge_score"}
    foreign = table.rename(columns={"ordering": "shown", "score": "judge_score"})
    calibration = ro.calibrate(table)
    found = calibration.apply(foreign, columns=names)
    assert found["calibrated_score"].tolist() == calibration.apply(table)["calibrated_score"].tolist()
    assert found.columns.tolist() == [*foreign.columns, "calibrated_score"]


def test_a_card_has_the_agreement_with_people_where_there_are_human_scores(plain, tmp_path):
    found = ro.agreement(plain).table.query("quantity == 'pearson' and readout == 'hard' and criterion == 'all'")
    cards = {card["judge"]: card for card in ro.bias_card(plain).to_dicts()}
    for row in found.to_dict("records"):
        agreement = cards[row["judge"]]["agreement"]
        assert [agreement[f"mean{end}"] for end in ("", "_low", "_high")] == [
            row[name] for name in ("estimate", "ci_low", "ci_high")
        ]
    (card,) = ro.bias_card(plain[plain["judge"] == "even"].drop(columns="human_score")).to_dicts()
    assert card["agreement"] is None
    path = tmp_path / "cards.json"
    path.write_text(json.dumps([cards["even"]]))
    low, high = (cards["even"]["agreement"][f"mean_{end}"] for end in ("low", "high"))
    for least, status in ((low - 0.01, 0), ((low + high) / 2, 2), (high + 0.01, 1)):
        assert run("check", path, "--min-agreement", least).exit_code == status


def test_agreement_needs_human_scores(plain):
    with pytest.raises(ro.InputError, match="no item has a human score"):
        ro.agreement(plain.drop(columns="human_score"))


def test_cards_are_the_same_from_a_table_and_from_a_file(plain, tmp_path):
    path = tmp_path / "reads.parquet"
    plain.to_parquet(path)
    cards = ro.bias_card(plain)
    assert [card.judge for card in cards] == ["even", "first"]
    assert [card.verdict.word for card in cards] == ["cannot tell", "biased"]
    done = run("audit", path, "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout) == json.loads(json.dumps(cards.to_dicts()))
    names = "judge verdict reasons v v_low v_high preference usual_minus_balanced n_items n_groups n_reads"
    for each in json.loads(done.stdout):
        assert set(names.split()) <= set(each)
        assert len(each["preference"]) == 5
    assert "<h3>first: biased</h3>" in cards._repr_html_()
    other, first = repr(cards).split("\n\n")
    assert first.startswith("first: biased\nBiased: the usual order")
    assert f"→ {cards[1].verdict.advice}\n• {cards[1].verdict.reasons[0]}\n" in first
    assert first.splitlines()[-1].startswith("  Orderings: ")
    assert other == repr(cards[0])
    assert cards.plot().axes


def test_scores_of_a_known_temperature_need_not_be_shown_to_follow_probabilities(plain):
    """Both are of one answer of a judge that was asked here, but for second requests; a table may have two calls."""
    scores = estimates.scores_of(plain[plain["judge"] == "even"])
    second = scores.assign(pattern=np.where(np.arange(len(scores)) % 20, "label", CONSTRAINED))

    def words(scores: pd.DataFrame, temperature: float) -> list[str]:
        statistics = estimates.card_statistics(scores)
        preference = statistics["position_preference"].assign(temperature=temperature)
        return [made.verdict.word for made in card.cards(statistics | {"position_preference": preference})]

    assert [words(scores, np.nan), words(scores, 1.0), words(second, 1.0)] == [
        ["cannot tell"],
        ["equivalent"],
        ["cannot tell"],
    ]


def test_the_order_of_rows_and_rows_that_stand_twice_do_not_change_a_verdict(plain):
    first = plain[plain["judge"] == "first"]
    twice = pd.concat([first, first])
    (once,), (doubled,) = ro.bias_card(first), ro.bias_card(twice.sample(frac=1, random_state=1))
    assert doubled.verdict.word == once.verdict.word
    assert doubled.evidence.main.v.estimate == pytest.approx(once.evidence.main.v.estimate)
    assert "800 rows repeat" in " ".join(doubled.notes)


def test_items_without_groups_are_the_sample_and_the_card_says_so(plain):
    (found,) = ro.bias_card(plain[plain["judge"] == "first"].drop(columns="group"))
    assert found.evidence.n_groups == found.evidence.n_items == 80
    assert "No groups are named" in " ".join(found.notes)


def test_the_program_prints_a_card_or_one_line_about_a_mistake(plain, tmp_path):
    path = tmp_path / "reads.csv"
    plain[plain["judge"] == "first"].to_csv(path, index=False)
    done = run("audit", path)
    assert "first: biased" in done.stdout
    assert "Position 1 adds" in " ".join(done.stdout.split())
    (tmp_path / "bad.csv").write_text("item,ordering,score\na,1 2 2,1\n")
    program = [sys.executable, "-m", "rubric_order.commands.app", "audit", tmp_path / "bad.csv"]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("module", ["library.prompts", "library.results"])
def test_every_function_has_an_example_and_the_examples_run(module):
    """The examples of a module's functions go on from those of its own docstring."""
    home = importlib.import_module(f"rubric_order.{module}")
    runner, names = doctest.DocTestRunner(), {}
    for text, name in [(home.__doc__, module), *((getattr(home, name).__doc__, name) for name in exported(module))]:
        examples = doctest.DocTestParser().get_doctest(text, names, name, None, None)
        assert examples.examples or name in {module, "Result", "BiasCards"}, name
        runner.run(examples, clear_globs=False)
        names = examples.globs
    assert runner.tries > len(exported(module))
    assert not runner.failures


def exported(module: str) -> tuple[str, ...]:
    return ro._MODULES[module]


ROTATED = ("1 2 3", "2 3 1", "3 1 2")


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        # No position is nearly always chosen, and yet no finite preference fits best.
        ((1, 1, 1, 2, 2, 1, 3, 3, 1), "where scores of an item differ, some positions always win against others"),
        ((1, 1, 1, 2, 2, 2, 3, 3, 3), "no item has different scores in orderings that show these scores at different"),
    ],
)
def test_a_card_says_why_preferences_are_not_known(scores, reason):
    rows = [(f"item {k // 3}", ROTATED[k % 3], score) for k, score in enumerate(scores)]
    (card,) = ro.bias_card(pd.DataFrame(rows, columns=["item", "ordering", "score"]))
    (text,) = (line for line in repr(card).splitlines() if "Preference of each position" in line)
    assert f"not known: {reason}" in text
