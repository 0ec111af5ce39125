"""Names of requests of every probe, of conditions, prompts of one's own and reference answers, as they were recorded.

A store that was paid for stays valid as long as these stay: never change them again. (`test_planning.py` has those of
scores and of criteria, and of each kind of judge.)
"""

import hashlib

import pandas as pd
import pytest
from factories import complete_judge

from rubric_order import datasets, probes
from rubric_order.planning import reads as planned
from rubric_order.planning import references, requests
from rubric_order.prompts import frames

SIMULATED = {"n_groups": 2, "n_candidates": 2}


def digest(names):
    return hashlib.blake2b("".join(names).encode(), digest_size=8).hexdigest()


def plan(judge, probe, entries, template, *, made=None, **design):
    """Names of the requests of a plan, read by read; of items with reference answers that were made, if any."""
    tables = datasets.prepare("sim", entries)
    reads = planned.plan_reads(
        tables.items if made is None else tables.items.assign(references=[made] * len(tables.items)),
        tables.rubrics,
        tables.pairs,
        study="s",
        judge_id="j",
        judge=judge,
        template=frames.load_template(template),
        design=planned.Design(**{"seed": 7} | design),
        probe=probe,
        profiles=["default"],
    )
    return reads["request_id"].tolist()


def compared():
    """Texts of candidates who answer two questions in two turns, and pairs of neighbours among them."""
    for group in ("g1", "g2"):
        for name in "abc":
            turns = [datasets.Turn(f"{group} asks {k}", f"{name} says {k} and more", f"right {k}") for k in (1, 2)]
            yield datasets.Item(
                where="here",
                item_id=f"{group}-{name}",
                group_id=group,
                candidate=name,
                instruction=f"{group} asks",
                response=f"{name} says. " * 5,
                rubric=None,
                reference="right",
                category="math" if group == "g1" else "writing",
                turns=turns,
            )
        for one, other in ("ab", "bc"):
            named = f"{group}-{one}", f"{group}-{other}"
            yield datasets.Pair("here", f"{group}-{one}-{other}", group, *named, None, "overall")


# Numbers of reads and of distinct requests, the first name, and a hash of all names in order.
COMPARED = {
    ("pair_order", None, "score"): (48, 32, "d1bf8fd0cd305742717b97a67df8b603", "681ccb9aec5510f1"),
    ("pair_order", None, "feedback"): (48, 32, "a93c19416fa4c1e3e774cf901155e72f", "5cda06a124d6620e"),
    ("list_order", None, "score"): (84, 45, "494ea3a5380ba6247bf67ecc54990de5", "441194bb021c0ae5"),
    ("list_order", None, "feedback"): (84, 45, "e9de73549c276b2e4c2ecb1b7cb1e7b9", "d1c451328ecd7a74"),
}


@pytest.mark.parametrize(("probe", "prompt", "answer_format"), COMPARED, ids=str)
def test_names_of_comparisons(root, probe, prompt, answer_format):
    judge = complete_judge(answer_format=answer_format, answer_prefix="", dtype="bfloat16")
    n, strategies = {"pair_order": (2, ["swap"]), "list_order": (3, ["cyclic", "latin"])}[probe]
    name = probes.load(probe).template(judge, prompt)
    chosen = {"pairs": "given", "sample": None, "lists": 2, "seed": 1, "prompt": name}
    conditions = ["baseline", "tie", "no_tie", "length_sentence", "padded_1", "truncated"]
    conditions += ["ranking"] if probe == "list_order" else []
    names = plan(
        judge,
        probe,
        compared(),
        root / f"resources/templates/{name}.jinja",
        scales=[n],
        strategies=strategies,
        conditions=conditions,
        comparisons=chosen,
    )
    assert (len(names), len(set(names)), names[0], digest(names)) == COMPARED[probe, prompt, answer_format]


