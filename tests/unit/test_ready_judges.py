"""The ready-made judges: each passes, says where each of its settings comes from, and its arithmetic is right."""

import ast
import importlib.util
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml
from factories import demo_config

from rubric_order.judging.engines import NOTHING, vllm_offline
from rubric_order.run import checks, loading
from rubric_order.settings import judges
from rubric_order.settings.config import Config

ROOT = Path(__file__).resolve().parents[2]
FILES = loading.ready_judges(ROOT / "config")
SOURCE = r"(xu2026|xu2026_v1|li2025|shi2025) [\w., ]+|card|size|ours|pin it"
ID = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")


def read(name):
    return yaml.safe_load(FILES[name].read_text(encoding="utf-8"))


def test_the_judges_of_the_papers_are_there():
    papers = {"gpt_oss_20b", "gpt_oss_120b", "qwen3_5_9b", "qwen3_5_27b", "gemma_3_12b", "gemma_3_27b"}
    papers |= {"qwen3_8b", "qwen3_32b", "mistral_small_24b", "deepseek_v3", "llama_3_1_8b", "llama_3_3_70b"}
    papers |= {"prometheus_2_7b", "prometheus_2_8x7b", "gpt_4_1", "gpt_4_1_mini", "gpt_4o"}
    assert papers <= set(FILES)


def test_the_fifteen_judges_of_shi_et_al_are_there_with_the_versions_that_they_name():
    table = pd.read_csv(ROOT / "resources/published/shi2025_table2.csv")
    ids = {judge: "gpt_4o_2024_05_13" if judge == "gpt_4o" else judge for judge in table["judge"]}
    assert len(ids) == 15
    assert set(ids.values()) <= set(FILES)
    named = {
        *("o1-mini-2024-09-12", "gpt-4o-2024-05-13", "gpt-4-1106-preview", "gpt-4-0613", "gpt-3.5-turbo-1106"),
        *("claude-3-5-sonnet-20240620", "claude-3-opus-20240229", "claude-3-sonnet-20240229"),
        "claude-3-haiku-20240307",
    }
    assert named <= {read(name)["judges"][name]["model"] for name in ids.values()}
    live = yaml.safe_load((ROOT / "config/papers/judging_the_judges_live.yaml").read_text(encoding="utf-8"))
    assert set(live["studies"]["mtbench_live"]["judges"]) <= set(ids.values())


@pytest.mark.parametrize("name", FILES)
def test_a_file_defines_the_one_judge_that_it_is_named_after_and_passes_the_checks(name):
    content = read(name)
    assert list(content) == ["judges"]
    assert list(content["judges"]) == [name]
    assert ID.fullmatch(name)
    config = demo_config()
    config["judges"] |= content["judges"]
    config["studies"]["position_bias"] |= {
        "judges": [name],
        "profiles": ["default", *content["judges"][name].get("profiles", {})],
    }
    checked = Config.read(config)
    checks.check_meaning(checked)
    judge = checked.judges[name]
    assert judge.label != name
    if judge.engine == "vllm" and not judge.gguf:
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", judge.model)
        assert not judge.is_local
        assert judge.gpu >= 1
    for profile in judge.profiles:
        assert ID.fullmatch(profile)
        assert judge.under(profile).sampling.max_tokens < (judge.max_model_len or 2**20)


def settings_with_comments(text):
    """Each line that holds a setting, with the comment after it or right above it."""
    above = ""
    for line in text.partition("judges:")[2].splitlines()[2:]:
        if line.strip().startswith("#"):
            above += " " + line.strip().removeprefix("#").strip()
            continue
        setting, _, comment = line.partition(" # ")
        if not re.search(r":$|^ *label: ", setting):  # not only a name, of a block or for people
            yield setting.strip(), comment or above.strip()
        above = ""


@pytest.mark.parametrize("name", FILES)
def test_each_setting_says_where_it_comes_from(name):
    found = list(settings_with_comments(FILES[name].read_text(encoding="utf-8")))
    assert len(found) >= 9
    unsourced = [setting for setting, comment in found if not re.match(SOURCE, comment)]
    assert unsourced == []


def test_a_setting_without_a_source_is_found():
    lines = ["judges:", "  x:", "    a: 1 # ours", "    # card: why", "    b: 2", "    c: 3", "    d: 4 # somewhere"]
    text = "\n".join([*lines, "    e:", "      f: 5 # li2025 Setup", ""])
    unsourced = [setting for setting, comment in settings_with_comments(text) if not re.match(SOURCE, comment)]
    assert unsourced == ["c: 3", "d: 4"]


