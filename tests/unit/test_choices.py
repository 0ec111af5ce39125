"""Files of choices: pairs and lists with ties and gold, logs of other programs, and the cards that they give."""

import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
from factories import ROOT

import rubric_order as ro
from rubric_order.base.errors import InputError
from rubric_order.commands import app
from rubric_order.intake import choice_tables as choices
from rubric_order.intake import forms as logs
from rubric_order.intake.choices import Labels
from rubric_order.intake.columns import Columns
from rubric_order.library import audits
from rubric_order.library.choice_cards import choice_cards

PAIRS = pd.DataFrame(
    {
        "item": ["q1", "q1", "q2", "q2"],
        "ordering": ["llama, gpt-4", "gpt-4, llama", "llama, gpt-4", "gpt-4, llama"],
        "choice": ["B", "A", "tie", "B"],
    }
)


def compared(table, **options):
    return choices.as_comparisons(pd.DataFrame(table), "log", **options)


def test_a_place_names_the_candidate_that_stands_there():
    found = compared(PAIRS)
    assert found["candidates"].tolist() == [["gpt-4", "llama"]] * 4
    assert [list(order) for order in found["ordering"]] == [[2, 1], [1, 2]] * 2
    assert found["score"].tolist() == [1, 1, 0, 2]
    assert found["position"].tolist() == [2, 1, 0, 2]
    assert found["unit_id"].tolist() == ["q1", "q1", "q2", "q2"]


@pytest.mark.parametrize(
    ("written", "place"),
    [
        *[(text, 2) for text in ("B", "b", "2", "model_b", "Assistant B", "second", "GPT-4", "[[B]]", "response 2")],
        *[(text, 0) for text in ("tie", "Draw", "C", "both", "[[C]]", "It is a tie.")],
        ("I prefer the second answer.", 2),
        ("Nothing is said here", None),
        ("", None),
        ("NA", None),
    ],
)
def test_a_choice_may_be_written_in_several_ways(written, place):
    table = {"item": ["a", "b"], "first": ["llama"] * 2, "second": ["gpt-4"] * 2, "choice": [written, "A"]}
    found = compared(table)["position"]
    assert (None if found.isna()[0] else int(found[0])) == place


def test_candidates_that_are_called_a_and_b_go_before_places():
    found = compared({"item": ["a"] * 2, "ordering": ["A B", "BA"], "choice": ["A", "A"]})
    assert found["position"].tolist() == [1, 2]
    note = "A choice such as A is read as the candidate of this name, not as a position. If it is a position, say"
    assert choices.notes(found) == [f"{note} --map A=first,B=second."]


@pytest.mark.parametrize(
    ("names", "choice", "places", "note"),
    [
        ("a b", "B", [2, 2], "A choice such as B is read as a position, not as the candidate b."),
        ("a b", "b", [2, 1], "A choice such as b is read as the candidate of this name, not as a position."),
        ("A B", "b", [2, 1], "A choice such as b is read as the candidate of this name, not as a position."),
        ("1 2", "2", [2, 1], "A choice such as 2 is read as the candidate of this name, not as a position."),
        ("gpt-A gpt-a", "gpt-a", [2, 1], None),
        ("m n", "B", [2, 2], None),
    ],
)
def test_a_letter_that_may_be_a_name_or_a_position_is_read_by_its_case_and_noted(names, choice, places, note):
    found = compared({"item": ["q"] * 2, "ordering": [names, " ".join(names.split()[::-1])], "choice": [choice] * 2})
    assert found["position"].tolist() == places
    assert [text[: len(note or "")] for text in choices.notes(found)] == ([note] if note else [])


def test_a_judge_of_candidates_called_a_and_b_that_always_takes_the_second_is_biased():
    reads = {"item": [f"q{k // 2}" for k in range(240)], "ordering": ["a b", "b a"] * 120, "choice": "B"}
    assert choice_cards(pd.DataFrame(reads))[0].verdict == "biased"


def test_other_labels_are_given_by_a_map():
    table = {"item": ["a"] * 4, "first": ["x"] * 4, "second": ["y"] * 4, "choice": [0, 1, -1, 9]}
    found = compared(table, labels=Labels.parse(["0=A,1=y", "-1=tie,9=none"]))
    assert found["position"].tolist() == [1, 2, 0, pd.NA]
    with pytest.raises(InputError, match="row 1: field 'choice': expected A, B, tie, or x, y, or --map, found '0'"):
        compared(table)