CONDITIONS = {
    "letter": (80, 80, "bf731a3975cfefb38204595e7b845ed3", "e0397d777bb8ecaa"),
    "ids(bad,poor,fair,good,best)": (80, 80, "bf731a3975cfefb38204595e7b845ed3", "d29f5d5610d7509f"),
    "reference_none": (80, 80, "bf731a3975cfefb38204595e7b845ed3", "d894197b526e5fe3"),
    "reference_5_as_1": (80, 80, "bf731a3975cfefb38204595e7b845ed3", "eba0c5017daf9c68"),
    "reference_3": (80, 80, "bf731a3975cfefb38204595e7b845ed3", "f7a09037badcd394"),
    "letter+reference_none": (80, 80, "bf731a3975cfefb38204595e7b845ed3", "0887d3213326c7d7"),
    "roman_i_highest": (80, 80, "bf731a3975cfefb38204595e7b845ed3", "5d4e28d18cac3e8e"),
    "neutral_2": (80, 80, "bf731a3975cfefb38204595e7b845ed3", "5ca464f8ab22732d"),
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_names_of_conditions_of_scores(root, condition):
    items = list(datasets.read("simulated", {}, SIMULATED, dataset="sim"))
    for item in items:
        item.reference = f"The best answer to {item.group_id}."
    design = {"scales": [5], "strategies": ["balanced"], "conditions": ["baseline", condition]}
    judge = complete_judge(dtype="bfloat16")
    made = {(5, 3): "An answer that is worth a 3."} if condition == "reference_3" else None
    names = plan(judge, "score_order", items, root / "resources/templates/score.jinja", made=made, **design)
    assert (len(names), len(set(names)), names[0], digest(names)) == CONDITIONS[condition]


OWN = {
    "score_order": (40, 40, "c39c8f0dec42414a031cbe50dd399dfe", "aca7aac4f1b1efa0"),
    "pair_order": (8, 4, "a1617be782a369ef2d800de0275542c1", "c2bd8d3a9061f2f3"),
}


@pytest.mark.parametrize("probe", OWN)
def test_names_of_prompts_of_ones_own(tmp_path, probe):
    text = {
        "score_order": "{{ response }}\n{% for option in options %}{{ option }}\n{% endfor %}How good is it?",
        "pair_order": "{% for one in candidates %}{{ one.label }}: {{ one.response }}\n{% endfor %}{{ tie if tie }}",
    }[probe]
    path = tmp_path / "own.jinja"
    path.write_text(text, encoding="utf-8")
    score = {"scales": [5], "strategies": ["balanced"]}
    pair = {"scales": [2], "strategies": ["swap"]}
    pair["comparisons"] = {"pairs": "given", "sample": None, "lists": 2, "seed": 1, "prompt": "own"}
    read = datasets.read("simulated", {}, SIMULATED, dataset="sim")
    entries, design = (read, score) if probe == "score_order" else (compared(), pair)
    names = plan(complete_judge(dtype="bfloat16"), probe, entries, path, **design)
    assert (len(names), len(set(names)), names[0], digest(names)) == OWN[probe]


def test_names_of_reference_answers(root):
    """Names in both steps of the first round and in the writing of the second one, after texts that are given."""
    free = {"sampling": {"temperature": 1.0, "max_tokens": 8}, "dtype": "bfloat16"}
    roles = {"writing": {"max_tokens": 100}, "reviewing": {"temperature": 0}}
    judges = {name: complete_judge(model=f"org/{name}", **free).block() | {"roles": roles} for name in "ab"}
    tables = datasets.prepare("sim", datasets.read("simulated", {}, SIMULATED, dataset="sim"))
    folder = root / "resources/templates"
    files = [folder / f"{name}.jinja" for name in ("write_reference", "review_reference", "score", "score")]
    settings = {"n": 5, "judges": ["a", "b"], "levels": [1, 4], "sample": None, "seed": 0, "file": None}
    made = references.load_plan(
        tables.items, tables.rubrics, files, [], settings | {"settings": judges, "shows_rejected": True}
    )
    asked, responses = {}, {}
    for step, answer in (("1_write", "A text."), ("1_review", "No."), ("2_write", "")):
        asked[step] = references.requests(made, step, responses)["request_id"].tolist()
        known_answers = {"request_id": asked[step], "text": answer, "error": None, "finish_reason": "stop"}
        responses[step] = pd.DataFrame(known_answers)
    assert {step: (len(names), names[0], digest(names)) for step, names in asked.items()} == REFERENCES


REFERENCES = {
    "1_write": (4, "a9acb5124453ef6b4f7aeb79c145f3bc", "a358c3ba12798411"),
    "1_review": (6, "4768696fc697cfc6b70b2ba8816de10c", "a556abda49ba0ce0"),
    "2_write": (4, "8400be03230b5c994054f55ad5d98b16", "639d3938a3db3e8e"),
}


def test_names_of_the_simulated_judge_with_every_default_of_the_schema():
    """A new default under `simulation` would rename what is stored: it has to be left out of the name."""
    judge = complete_judge(engine="simulated", simulation={"preference": "first"})
    assert len(judge.simulation.block()) > 1
    name = requests.namer(judge, 5, probes.load("score_order"))
    assert name(b"a prompt", 1) == "4040c63e2a95cd61ca5ac818f1c1da1c"
