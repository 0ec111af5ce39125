"""A prompt of the user's own: what is refused, and a study with one from a table to a card."""

import pytest
from endpoint import Reply, completion, running
from factories import ROOT, changed, completed

import rubric_order as ro
from rubric_order import datasets, probes
from rubric_order.base.errors import InputError
from rubric_order.judging import engines, shard
from rubric_order.judging.store import Store
from rubric_order.planning import reads as planning
from rubric_order.planning import requests as planned
from rubric_order.prompts import frames, own
from rubric_order.run import loading
from rubric_order.scoring.scores import score_reads
from rubric_order.settings import judges
from rubric_order.settings.base import parse

OPTIONS = "{% for option in options %}{{ option }}\n{% endfor %}"
PAIR = "{% for one in candidates %}{{ one.label }}: {{ one.response }}\n{% endfor %}{{ tie if tie }}"


def check(tmp_path, text, probe="score_order", n=5):
    path = tmp_path / "own.jinja"
    path.write_text(text, encoding="utf-8")
    module = probes.load(probe)
    own.check(path, module.FIELDS, [lambda template: module.try_template(template, n)])
    return frames.load_template(path)


@pytest.mark.parametrize(
    ("probe", "text", "message"),
    [
        ("score_order", "{{ response }\n", "own.jinja:1: unexpected '}'; expected a Jinja template"),
        ("score_order", "{{ response }}\n{{ respnse }}", "own.jinja:2: no field is called 'respnse'; expected opt"),
        ("score_order", "{{ response }}{% include 'x' %}", "own.jinja:1: found include; a template is one file"),
        ("score_order", "{{ response }}", "does not write its options once each"),
        ("score_order", "{{ response }}" + OPTIONS * 2, "does not write its options once each"),
        ("score_order", "{{ response }}{% for o in options|reverse %}{{ o }}{% endfor %}", "once each and in order"),
        ("score_order", "{{ response }}{% for o in options %}{{ o.description }}{% endfor %}", "once each and"),
        ("score_order", "{{ response }}{{ options[0] }}{{ options[1] }}", "once each and in order"),
        ("score_order", "{{ response }}{% for o in options %}{{ o.label|lower }}{% endfor %}", "found a filter or"),
        ("score_order", OPTIONS + "{% if options[0].label == '5' %}{{ response }}{% endif %}", "found a filter or"),
        ("score_order", OPTIONS, "does not write the response"),
        ("score_order", OPTIONS + "{% if reference %}{{ response }}{% endif %}", "does not write the response"),
        ("score_order", OPTIONS + "{{ response }}{{ 1 / 0 }}", "own.jinja: division by zero"),
        ("score_order", OPTIONS + "{{ response.__class__.__mro__ }}", "unsafe"),
        ("criterion_order", "{{ response }}{% for o in options %}{{ o.label }}{% endfor %}", "no attribute 'label'"),
        ("criterion_order", OPTIONS, "does not write the response"),
        ("criterion_order", "{{ response }}{{ question }}" + OPTIONS, "no field is called 'question'"),
        ("pair_order", PAIR.replace("{{ one.response }}", ""), "does not write its candidates once each and in order"),
        ("pair_order", PAIR.replace("candidates %", "candidates|reverse %"), "candidates once each and in order"),
        ("pair_order", PAIR.replace("{{ one.label }}", "Response"), "write A, the label of the candidate at place 1"),
        ("pair_order", PAIR.replace("{{ tie if tie }}", ""), "does not write C, the label of a tie"),
    ],
)  # fmt: skip
def test_a_template_that_cannot_be_used_is_one_line(tmp_path, probe, text, message):
    n = 2 if probe == "pair_order" else 5
    with pytest.raises(InputError) as error:
        check(tmp_path, text, probe, n)
    assert message in str(error.value)
    assert str(error.value).startswith(str(tmp_path / "own.jinja"))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("probe", "n", "text"),
    [
        ("score_order", 3, "{{ response }}" + OPTIONS),
        ("criterion_order", 5, "{{ response }}" + OPTIONS),
        ("pair_order", 2, PAIR),
        ("list_order", 4, PAIR),
        ("list_order", 3, PAIR.replace("{{ one.response }}", "{{ one.turns[0].assistant }}")),
    ],
)
def test_a_template_of_each_probe_passes(tmp_path, probe, n, text):
    check(tmp_path, text, probe, n)


@pytest.mark.parametrize("name", ["feedback", "score"])
def test_the_templates_that_come_with_the_project_pass(tmp_path, name):
    check(tmp_path, (ROOT / f"resources/templates/{name}.jinja").read_text(encoding="utf-8"))