ON_GPUS = [name for name in FILES if read(name)["judges"][name].get("gpu")]


@pytest.mark.parametrize("name", ON_GPUS)
def test_the_arithmetic_of_memory_is_right(name):
    head = FILES[name].read_text(encoding="utf-8").partition("judges:")[0]
    head = " ".join(line.removeprefix("# ") for line in head.splitlines())
    weights = re.search(r"([\d.]+) billion parameters(?: with the vision encoder)? x (\d) bytes? = (\d+) GiB", head)
    if weights:
        params, size, gib = map(float, weights.groups())
        assert params * 1e9 * size / 2**30 == pytest.approx(gib, abs=1)
    factors, kib = re.search(r"KV cache[^:]*: (.*?) = (\d+) KiB a token", head).groups()
    layers = re.match(r"(\d+) layers x (\d+) heads x (\d+) x 2 \(K, V\) x 2 bytes", factors)
    tokens = int(layers[1]) * int(layers[2]) * int(layers[3]) * 4 if layers else 61 * (512 + 64) * 2
    assert tokens / 1024 == pytest.approx(int(kib), abs=0.7)
    left = re.search(r"Of (one|two|four|eight) GPUs? of 80 GiB, 0.9 are used: (\d+) - ([\d.]+) - about (\d+)", head)
    if left:
        gpus = {"one": 1, "two": 2, "four": 4, "eight": 8}[left[1]]
        used, held, working = map(float, left.groups()[1:])
        assert used == 0.9 * 80 * gpus
        assert gpus == read(name)["judges"][name]["gpu"]
        remains, fit = re.search(r"leaves (\d+) GiB, some ([\d,]+) tokens", head).groups()
        assert used - held - working == pytest.approx(float(remains), abs=0.9)
        assert int(fit.replace(",", "")) == pytest.approx(int(remains) * 2**20 / int(kib), rel=0.03)


def test_the_medium_effort_of_gpt_oss_is_the_judge_as_it_stands():
    for name in ("gpt_oss_20b", "gpt_oss_120b"):
        judge = judges.read(read(name)["judges"][name])
        known, medium, high = (
            judge.under(profile).identity(judges.FORMATS) for profile in ("default", "medium", "high")
        )
        assert medium == known
        assert high != known


def parsed_of_vllm(path):
    """A module of vLLM, parsed: importing it takes longer than all other tests of this file."""
    package = importlib.util.find_spec("vllm")
    if package is None:
        pytest.skip("vLLM is not installed")
    return ast.parse((Path(package.origin).parent / path).read_text()).body


def test_a_judge_of_a_deprecated_quantization_starts():
    nodes = parsed_of_vllm("model_executor/layers/quantization/__init__.py")
    (deprecated,) = (
        ast.literal_eval(node.value)
        for node in nodes
        if isinstance(node, ast.Assign) and node.targets[0].id == "DEPRECATED_QUANTIZATION_METHODS"
    )
    for name in FILES:
        judge = judges.read(read(name)["judges"][name])
        arguments = vllm_offline.engine_arguments(judge, NOTHING) if hasattr(judge, "engine_args") else {}
        allowed = arguments.get("allow_deprecated_quantization", False)
        assert allowed == (arguments.get("quantization") in deprecated), name


def test_engine_arguments_are_arguments_of_vllm():
    nodes = parsed_of_vllm("engine/arg_utils.py")
    classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
    known = {node.target.id for node in classes["EngineArgs"].body if isinstance(node, ast.AnnAssign)}
    assert "tensor_parallel_size" in known
    for name in FILES:
        assert set(read(name)["judges"][name].get("engine_args", {})) <= known


def test_a_ready_made_judge_can_be_asked_over_an_endpoint():
    """As config/judges/README.md says."""
    page = (ROOT / "config/judges/README.md").read_text(encoding="utf-8")
    change = yaml.safe_load(re.search(r"```yaml\n(judges:.*?)```", page, flags=re.DOTALL)[1])
    config = demo_config()
    (name,) = change["judges"]
    config["judges"][name] = read(name)["judges"][name] | change["judges"][name]
    config["studies"]["position_bias"]["judges"] = [name]
    checked = Config.read(config)
    checks.check_meaning(checked)
    assert isinstance(checked.judges[name], judges.Endpoint)