def test_a_pair_of_columns_and_lists_are_the_same():
    pairs = PAIRS["ordering"].str.split(", ", expand=True)
    two = PAIRS.drop(columns="ordering").assign(first=pairs[0], second=pairs[1])
    lists = PAIRS.assign(ordering=PAIRS["ordering"].str.split(", "))
    for table in (two, lists):
        pd.testing.assert_frame_equal(compared(table), compared(PAIRS))


NAMED_FIRST = pd.DataFrame(
    {
        "question": ["q1", "q1", "q2", "q2"],
        "answer_a": "llama",
        "answer_b": "gpt-4",
        "first": ["llama", "gpt-4"] * 2,
        "verdict": ["B", "A", "tie", "B"],
    }
)
GIVEN = Columns.parse(["item=question,choice=verdict"])


@pytest.mark.parametrize(
    "first",
    [["llama", "gpt-4"] * 2, ["answer_a", "Answer B"] * 2, ["A", "b"] * 2],
    ids=["candidate", "column", "letter"],
)
def test_a_column_that_names_the_one_shown_first_gives_both_places(first):
    found = compared(NAMED_FIRST.assign(first=first), columns=GIVEN)
    same = [name for name in found if name != "sides"]
    pd.testing.assert_frame_equal(found[same], compared(PAIRS)[same])


def test_a_log_of_two_answers_is_turned_where_a_column_names_the_one_shown_first(tmp_path):
    log = NAMED_FIRST.rename(columns={"question": "question_id", "verdict": "winner"})
    log = log.assign(length_a=[9, 9, 9, 9], length_b=[1, 1, 1, 1])
    found = compared(logs.recognise(log, "log", Columns()).table)
    assert [list(order) for order in found["ordering"]] == [[2, 1], [1, 2]] * 2
    assert found["longest"].tolist() == [1, 2, 1, 2]
    log.to_csv(tmp_path / "log.csv", index=False)
    (card,) = audits.audit(tmp_path / "log.csv").choices
    assert card.evidence.crossed == 1
    assert card.notes[0].startswith(
        "A choice such as A is read as the candidate that was shown first, and not as answer_a"
    )


def test_a_choice_may_name_the_column_of_a_candidate():
    by_column = NAMED_FIRST.assign(verdict=["answer_b", "answer_b", "tie", "Answer A"])
    assert compared(by_column, columns=GIVEN)["position"].tolist() == [2, 1, 0, 2]
    assert set(compared(by_column, columns=GIVEN)["sides"]) == {""}
    labels = Labels.parse(["A=answer_a,B=answer_b"])
    assert compared(NAMED_FIRST, columns=GIVEN, labels=labels)["position"].tolist() == [2, 2, 0, 1]


def test_a_column_that_contradicts_the_order_is_an_error(tmp_path):
    wrong = Columns.parse(["item=question,first=answer_a,second=answer_b,choice=verdict"])
    with pytest.raises(InputError, match="row 2: field 'first': 'gpt-4' was shown first, but --columns takes answer_a"):
        compared(NAMED_FIRST, columns=wrong)
    assert len(compared(NAMED_FIRST.assign(first="llama"), columns=wrong)) == 4
    with pytest.raises(
        InputError, match="row 3: field 'first': expected llama or gpt-4, the one of answer_a and answer"
    ):
        compared(NAMED_FIRST.assign(first=["llama", "gpt-4", "mistral", "llama"]), columns=GIVEN)
    NAMED_FIRST.to_csv(tmp_path / "pairs.csv", index=False)
    with pytest.raises(InputError, match=r"'item' and 'choice' are missing.*--columns item=question,choice=verdict\?"):
        audits.audit(tmp_path / "pairs.csv")


def test_pairs_whose_choice_has_another_name_are_no_scores(tmp_path):
    table = NAMED_FIRST.drop(columns="first").rename(columns={"answer_a": "model_a", "answer_b": "model_b"})
    table.to_csv(tmp_path / "pairs.csv", index=False)
    hint = "--columns item=question,choice=verdict,first=model_a,second=model_b"
    with pytest.raises(InputError, match=hint):
        audits.audit(tmp_path / "pairs.csv")