def test_a_line_of_ones_own_follows_the_order_and_evaluates_nothing(tmp_path):
    text = "{{ response }}\n{% for o in options %}\n{{ o.label }} = {{ o.description }}\n{% endfor %}\n"
    template = check(tmp_path, text, n=3)
    shown = frames.render(
        template,
        instruction="",
        response="{{ 7*7 }}{% for x in y %}",
        reference=None,
        question="",
        levels=["bad {{ n }}", "fair", "good"],
        ordering=[3, 1, 2],
    )
    assert shown == "{{ 7*7 }}{% for x in y %}\n3 = good\n1 = bad {{ n }}\n2 = fair\n"


def test_the_page_lists_every_field():
    page = (ROOT / "docs/own_prompt.md").read_text(encoding="utf-8")
    for probe in probes.names():
        for name, said in probes.load(probe).FIELDS.items():
            assert f"| `{name}` | {said} |" in page


def example():
    return parse((ROOT / "config/examples/own_prompt.yaml").read_text(encoding="utf-8"))


def test_a_template_is_for_one_probe_and_excludes_another_prompt(monkeypatch):
    monkeypatch.chdir(ROOT)
    several = example()
    several["studies"]["criteria"] = several["studies"]["position_bias"] | {"probe": "criterion_order"}
    with pytest.raises(InputError, match=r"judges/production/template: a template is for one probe, found studies of"):
        loading.complete(several, folder=ROOT)
    named = example()
    named["judges"]["production"]["template"] = "nowhere.jinja"
    with pytest.raises(InputError, match=r"^config: judges/production/template: nowhere\.jinja: no such file"):
        loading.complete(named, folder=ROOT)
    pairs = example() | {"figures": {}, "tables": {}}
    pairs["studies"]["position_bias"] |= {
        "probe": "pair_order",
        "scales": [2],
        "strategies": ["swap"],
        "prompt": "letter",
    }
    with pytest.raises(InputError, match="judge 'production' has a template of its own"):
        loading.complete(pairs, folder=ROOT)


def test_the_template_of_a_judge_that_only_reviews_references_is_tried(monkeypatch, tmp_path):
    monkeypatch.chdir(ROOT)
    text = (ROOT / "config/examples/support/prompt.jinja").read_text(encoding="utf-8")
    for change, message in ((str, None), (lambda text: text.replace("{{ response }}", ""), "does not write the resp")):
        (tmp_path / "own.jinja").write_text(change(text), encoding="utf-8")
        config = example()
        config["judges"]["reviewer"] = config["judges"]["production"] | {"template": str(tmp_path / "own.jinja")}
        config["references"] = {"support": {"judges": ["reviewer"], "rounds": 1}}
        if message is None:
            loading.complete(config, folder=ROOT)
            continue
        with pytest.raises(InputError, match=f"^config: judges/reviewer/template: .*{message}"):
            loading.complete(config, folder=ROOT)


