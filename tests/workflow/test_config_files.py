"""Config files that cannot be used, through Snakemake itself; `python tests/mutated_configs.py` sends hundreds."""

from pathlib import Path

import mutated_configs
import pytest
import yaml

from rubric_order.settings import reading

WHOLE = yaml.safe_dump(mutated_configs.BASE, sort_keys=False)


def outcome(content: bytes | str, folder: Path) -> mutated_configs.Outcome:
    return mutated_configs.run_one(mutated_configs.Mutant("", content), folder / "run")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"{WHOLE}judges: {{}}\n".encode(), "duplicate key 'judges'"),
        ("\n".join([WHOLE, *mutated_configs.bomb("a", "{}", 10)]).encode(), "aliases stand for more than"),
        (WHOLE.replace("A model", "Café").encode("latin-1"), "expected UTF-8, found byte 0xe9"),
        (WHOLE.replace("    model", "\tmodel").encode(), "malformed YAML"),
        ("missing", "no such file"),
        ("folder", "Is a directory"),
        ("device", "found a device or a pipe"),
    ],
)
def test_a_config_file_that_snakemake_would_choke_on_is_one_line_of_ours(tmp_path, content, message):
    found = outcome(content, tmp_path)
    assert found.kind == "refused", found.said
    (line,) = found.said.splitlines()
    assert message in line


def test_a_literal_key_ends_the_run_and_is_not_shown(tmp_path):
    content = WHOLE.replace("$A_TEAM", "sk-0123456789abcdefABCDEF").encode()
    found = outcome(content, tmp_path)
    assert found.kind == "refused", found.said
    assert "judges/asked/extra_headers/X-Team: a key is not written out; expected $NAME" in found.said
    assert "0123456789" not in found.said + (tmp_path / "run/said.txt").read_text()


def test_without_the_profile_the_rules_still_refuse_a_key_that_stands_twice(fresh):
    fresh.file("mine.yaml").write_text(f"{WHOLE}judges: {{}}\n")
    run = fresh.snakemake("--dry-run", "--workflow-profile", "none", "--configfile", "mine.yaml")
    assert run.returncode != 0
    assert "mine.yaml: line " in run.stderr
    assert "duplicate key 'judges'" in run.stderr


def test_a_mutant_is_always_the_same_and_most_differ():
    mutants = [mutated_configs.mutant(number) for number in range(40)]
    assert mutants == [mutated_configs.mutant(number) for number in range(40)]
    assert len({str(one.content) for one in mutants}) > 30


@pytest.mark.slow
def test_mutated_configs_are_valid_or_refused_with_their_place_and_none_hangs():
    assert mutated_configs.main(first=0, count=20) == 0


def test_a_config_of_the_greatest_size_is_read(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(WHOLE + "#" * (reading.MAX_BYTES - len(WHOLE)))
    assert reading.read(path) == mutated_configs.BASE