def test_an_item_with_several_pairs_has_several_comparisons():
    table = {"item": ["a"] * 3, "ordering": ["x,y", "y,x", "x,z"], "choice": ["A"] * 3}
    assert compared(table)["unit_id"].tolist() == ["a (x, y)", "a (x, y)", "a (x, z)"]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"choice": ["B", "A", "maybe", "B"]}, "row 3: field 'choice': expected A, B, tie, or llama, gpt-4"),
        ({"ordering": ["x"] * 4}, "row 1: field 'ordering': expected 2 to 9 different candidates"),
        ({"ordering": ["x, x"] * 4}, "row 1: field 'ordering': expected 2 to 9 different candidates"),
        ({"gold": ["A", "A", "", ""]}, "row 2: field 'gold': 'q1' has two: llama in an earlier row, gpt-4 here"),
        ({"gold": ["maybe"] * 4}, "row 1: field 'gold': expected A, B, tie"),
        ({"choice": [""] * 4}, "field 'choice': expected choices, found none in any row"),
        ({"item": ["", "a", "a", "a"]}, "row 1: field 'item': expected a name"),
    ],
)
def test_what_is_no_choice_is_named(columns, message):
    with pytest.raises(InputError) as error:
        compared(PAIRS.assign(**columns))
    assert message in str(error.value)


def test_missing_columns_are_named_at_once(tmp_path):
    path = saved(tmp_path, [{"id": 1, "model_a": "x", "model_b": "y", "winner": "A"}])
    with pytest.raises(InputError, match="did you mean --columns item=id,first=model_a,second=model_b,choice=winner"):
        audits.audit(path)
    with pytest.raises(InputError) as error:
        compared({"id": [1], "model_a": ["x"], "model_b": ["y"], "winner": ["A"]})
    assert "columns 'item', 'ordering' and 'choice' are missing" in str(error.value)
    assert "item=id" in str(error.value)
    assert "choice=winner" in str(error.value)


def judged(*, worth, items=60, candidates=2, ties=0.15, repeats=1, seed=1, gold=True):
    """Reads of a judge that adds `worth` to the log-odds of the first place, in all rotations."""
    rng = np.random.default_rng(seed)
    rows = []
    names = [f"model {k}" for k in range(candidates)]
    for item in range(items):
        quality = rng.normal(0, 0.8, candidates)
        for turn in range(candidates):
            shown = np.roll(np.arange(candidates), turn)
            for _ in range(repeats):
                odds = quality[shown] + worth * (np.arange(candidates) == 0) + rng.gumbel(size=candidates)
                choice = "tie" if rng.random() < ties else "ABCDEFG"[int(odds.argmax())]
                row = {"item": f"q{item}", "ordering": [names[k] for k in shown], "choice": choice}
                rows.append(row | ({"gold": names[int(quality.argmax())]} if gold else {}))
    return pd.DataFrame(rows)


def test_a_judge_that_likes_the_first_place_is_biased():
    (card,) = choice_cards(judged(worth=1.5))
    found = card.to_dict()
    assert card.verdict == "biased"
    assert found["first_last_low"] > 0
    assert found["shares"][0][0] > 0.5
    assert 0 < found["changed"] < 1
    assert found["gold_first"] > found["gold_later"]
    assert json.loads(json.dumps(found)) == found


def test_a_judge_without_a_preference_is_not_biased():
    assert choice_cards(judged(worth=0.0, items=100, seed=2))[0].verdict == "cannot tell"
    once, twice = (
        choice_cards(judged(worth=0.0, items=100, seed=2, repeats=repeats), margin_log_odds=1.0)[0]
        for repeats in (1, 2)
    )
    assert (once.verdict, twice.verdict) == ("cannot tell", "equivalent")  # read once, noise and order are one
    assert "It moves the probability of a choice in single comparisons by at most" in twice.reasons[1]