def test_the_example_from_its_table_over_an_endpoint_to_a_card(monkeypatch, tmp_path):
    """A judge that takes the first option: its place in the user's own prompt decides the score."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-own-prompt")
    config = completed(example())
    files = {name: ROOT / file["path"] for name, file in config["datasets"]["support"]["files"].items()}
    found = datasets.prepare("support", datasets.read("custom", files, {}, dataset="support"))
    tables = (found.items, found.rubrics, found.pairs)
    assert len(tables[0]) == 20
    judge = judges.read(config["judges"]["production"])
    template = frames.load_template(judge.template)
    design = planning.Design(scales=[5], strategies=["balanced"], budget=None, seed=0)
    about = {"study": "position_bias", "judge_id": "production", "judge": judge, "design": design}
    reads = planning.plan_reads(*tables, template=template, probe="score_order", **about)
    requests = planned.distinct_requests(reads, owned_elsewhere=[])
    units = planned.units_asked(requests, *tables, template, probe="score_order")
    requests = planned.render_requests(requests, units)
    assert len(requests) == 200

    def first_option(call):
        line = next(line for line in call.prompt.splitlines() if " = " in line)
        return Reply(completion(f'{{"score": {line[0]}}}', model=judge.model))

    with running(first_option) as endpoint:
        settings = changed(judge, base_url=endpoint.base_url)
        store = Store(tmp_path / "store")
        responses = shard.judge(requests, store, lambda: engines.load(settings))
    assert all("Customer: " in call.prompt for call in endpoint.calls)
    scores = score_reads(reads, responses, probe="score_order")
    assert scores["failure"].isna().all()
    assert (scores["position"] == 1).all()
    plain = scores.rename(columns={"item_id": "item", "group_id": "group"})[
        ["item", "group", "score", "ordering"]
    ].copy()
    plain["ordering"] = [" ".join(map(str, ordering)) for ordering in plain["ordering"]]
    (card,) = ro.bias_card(plain)
    assert card.evidence.n_groups == 10
    assert card.evidence.main.v.estimate == pytest.approx(1)


DOUBLED = "{% set x0 = 'xxxxxxxxxx' %}" + "".join(f"{{% set x{k + 1} = x{k} OP x{k} %}}" for k in range(60))
LISTS = "{% set x0 = [1] %}" + "".join(f"{{% set x{k + 1} = [x{k}, x{k}] %}}" for k in range(60)) + "{{ x60 }}"
BLOCKS = "{% set x0 = 'x' %}" + "".join(
    f"{{% set x{k + 1} %}}{{{{ x{k} }}}}{{{{ x{k} }}}}{{% endset %}}" for k in range(60)
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{{ 'x' * 10**9 }}", "operator ** is not offered"),
        ("{{ 'x' * 10000000000 }}", "a text of more than"),
        ("{{ [1] * 10000000000 }}", "a text of more than"),
        (DOUBLED.replace("OP", "~"), "a text of more than"),
        (DOUBLED.replace("OP", "+"), "a text of more than"),
        (BLOCKS, "a text of more than"),
        (LISTS, "a list holds a list"),
        ("{{ 'x'|center(10000000000) }}", "No filter named 'center'"),
        ("{{ 'x'|indent(10000000000) }}", "expected a number up to 1000"),
        ("{{ '%10000000000d'|format(1) }}", "No filter named 'format'"),
        ("{{ '%10000000000d' % 1 }}", "operator % is not offered"),
        ("{{ 'x'.ljust(10000000000) }}", "unsafe"),
        ("{{ '{:10000000000}'.format(1) }}", "unsafe"),
        ("{{ (5).to_bytes(10000000000) }}", "unsafe"),
        ("{{ 'x'.replace('', 'y') }}", "unsafe"),
        ("{% set y = response * 100 %}{{ y|replace('', y)|replace('', y)|replace('', y) }}", "a text of more than"),
        ("{{ range(90000)|join(response * 9999) }}", "a text of more than"),
        ("{{ lipsum(100000) }}", "no field is called 'lipsum'"),
        ("{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}", "more than 100000 steps"),
        ("{% for a in range(99999) %}{{ response * 999 }}{% endfor %}", "a text of more than"),
        ("{% for a in range(1000000000) %}{% endfor %}", "Range too big"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "without end"),
        ("{% macro m(n) %}{% if n %}{{ m(n-1) }}{{ m(n-1) }}{% endif %}{% endmacro %}{{ m(60) }}", "steps"),
        ("{% block b %}{{ self.b() }}{% endblock %}", ""),
        ("{% for a in options recursive %}{{ loop(options) }}{% endfor %}", ""),
        ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", "nested too deeply"),
        ("{{ " + "not " * 5000 + "1 }}", "nested too deeply"),
        ("{% if 1 %}" * 200 + "{% endif %}" * 200, "nested too deeply"),
        ("{{ " + "9" * 5000 + " }}", ""),
        ("{{ response.x() }}", ""),
        ("{{ [] }}", "expected text or a number, found list"),
        ("{{ range }}", ""),
        ("x" * 2_000_000, "expected at most 1,000,000 characters"),
    ],
)
def test_a_template_that_needs_all_memory_or_never_ends_is_one_line(tmp_path, text, message):
    with pytest.raises(InputError) as error:
        check(tmp_path, "{{ response }}" + OPTIONS + text)
    assert message in str(error.value)
    assert str(error.value).startswith(str(tmp_path / "own.jinja"))
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 500


@pytest.mark.parametrize(
    "text",
    [
        "{{ response|trim }} {{ instruction|replace('a', 'b')|indent(4) }} {{ question|default('none')|upper }}",
        "{% set parts = instruction.split() %}{{ parts|join(', ') }} {{ parts|length }} {{ n * 2 + 1 }} {{ 7 % 3 }}",
        "{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m('a') ~ m(1) }}{% for k in range(3) %}{{ loop.index }}{% endfor %}",
        "{% set ns = namespace(k=0) %}{% for one in [1, 2] %}{% set ns.k = ns.k + one %}{% endfor %}{{ ns.k }}",
        "{{ 'a' if n == 5 else 'b' }} {{ reference or 'none' }} {{ instruction[:3] }} {{ question.strip() }}",
    ],
)
def test_what_templates_usually_do_is_offered(tmp_path, text):
    check(tmp_path, "{{ response }}" + OPTIONS + text)


def test_a_limit_holds_for_each_rendering_alone(tmp_path):
    path = tmp_path / "own.jinja"
    path.write_text("{% for k in range(60000) %}{% endfor %}{{ response }}" + OPTIONS)
    template = frames.load_template(path)
    for _ in range(3):
        assert template.render(response="fine", options=[]) == "fine"
