import copy
import dataclasses
import re

import pytest
import yaml
from factories import ROOT, demo_config, put
from pydantic import ValidationError

from rubric_order.base.errors import InputError
from rubric_order.run import checks, loading
from rubric_order.settings import judges, schema, values
from rubric_order.settings.config import Config
from rubric_order.settings.judges.judge import Sampling
from rubric_order.settings.judges.loaded import OWN_SETTINGS
from rubric_order.simulation.judge import Simulation


@pytest.fixture
def config():
    return demo_config()


def read(config):
    """The config as a model."""
    values.check(config)
    return Config.read(config)


def check(config, ready=()):
    """The check of what a model cannot say."""
    checks.check_meaning(read(config), ready)


def problem(check, *arguments):
    with pytest.raises(InputError) as error:
        check(*arguments)
    return str(error.value)


def with_ready_made(root, *layers):
    """A config as Snakemake puts it together: files over each other, and under them what is ready-made."""
    config, whole = {}, {}
    for layer in (root / "config/config.yaml", *layers):
        loading.merge(config, yaml.safe_load(layer.read_text(encoding="utf-8")))
    for path in loading.ready_made(root / "config", config):
        loading.merge(whole, yaml.safe_load(path.read_text(encoding="utf-8")))
    loading.merge(whole, config)
    loading.name_studies(whole)
    loading.follow_scales(whole)
    return whole


def test_every_config_of_a_paper_passes(root):
    need_a_folder = ("recorded", "judging_the_judges", "scoring_bias_recorded")
    papers = [path for path in (root / "config/papers").glob("*.yaml") if path.stem not in need_a_folder]
    papers.append(root / "config/demo.yaml")
    for path in [*papers, *(root / "config/examples").glob("*.yaml")]:
        config = with_ready_made(root, path)
        check(config)


# Ready-made judges.


def named(judges_, studies):
    return {"judges": judges_, "studies": {name: {"judges": listed} for name, listed in studies.items()}}


@pytest.fixture
def shelf(tmp_path):
    """A folder of ready-made datasets and judges."""
    for kind, names in (("datasets", ("one", "two")), ("judges", ("alpha", "beta", "gamma"))):
        (tmp_path / kind).mkdir()
        for name in names:
            (tmp_path / kind / f"{name}.yaml").write_text(f"{kind}: {{{name}: {{}}}}\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("config", "judge_files"),
    [
        ({}, []),
        (named({}, {"a": ["beta"], "b": ["other", "alpha"]}), ["alpha", "beta"]),
        (named({"gamma": {"gpu": 2}}, {"a": ["mine"]}), ["gamma"]),
        ({"references": {"one": {"judges": ["beta", "mine"]}, "two": {"file": "own.csv"}}}, ["beta"]),
        # What the check of the shape will name must not stop here.
        ({"references": {"one": None, "two": {"judges": None}}}, []),
        ({"judges": None, "studies": None}, []),
        ({"judges": [], "studies": {"a": None, "b": {"judges": "alpha"}}}, []),
        (named({}, {"a": [["alpha"], None, "beta"]}), ["beta"]),
    ],
)  # fmt: skip
def test_of_the_ready_made_judges_those_that_are_named_are_read(shelf, config, judge_files):
    found = loading.ready_made(shelf, config)
    assert [path.stem for path in found if path.parent.name == "judges"] == judge_files
    assert [path.stem for path in found if path.parent.name == "datasets"] == ["one", "two"]


def test_an_unknown_judge_is_answered_with_those_that_are_defined_and_those_that_are_ready_made(config):
    put(config, f"{STUDY}/judges", ["smollm2_135m", "gpt_9"])
    found = problem(check, config, ["gpt_4o", "smollm2_135m", "qwen3_8b"])
    assert found == (
        f"config: {STUDY}/judges: 'gpt_9' is not defined under judges; defined: smollm2_135m; "
        "ready-made in config/judges: gpt_4o, qwen3_8b; did you mean 'gpt_4o'?"
    )


def test_what_config_says_of_a_ready_made_judge_goes_over_it(root, tmp_path):
    mine = tmp_path / "mine.yaml"
    mine.write_text(
        "judges: {qwen3_8b: {gpu: 4, sampling: {seed: 7}}}\nstudies: {position_bias: {judges: [qwen3_8b]}}\n"
    )
    config = with_ready_made(root, root / "config/demo.yaml", mine)
    check(config)
    judge = config["judges"]["qwen3_8b"]
    ready = yaml.safe_load((root / "config/judges/qwen3_8b.yaml").read_text(encoding="utf-8"))["judges"]["qwen3_8b"]
    assert (judge["gpu"], judge["sampling"]["seed"]) == (4, 7)
    assert judge["model"] == ready["model"]
    assert judge["sampling"]["temperature"] == ready["sampling"]["temperature"]


def test_every_setting_is_described():
    def undescribed(part, path):
        for key, entry in part.get("properties", {}).items():
            blocks = entry.get("additionalProperties")
            inner = [entry, *([blocks] if isinstance(blocks, dict) else [])]
            inner += [kind for block in inner for kind in block.get("anyOf", ())]
            if not any("properties" in block for block in inner) and "description" not in entry:
                yield f"{path}/{key}"
            for block in inner:
                yield from undescribed(block, f"{path}/{key}")

    engines = {f"/judges/{name}" for name in ("engine",)}
    assert set(undescribed(schema.schema(), "")) <= engines


