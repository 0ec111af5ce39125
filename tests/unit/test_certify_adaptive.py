"""`rubric-order certify --adaptive`: texts are asked in rounds, over a server that counts its calls."""

import hashlib
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from endpoint import Call, Reply, completion, running
from typer.testing import CliRunner

from rubric_order.base.errors import InputError
from rubric_order.commands.app import app
from rubric_order.contracts.scores import SCORES
from rubric_order.extras.one_read.library import adaptive
from rubric_order.extras.one_read.library.adaptive import Adaptive
from rubric_order.extras.one_read.methods.adaptive import boundary, stopping
from rubric_order.judging import starting
from rubric_order.library.certify import inputs, judges, study

RUBRIC = {"question": "Is it polite?", "levels": {1: "Rude.", 2: "Correct.", 3: "Warm."}}
SETTING = Adaptive(0.5, probe_groups=20, places=True)
GROUPS = 26


def rows():
    """Two or three texts per group; some are scored alike in all orderings, others are not."""
    for group in range(GROUPS):
        for text in range(2 + group % 2):
            quality, doubtful = 1 + (group + text) % 3, (group + 2 * text) % 3 == 0
            words = f"Text {group}-{text} of quality {quality}{', doubtful' if doubtful else ''}."
            yield {"item_id": f"t{group}_{text}", "group_id": f"g{group}", "instruction": "Write.", "response": words}


def scored(call: Call) -> Reply:
    """The quality; of doubtful texts in half of the orderings what stands first."""
    shown = re.findall(r"^Score ([0-9]+):", call.prompt, re.MULTILINE)
    quality = re.search(r"of quality ([0-9])(, doubtful)?", call.prompt)
    led = quality[2] and hashlib.blake2b(call.prompt.encode()).digest()[0] % 2
    return Reply(completion(f"So be it. [RESULT] {shown[0] if led else quality[1]}", model=call.body["model"]))


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    pd.DataFrame(rows()).to_csv(folder / "texts.csv", index=False)
    (folder / "rubric.yaml").write_text(yaml.safe_dump(RUBRIC))
    return folder / "texts.csv", folder / "rubric.yaml"


def prepared(url, texts, folder, *changes):
    block = judges.block(url, judges.Options(model="m", changes=changes))
    with study.prepare(folder, block, inputs.read(*texts), in_rounds=True) as made:
        made.plan()
    return made


@pytest.fixture(scope="module")
def server():
    """One server: answers from several addresses would be a mix."""
    with running(scored) as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def asked(server, texts, tmp_path_factory):
    """A study that was asked in rounds: its folder, the bytes of its table, and its calls."""
    folder = tmp_path_factory.mktemp("asked") / "study"
    SETTING.ask(prepared(server.base_url, texts, folder))
    prompts = [call.prompt for call in server.calls]
    return folder, (folder / study.ADAPTIVE).read_bytes(), prompts


def test_texts_are_read_until_they_are_known_and_no_call_is_made_twice(asked):
    folder, _, prompts = asked
    table = pd.read_csv(folder / study.ADAPTIVE)
    assert len(table) == len(list(rows()))
    assert len(prompts) == len(set(prompts)) == table["reads"].sum()
    assert (table["reads"] + table["spared"] == 6).all()
    probed = table[table["probe"]]
    assert probed["group_id"].nunique() == 20
    assert set(probed["stopped_by"]) == {"all"}
    others = table[~table["probe"]]
    assert others["reads"].nunique() > 1
    assert {"width", "place"} <= set(others["stopped_by"])
    assert others["reads"].sum() < 6 * len(others)
    assert ((others["high"] - others["low"] <= 0.5 + 1e-9) | (others["stopped_by"] == "place")).all()
    scores = SCORES.read(next(folder.glob("data/scores/certify/*/*.parquet")))
    assert set(scores["group_id"]) == set(probed["group_id"])  # the card is of reads that nobody chose
    assert scores["score"].notna().all()
    assert "would ask the reads that were spared" in (folder / study.CONFIG).read_text()


def test_complete_answers_stop_the_same_texts_after_the_same_reads(asked, server, texts):
    """The rest is asked as in any study; then the rounds ask nothing, and a replay of all scores agrees with them."""
    folder, before, prompts = asked
    made = prepared(server.base_url, texts, folder)
    made.ask()
    spared = pd.read_csv(folder / study.ADAPTIVE)["spared"].sum()
    others = [call.prompt for call in server.calls[len(prompts) :]]
    assert len(others) == spared > 0
    assert not set(others) & set(prompts)
    scores = SCORES.read(next(folder.glob("data/scores/certify/*/*.parquet")))
    SETTING.ask(made)
    assert len(server.calls) == len(prompts) + spared
    assert (folder / study.ADAPTIVE).read_bytes() == before
    full = adaptive.laid_out(scores.assign(unit_id=scores["item_id"]), "balanced")
    values = full.reads["score"].to_numpy(dtype=float).reshape(-1, 6)
    chosen = adaptive.probes(full, 20)
    rule = adaptive.learnt(full.only(chosen), values[chosen], SETTING)
    rest = full.only(~chosen)
    read = np.take_along_axis(values[~chosen], rest.order, axis=1)
    walk = boundary.paths(read, rule.offsets[rest.order], rule.spread, rest.scale)
    goal = boundary.Goal(0.5, True, 0.05)
    claimed = boundary.claims(walk, rule.factor, goal, rest.scale, stopping.grouped(rest.cell))
    table = pd.read_csv(folder / study.ADAPTIVE)
    table = table[~table["probe"]]
    assert table["item_id"].tolist() == rest.firsts["item_id"].tolist()
    assert table["reads"].tolist() == claimed.stops.reads.tolist()
    assert table["score"].to_numpy() == pytest.approx(claimed.estimate)
    assert table["low"].to_numpy() == pytest.approx(claimed.low)
    assert table["stopped_by"].tolist() == [stopping.REASONS[reason] for reason in claimed.stops.reason]