def steady(items, changed=0, failed=0):
    """Choices of a judge without noise, of which the first position wins in `changed` comparisons in both orders."""
    rows = [
        {"item": f"q{item}", "first": first, "second": second, "choice": "A" if item < changed else "m"}
        for item in range(items)
        for first, second in (("m", "n"), ("n", "m"))
    ]
    for item in range(failed):
        rows[-1 - 2 * item]["choice"] = ""
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("reads", "verdict", "reason"),
    [
        (steady(5000), "equivalent", "The order changes at most 0.1% of the winners, and the margin is 5.0%."),
        (steady(50), "cannot tell", "What a position adds is not known"),
        (steady(1000, changed=20), "equivalent", "An effect is detectable, but smaller than the margin."),
        (steady(1000, changed=100), "biased", "Two orders have different winners in 10.0% ["),
        (steady(200, failed=20), "cannot tell", "5.0% of the reads have no choice, more often in one order"),
    ],
    ids=["perfect", "few", "small", "large", "lost"],
)
def test_shares_of_winners_decide_where_the_order_changes_few(reads, verdict, reason):
    (card,) = choice_cards(reads)
    assert card.verdict == verdict
    assert any(reason in sentence for sentence in card.reasons)
    assert ("only its sign is known, since position 1 wins" in " ".join(card.reasons)) == (reason[:2] in ("An", "Tw"))


def test_a_card_warns_of_ties_from_one_in_twenty_on():
    noted = [choice_cards(judged(worth=1.0, ties=ties))[0].notes for ties in (0.0, 0.3)]
    warned = [[note for note in notes if "Davidson's model" in note] for notes in noted]
    assert not warned[0]
    assert re.match(r"(2|3)\d% of the choices are ties\.", warned[1][0])


def test_every_key_of_a_card_is_documented():
    keys = choice_cards(judged(worth=1.0))[0].to_dict().keys()
    page = (ROOT / "docs/audit.md").read_text(encoding="utf-8")
    table = page.partition("## Choices")[2].partition("These logs are read")[0]
    assert not [name for name in keys if f"`{re.sub('_(low|high)$', '', name)}`" not in table]


def test_what_scores_reads_says_which_command_takes_choices():
    for table in (PAIRS, NAMED_FIRST, judged(worth=1.0, items=2)):
        with pytest.raises(InputError, match=r"found choices between candidates .* 'rubric-order audit FILE' makes"):
            ro.bias_card(table)


def test_lists_of_three():
    (card,) = choice_cards(judged(worth=1.5, candidates=3, items=80))
    assert card.verdict == "biased"
    assert card.to_dict()["n_candidates"] == 3
    assert len(card.to_dict()["preference"]) == 3
    assert np.argmax(card.to_dict()["preference"]) == 0


def first_of(orders, items=60, choice=lambda item, order: "A"):
    """Reads of lists in some orders; the first position is always chosen, unless `choice` chooses."""
    return pd.DataFrame(
        [
            {"item": f"q{item}", "ordering": ", ".join(order), "choice": choice(item, order)}
            for item in range(items)
            for order in orders
        ]
    )


@pytest.mark.parametrize(
    ("orders", "sentence"),
    [
        (("xyz", "zyx"), "The reads compare only positions 1 and 3; position 2 never changes its candidate."),
        (("wxyz", "zyxw"), "The reads compare only positions 1 and 4, 2 and 3."),
        (("xyz", "zxy"), None),
    ],
)
def test_the_first_position_is_compared_with_the_last_where_orders_compare_no_others(orders, sentence):
    (card,) = choice_cards(first_of(orders))
    reasons = " ".join(card.reasons)
    assert card.verdict == "biased"
    assert "wins wherever the winners differ" in reasons
    assert ("The first position adds" in reasons, "The reads compare only" in reasons) == (bool(sentence),) * 2
    random = np.random.default_rng(1)
    (card,) = choice_cards(first_of(orders, choice=lambda item, order: "ABCD"[random.integers(len(order))]))
    assert card.verdict == "cannot tell"
    assert (sentence in card.reasons) == bool(sentence)
    advice = "Read each comparison in orders that bring each candidate to each position."
    assert (card.advice == advice) == bool(sentence)