JUDGE = "judges/smollm2_135m"
STUDY = "studies/position_bias"
ENDPOINT = {"engine": "openai", "model": "a-model", "base_url": "https://example.org/v1"}


@pytest.fixture(scope="module")
def starts():
    """The configs that the rows of the corpus change."""
    several = with_ready_made(ROOT, ROOT / "config/demo.yaml")
    several["studies"]["several"] = {"probe": "criterion_order", "datasets": ["hanna"], "judges": ["smollm2_135m"]}
    other = demo_config()
    put(other, "studies/other", copy.deepcopy(other["studies"]["position_bias"]))
    endpoint = demo_config()
    put(endpoint, "judges/mine", ENDPOINT)
    return {"demo": demo_config(), "endpoint": endpoint, "other": other, "several": several}


def rows():
    groups = yaml.safe_load((ROOT / "tests/data/config_errors.yaml").read_text(encoding="utf-8"))
    for group in groups:
        for changes, message in group["rows"]:
            yield pytest.param(group["config"], group["by"], changes, message, id=f"{group['about']}: {[*changes]}")


@pytest.mark.parametrize(("start", "stage", "changes", "message"), rows())
def test_a_config_passes_or_is_one_line_with_the_path_of_the_key(starts, start, stage, changes, message):
    config = copy.deepcopy(starts[start])
    for path, value in changes.items():
        put(config, path, value)
    if stage == "meaning":
        read(config)
    if message is None:
        check(config)
        return
    found = problem(read if stage == "shape" else check, config)
    expected = re.escape(f"config: {message}").replace("…", ".*").replace("⋮", r"(?s:.)*")
    assert found.replace("\n", "").isprintable()
    assert re.fullmatch(expected, found), found


SIMULATION = {
    "seed": 1,
    "preference": [0, 0.5, 1],
    "interaction": [[0, 1], [1, 0]],
    "criterion_position": -0.5,
    "failure_rate": [0, 0.1],
    "seconds_per_request": 0.5,
}


def test_a_simulated_judge_is_described_by_its_parameters(config):
    config[JUDGE.split("/")[0]]["planted"] = {"engine": "simulated", "model": "planted", "simulation": SIMULATION}
    check(config)
    filled = read(config).judges["planted"].simulation.block()
    assert Simulation(**filled) == Simulation(**SIMULATION, family=[])  # the schema's defaults are those of the model
    # Later ones are not filled in: requests are named by what is, and keep their names.
    later = {"writing_error", "reviewing_error"}
    assert set(filled) == {field.name for field in dataclasses.fields(Simulation)} - later


def test_how_long_a_simulated_answer_takes_is_not_part_of_a_judges_identity():
    def identity(**settings):
        return judges.read({"engine": "simulated", "model": "m", **settings}).identity(judges.FORMATS)

    def simulated(**simulation):
        return identity(simulation=simulation)

    assert simulated(seconds_per_request=1.0, preference=[1.0, 0]) == simulated(
        seconds_per_request=0, preference=[1, 0]
    )
    assert simulated(preference=[1, 0]) != simulated(preference=[0, 1])
    assert "simulation" not in identity()


def test_two_judges_of_one_model_name_take_their_weights_from_one_file(config):
    first = config["judges"]["smollm2_135m"]
    config["judges"]["another"] = {**copy.deepcopy(first), "answer_format": "feedback", "answer_prefix": ""}
    check(config)
    config["judges"]["another"]["gguf"]["file"] = "Other.gguf"
    found = problem(check, config)
    assert (
        found
        == "config: judges/smollm2_135m/gguf: judge 'another' takes model 'SmolLM2-135M-Instruct' from another file"
    )


def test_the_settings_that_engine_arguments_may_not_repeat_exist():
    for own in OWN_SETTINGS.values():
        place = schema.model_schema(judges.Vllm)
        for key in own.split("/"):
            place = place["properties"][key]


@pytest.mark.parametrize(
    ("path", "text", "value"),
    [
        ("datasets/demo/limit", "2", 2),
        ("datasets/demo/limit", "null", None),
        ("datasets/demo/limit", "many", "many"),
        ("datasets/demo/limit", "2.5", "2.5"),
        ("judges/smollm2_135m/sampling/temperature", "0.3", 0.3),
        ("studies/position_bias/scales", "[2, 3]", [2, 3]),
        ("judges/smollm2_135m/model", "5", "5"),
        ("judges/smollm2_135m/answer_format", "score", "score"),
    ],
)
def test_a_text_of_the_command_line_is_read_where_the_schema_wants_no_text(config, path, text, value):
    *blocks, key = path.split("/")
    block = config
    for name in blocks:
        block = block[name]
    block[key] = text
    if type(value) is str and value != "score" and key != "model":  # it does not become what the model wants
        assert f"found {value!r}" in problem(read, config)
        return
    found = read(config).block()
    for name in path.split("/"):
        found = found[name]
    assert found == value
    assert type(found) is type(value)


def test_a_key_that_was_renamed_is_taken_with_a_warning_and_one_that_went_says_why(monkeypatch, caplog):
    monkeypatch.setattr(Sampling, "RENAMED", {"nucleus": "top_p"})
    judge = judges.read({"engine": "simulated", "model": "m", "sampling": {"nucleus": 0.5}})
    assert judge.sampling.top_p == 0.5
    assert "key 'nucleus' is called 'top_p' now" in caplog.text
    with pytest.raises(ValidationError, match="keys nucleus and top_p are one"):
        judges.read({"engine": "simulated", "model": "m", "sampling": {"nucleus": 0.5, "top_p": 1}})
