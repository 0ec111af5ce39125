"""Formats that a processor has no instructions for, by what it says of itself."""

import pytest
from factories import changed

from rubric_order.judging import number_formats
from rubric_order.judging.engines import vllm_offline

OLD = "fpu sse sse2 avx avx2 avx512f avx512_vnni"
NEW = f"{OLD} avx512_bf16 avx512_fp16 amx_bf16"


@pytest.mark.parametrize(
    ("number_format", "machine", "features", "slow"),
    [
        ("bfloat16", "x86_64", OLD, True),
        ("float16", "x86_64", OLD, True),
        ("float32", "x86_64", OLD, False),
        ("auto", "x86_64", OLD, False),
        ("bfloat16", "x86_64", NEW, False),
        ("float16", "x86_64", NEW, False),
        ("bfloat16", "x86_64", f"{OLD} amx_bf16", False),
        ("float16", "x86_64", f"{OLD} avx512_bf16", True),
        ("bfloat16", "aarch64", "fp asimd asimdhp", True),
        ("float16", "aarch64", "fp asimd asimdhp", False),
        ("bfloat16", "aarch64", "fp asimd bf16", False),
        ("bfloat16", "x86_64", "", False),
        ("bfloat16", "arm64", "fp", False),
    ],
)
def test_a_format_is_slow_where_a_processor_that_lists_its_features_lacks_its_instructions(
    number_format, machine, features, slow
):
    assert number_formats.is_slow(number_format, machine, set(features.split())) is slow


def test_features_are_those_of_the_first_processor(tmp_path):
    path = tmp_path / "cpuinfo"
    path.write_text("processor\t: 0\nvmx flags\t: ept\nflags\t\t: avx avx2\n\nprocessor\t: 1\nflags\t\t: sse\n")
    assert number_formats.features(path) == {"avx", "avx2"}
    path.write_text("processor\t: 0\nFeatures\t: fp asimd\n")
    assert number_formats.features(path) == {"fp", "asimd"}
    path.write_text("processor : 0\n")
    assert number_formats.features(path) == set()
    assert number_formats.features(tmp_path / "none") == set()


@pytest.fixture
def old_processor(monkeypatch):
    monkeypatch.setattr(number_formats, "features", lambda: set(OLD.split()))
    monkeypatch.setattr(number_formats.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(vllm_offline, "is_cpu_build", lambda: True)


@pytest.mark.usefixtures("old_processor")
def test_the_warning_names_judge_format_and_remedy(judge):
    told = number_formats.warning("mine", changed(judge, dtype="bfloat16"), gpus=0)
    assert told.startswith("warning: judge mine computes in bfloat16, for which this processor has no instructions")
    assert "dtype: float32" in told
    assert "\n" not in told
    served = changed(judge, dtype="float16", engine="openai", serve={})
    assert "judge mine computes in float16" in number_formats.warning("mine", served, gpus=0)


@pytest.mark.usefixtures("old_processor")
@pytest.mark.parametrize(
    ("change", "gpus"), [({}, 1), ({"dtype": "float32"}, 0), ({"engine": "simulated"}, 0), ({"engine": "openai"}, 0)]
)
def test_nothing_is_said_of_a_judge_that_computes_elsewhere_or_in_float32(judge, change, gpus):
    assert number_formats.warning("mine", changed(judge, **{"dtype": "bfloat16"} | change), gpus=gpus) is None


@pytest.mark.usefixtures("old_processor")
def test_nothing_is_said_where_the_engine_does_not_compute_on_the_processor(judge, monkeypatch):
    monkeypatch.setattr(vllm_offline, "is_cpu_build", lambda: False)
    assert number_formats.warning("mine", changed(judge, dtype="bfloat16"), gpus=0) is None