def test_a_share_above_that_of_chance_shows_that_the_order_decides_winners():
    """The first position wins half of the comparisons in both orders, and the second wins the others."""
    orders = ("mn", "nm")
    (card,) = choice_cards(first_of(orders, 100, lambda item, order: "AB"[item % 2]))
    assert card.verdict == "biased"
    assert card.reasons[0].startswith("Two orders have different winners in 100.0% [")
    assert card.reasons[0].endswith(
        "of the comparisons, more than the 50% that chance alone could make: the order decides."
    )
    assert "Read more" not in card.advice
    # Half of the comparisons differ, as by chance; and a failed read is no different winner.
    for kinds in (("AB", "BA", "AA", "BB"), ("AA", "BB", "A_", "_B")):
        (card,) = choice_cards(
            first_of(orders, 100, lambda item, order, of=kinds: of[item % 4][orders.index(order)].strip("_"))
        )
        assert card.verdict == "cannot tell"
        assert "the order decides" not in " ".join(card.reasons)


@pytest.mark.parametrize(("n", "ties"), [(2, 0.0), (2, 0.2), (3, 0.1)])
def test_a_judge_that_draws_a_choice_is_rarely_called_biased(n, ties):
    random = np.random.default_rng(1)
    draw = lambda item, order: "tie" if random.random() < ties else "ABC"[random.integers(n)]  # noqa: E731
    orders = ["xyz"[k:n] + "xyz"[:k] for k in range(n)]
    tables = [first_of(orders, 50, draw).assign(judge=f"j{k}") for k in range(12)]
    made = choice_cards(pd.concat(tables, ignore_index=True))
    assert sum(card.evidence.estimands[0].found for card in made) <= 1
    expected = 1 - (0 if not ties else ties**n) - n * ((1 - ties) / n) ** n
    assert all(expected - 0.05 < card.evidence.chance < expected + 0.1 for card in made)


def test_few_groups_give_no_verdict():
    assert choice_cards(judged(worth=1.5, items=20))[0].verdict == "cannot tell"


def test_repeats_tell_noise_from_order():
    (card,) = choice_cards(judged(worth=2.0, repeats=2))
    assert card.to_dict()["excess"] > 0
    (single,) = [row for row in card.evidence.estimands if row.name == "single"]
    assert single.found


def test_repeats_that_are_copies_show_no_noise():
    reads = judged(worth=0.0, ties=0.0, items=100, seed=2)
    (card,) = choice_cards(pd.concat([reads, reads], ignore_index=True))
    assert "they may be copies" in " ".join(card.reasons)
    assert card.verdict == "cannot tell"
    (single,) = [row for row in card.evidence.estimands if row.name == "single"]
    assert (single.found, single.value.known, card.to_dict()["excess"]) == (False, False, None)


def test_one_order_alone_tells_little():
    single = judged(worth=2.0, items=200).groupby("item").sample(1, random_state=3)
    assert choice_cards(single)[0].verdict == "biased"
    fixed = judged(worth=2.0, items=200).groupby("item").head(1)
    (card,) = choice_cards(fixed)
    assert card.verdict == "cannot tell"
    assert "position and candidate are one thing" in card.reasons[0]


def saved(folder, rows, name="log.jsonl"):
    path = folder / name
    path.write_text("\n".join(map(json.dumps, rows)) if name.endswith("jsonl") else json.dumps(rows))
    return path


def game(question, one, two, **more):
    about = {"question_id": question, "model_1": "m1", "model_2": "m2", "judge": ["gpt-4", "pair-v2"], "turn": 1}
    return about | {"g1_winner": one, "g2_winner": two, "g1_judgment": "[[A]]"} | more


def test_both_games_of_fastchat(tmp_path):
    rows = [game(1, "model_1", "model_1"), game(2, "model_1", "model_2"), game(3, "tie", "error")]
    path = saved(tmp_path, [*rows, game(4, "tie", "tie", m1_score=5, m2_score=5)])
    table = pd.read_json(path, lines=True)
    log = logs.recognise(table, path, Columns())
    found = compared(log.table)
    assert found["score"].tolist() == [1, 1, 1, 2, 0, pd.NA]
    assert found["position"].tolist() == [1, 2, 1, 1, 0, pd.NA]
    assert set(found["judge"]) == {"gpt-4 pair-v2"}
    assert log.notes == ("1 rows score one answer at a time, in which nothing stands first; they are left out.",)
    audit = audits.audit(path)
    assert (audit.form, audit.choices[0].to_dict()["n_failed"]) == ("FastChat's judgments of pairs", 1)