@pytest.mark.slow
def test_a_run_that_is_killed_several_times_asks_again_what_was_under_way_and_ends_the_same(asked, texts, tmp_path):
    _, before, prompts = asked

    def slow(call: Call) -> Reply:
        reply = scored(call)
        reply.delay = 0.05
        return reply

    program = Path(sys.executable).with_name("rubric-order")
    with running(slow) as endpoint:
        words = ["certify", endpoint.base_url, "--model", "m", "--items", texts[0], "--rubric", texts[1]]
        words += ["--adaptive", "--target-width", 0.5, "--probe-groups", 20, "--places", "--set", "concurrency=4"]
        command = [str(word) for word in (program, *words, "--folder", tmp_path / "study", "--json")]
        total = len(prompts)
        for calls in (total // 3, total - 40, total - 20, total - 5):  # within the probe groups, and within rounds
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                while len(endpoint.calls) < calls:
                    assert process.poll() is None
                    time.sleep(0.005)
                process.kill()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert {call.prompt for call in endpoint.calls} == {*prompts}
        assert len(endpoint.calls) <= total + 4 * 4  # of each kill the calls under way, at most `concurrency`
    assert (tmp_path / "study" / study.ADAPTIVE).read_bytes() == before
    (card,) = json.loads(done.stdout)
    assert (card["n_groups"], card["n_orderings"]) == (20, 6)


def test_a_text_with_an_answer_without_a_score_is_read_to_its_end_and_has_no_interval(texts, tmp_path, monkeypatch):
    starts, start = [], starting.Starter.__call__
    monkeypatch.setattr(starting.Starter, "__call__", lambda self: starts.append(self) or start(self))

    def mute(call: Call) -> Reply:
        if "Text 3-0 " in call.prompt and re.search(r"^Score 2:.*\n(.*\n)*?Score 3:", call.prompt, re.MULTILINE):
            return Reply(completion("I would rather not say.", model="m"))
        return scored(call)

    with running(mute) as endpoint:
        made = prepared(endpoint.base_url, texts, tmp_path / "study")
        table = Adaptive(1.5, probe_groups=0).ask(made)
        assert len(endpoint.calls) == table["reads"].sum()
    assert len(starts) == 1  # one engine for all rounds
    row = table.set_index("item_id").loc["t3_0"]
    assert (row["stopped_by"], row["reads"]) == ("unscored", 6)
    assert np.isnan(row["low"])
    assert 1 <= row["score"] <= 3
    others = table[table["item_id"] != "t3_0"]
    assert (others["stopped_by"] == "width").all()
    assert others["reads"].max() < 6
    assert not (tmp_path / "study" / study.READS).exists()  # there are no complete reads to make a card from


def run(*words):
    return CliRunner().invoke(app, ["certify", *map(str, words)])


def test_the_command_says_what_it_spared_and_prints_the_card_of_the_probe_groups(asked, server, texts):
    folder, before, _ = asked
    calls = len(server.calls)
    words = [server.base_url, "--model", "m", "--items", texts[0], "--rubric", texts[1], "--folder", folder]
    done = run(*words, "--adaptive", "--target-width", 0.5, "--probe-groups", 20, "--places")
    assert done.exit_code == 0, done.exception
    assert len(server.calls) == calls
    table = pd.read_csv(folder / study.ADAPTIVE)
    others = table[~table["probe"]]
    assert f"{table['probe'].sum()} texts in 20 probe groups were read in all orderings" in done.stderr
    words = f"{others['spared'].sum()} of {6 * len(others)} spared (target 0.5 points;"
    assert words in done.stderr.replace("\n", " ")
    assert study.ADAPTIVE in done.stderr
    assert (folder / study.ADAPTIVE).read_bytes() == before


URL = "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--target-width", 1], "--target-width: it is for asking in rounds; expected --adaptive with it"),
        (["--places"], "--places: it is for asking in rounds; expected --adaptive with it"),
        (["--adaptive", "--target-width", 0], "--target-width: expected points above 0, found 0"),
        (["--adaptive", "--target-width", "nan"], "--target-width: expected points above 0, found nan"),
        (
            ["--adaptive", "--probe-groups", 18],
            "--probe-groups: there are 18 groups; at least 19 are needed to learn a rule of 95% from, or 0",
        ),
        (["--adaptive", "--pilot"], "--pilot: it asks reads that --adaptive may spare; expected one of them"),
    ],
)
def test_a_mistake_is_one_message_and_nothing_is_written(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(URL, "--model", "m", *words)
    assert done.exit_code == 1
    assert message in str(done.exception)
    assert not any(tmp_path.iterdir())


def test_reads_that_share_a_request_cannot_be_spared():
    plan = pd.DataFrame({"strategy": "balanced", "unit_id": "a", "read_index": [0, 1], "n": 2, "request_id": "same"})
    with pytest.raises(InputError, match="expected a request per read"):
        adaptive.laid_out(plan, "balanced")