# Instructions of AlpacaEval; its published annotations show the second output first in those that are switched.
SWITCHED = {"How do I make escargot?": True, "How did US states get their names?": True}


def annotation(instruction, preference, raw=None, **more):
    row = {"instruction": instruction, "generator_1": "base", "generator_2": "new", "preference": preference}
    return row | {"annotator": "a"} | ({} if raw is None else {"raw_completion": raw}) | more


def test_the_order_of_alpacaeval_is_drawn_from_the_instruction():
    rows = pd.DataFrame(annotation(text, 1.0) for text in SWITCHED)
    found = compared(logs.recognise(rows, "a", Columns()).table)
    assert found["position"].tolist() == [2, 2]
    assert set(found["score"]) == {1}


@pytest.mark.parametrize(
    "raw",
    [
        "m",
        {"text": "m"},
        {"message": {"content": "m"}},
        json.dumps({"ordered_models": [{"model": "M", "rank": 2}, {"model": "m", "rank": 1}]}),
    ],
)
def test_an_answer_of_alpacaeval_says_its_order(raw):
    rows = pd.DataFrame({name: [value] for name, value in annotation("How do I make escargot?", 1.00002, raw).items()})
    log = logs.recognise(rows, "a", Columns())
    found = compared(log.table)
    assert (found["position"].tolist(), found["score"].tolist()) == ([1], [1])
    assert log.notes == ("1 answers say another order than that draw; theirs is taken.",)


def test_ties_and_equal_outputs_of_alpacaeval(tmp_path):
    rows = [annotation("a", 1.5), annotation("b", 0), annotation("c", None), annotation("d", 2.0)]
    path = saved(tmp_path, rows, "annotations.json")
    (card,) = audits.audit(path).choices
    assert (card.to_dict()["n_reads"], card.to_dict()["n_failed"]) == (2, 1)
    with pytest.raises(InputError, match="row 1: field 'preference': expected a number from 1 to 2"):
        audits.audit(saved(tmp_path, [annotation("a", 7)], "annotations.json"))


def record(**more):
    about = {"benchmark": "mine", "judge": "j", "task": "t", "question_id": "1", "answer_a": "x", "answer_b": "y"}
    return about | more


def test_recorded_comparisons_of_any_benchmark():
    rows = [
        record(response="The first is better. [[A]]"),
        record(answer_a="y", answer_b="x", response="[[C]]", options=["A", "B", "C"]),
        record(question_id="2", response="[[C]]", options=["A", "B"]),
        record(question_id="3", winner="y", response="[[A]]"),
        record(question_id="4", winner="2", options={"1": "A", "2": "B", "0": "tie"}),
        record(question_id="5", response="I say [[C]]", options={"A": "x", "B": "y", "C": "tie"}),
        record(question_id="6", winner="answer_b", lengths=[10, 30]),
    ]
    log = logs.recognise(pd.DataFrame(rows), "log", Columns())
    found = compared(log.table)
    assert found["score"].tolist() == [1, 0, pd.NA, 2, 2, 0, 2]
    assert found["failure"][2] == "out_of_range"
    assert found["longest"].tolist()[-1] == 2
    assert log.notes == ("1 rows have a winner beside the answer; the winner is taken.",)


def test_recorded_lists_and_arenas():
    lists = pd.DataFrame([{"question_id": k, "answers": ["x", "y", "z"], "winner": "C"} for k in range(2)])
    assert compared(logs.recognise(lists, "log", Columns()).table)["score"].tolist() == [3, 3]
    arena = pd.DataFrame([{"question_id": 1, "model_a": "x", "model_b": "y", "winner": "tie (bothbad)"}])
    assert compared(logs.recognise(arena, "log", Columns()).table)["score"].tolist() == [0]


def test_comparisons_of_summeval_have_gold():
    about = {"judge": "j", "criterion": "c", "article_id": "a", "pair": ["M1", "M2"], "options": ["A", "B", "C"]}
    scores = {"human_score_1": 2.0, "human_score_2": 4.0}
    rows = pd.DataFrame([about | scores | {"toggled": toggled, "response": "B"} for toggled in (False, True)])
    found = compared(logs.recognise(rows, "log", Columns()).table)
    assert found["score"].tolist() == [2, 1]
    assert found["gold"].tolist() == [2, 2]


def test_nominal_candidates_have_no_points(tmp_path):
    table = judged(worth=1.5, gold=False).rename(columns={"choice": "score"})
    table["ordering"] = table["ordering"].map(", ".join)
    table.to_csv(tmp_path / "a.csv", index=False)
    audit = audits.audit(tmp_path / "a.csv", nominal=True)
    assert (audit.cards, audit.choices[0].verdict) == ((), "biased")
    assert not any("point" in text or "score" in text for text in audit.choices[0].reasons)
    with pytest.raises(InputError, match="field 'ordering': expected the 2 to 11 scores"):
        audits.audit(tmp_path / "a.csv")


def test_columns_of_another_name():
    table = PAIRS.set_axis(["id", "shown", "winner"], axis=1)
    found = compared(table, columns=Columns.parse(["item=id,ordering=shown,choice=winner"]))
    assert found["score"].tolist() == [1, 1, 0, 2]


@pytest.mark.parametrize("text", ["A", "=A", "1=", "1=A,1=B"])
def test_a_map_that_is_none(text):
    with pytest.raises(InputError, match="--map: "):
        Labels.parse([text])


@pytest.mark.parametrize("nominal", [False, True])
def test_a_page_is_one_file_that_asks_for_nothing(tmp_path, monkeypatch, capsys, nominal):
    path, page = tmp_path / "<b>reads.csv", tmp_path / "page.html"
    order = ["1 2", "2 1"] * 40
    table = {
        "item": [f"q{k // 2}" for k in range(80)],
        "ordering": order,
        "score": [1, 2] * 40,
        "judge": "<i>judge</i>",
    }
    pd.DataFrame(table).to_csv(path, index=False)
    words = ["audit", str(path), "--page", str(page), *(["--choices"] if nominal else [])]
    monkeypatch.setattr(sys, "argv", ["rubric-order", *words])
    monkeypatch.setattr(app.signals, "end_once", lambda: None)
    with pytest.raises(SystemExit) as end:
        app.main()
    html = page.read_text(encoding="utf-8")
    assert end.value.code == 0
    assert "<i>judge" not in html
    assert "&lt;i&gt;judge&lt;/i&gt;" in html
    assert str(tmp_path) not in html
    assert not re.search(r'(?:src|href)="(?!#|data:)', html)
    assert "http" not in re.sub(r'http-equiv|xmlns="[^"]*"', "", html)
    assert "summary.json" not in html
    assert ("points" in html) != nominal


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (game(1, "model_3", "tie"), "field 'g1_winner': expected model_1, model_2, tie or error, found 'model_3'"),
        (game(1, "tie", "tie", model_2="m1"), "field 'model_2': expected another model than model_1"),
        (game(1, "tie", "tie", turn="x"), "field 'turn': expected a number, found 'x'"),
        (annotation(None, 1), "field 'instruction': expected a value, found nothing"),
        (annotation("a", "x"), "field 'preference': expected a number, found 'x'"),
        ({"question_id": 1, "answers": [["x"]], "winner": "A"}, "field 'answers': expected a list of names"),
        (record(winner="A", lengths=["long", 1]), "field 'lengths': expected numbers"),
        (record(), "expected field 'response' or 'winner', found neither"),
        ({"article_id": 1, "pair": ["a"], "toggled": True}, "field 'pair': expected two names"),
        ({"article_id": 1, "pair": ["a", "b"], "toggled": "x"}, "field 'toggled': expected true or false"),
    ],
)
def test_a_record_that_is_wrong_is_named(tmp_path, row, message):
    path = saved(tmp_path, [row])
    with pytest.raises(InputError) as error:
        audits.audit(path)
    assert "row 1: " in str(error.value)
    assert message in str(error.value)


def test_half_a_character_in_a_candidate_is_one_line(tmp_path):
    path = tmp_path / "choices.jsonl"
    path.write_text(r'{"item": "a", "first": "x\ud800", "second": "y", "choice": "A"}')
    with pytest.raises(InputError, match="row 1: field 'first': expected text that UTF-8 can write"):
        audits.audit(path)
