import json
import os
import socket

import huggingface_hub
import pytest
from factories import complete_judge
from huggingface_hub import constants

from rubric_order.base.errors import InputError
from rubric_order.judging import weights
from rubric_order.planning.requests import namer
from rubric_order.probes.score_order import ScoreOrder

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def make(tmp_path):
    """A model folder of a run: weights whose header says how long they are, and their config."""

    def make_(run, content, *, beside=()):
        folder = tmp_path / run / "checkpoint"
        folder.mkdir(parents=True)
        header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
        (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + content)
        (folder / "config.json").write_text("{}")
        for name in beside:
            (folder / name).write_text("else")
        return str(folder)

    return make_


def test_two_checkpoints_of_one_name_and_one_header_are_two_judges(make):
    one, other = make("run1", b"\0\0\0\0"), make("run2", b"\0\0\0\1")
    assert set(weights.describe(one, None)) == {"weights"}
    assert weights.describe(one, None) != weights.describe(other, None)


def name_of_request(model):
    """As planning names it, after the weights of a judge whose config does not say them were looked up."""
    judge = complete_judge(model=model).add_weights(weights.describe(model, None))
    return namer(judge, 5, ScoreOrder())(b"a prompt", 0)


def test_requests_have_other_names_where_checkpoints_of_one_name_and_one_header_differ(make):
    one, copy, other = make("run1", b"1234"), make("run2", b"1234"), make("run3", b"1235")
    assert name_of_request(one) == name_of_request(copy) != name_of_request(other)


def test_requests_have_other_names_where_the_hub_has_another_commit_the_next_day(monkeypatch):
    commits = iter([COMMIT, COMMIT, COMMIT[::-1]])
    found = lambda _, model, **__: huggingface_hub.hf_api.ModelInfo(id=model, sha=next(commits))  # noqa: E731
    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", found)
    first, same_day, next_day = (name_of_request("org/model") for _ in range(3))
    assert first == same_day != next_day


def test_weights_are_the_same_wherever_they_lie_and_whatever_lies_beside_them(make):
    beside = ["README.md", ".cache", "optimizer.pt", "trainer_state.json", "rng_state_0.pth"]
    assert weights.describe(make("a", b"1234"), None) == weights.describe(make("b", b"1234", beside=beside), "main")


def test_a_tokenizer_and_a_chat_template_are_part_of_a_judge(make):
    found = [
        weights.describe(make(name or "plain", b"1234", beside=[name] if name else []), None)["weights"]
        for name in ("", "tokenizer.json", "chat_template.jinja")
    ]
    assert len(set(found)) == 3


def test_a_file_that_changes_has_another_state(make):
    folder = make("a", b"1234")
    before = weights.state(folder)
    assert weights.state(folder) == before
    path = weights.local_files(folder)[-1]
    os.utime(path, ns=(1, 1))
    assert weights.state(folder) != before


def test_a_model_of_one_file_is_known_by_its_content(tmp_path):
    path = tmp_path / "model.gguf"
    path.write_bytes(b"one")
    one = weights.describe(str(path), None)
    path.write_bytes(b"two")
    assert weights.describe(str(path), None) != one


def test_a_folder_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(InputError, match=r"^judge: model: .*nothing: no such folder or file, or it is empty$"):
        weights.describe(str(tmp_path / "nothing"), None)


def test_a_revision_is_the_commit_that_the_hub_has_on_that_day(monkeypatch):
    asked = []

    def model_info(self, model, *, revision, timeout):
        asked.append((model, revision))
        return huggingface_hub.hf_api.ModelInfo(id=model, sha=COMMIT[::-1] if revision else COMMIT)

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", model_info)
    assert weights.describe("org/model", None) == {"revision": COMMIT}
    assert weights.describe("org/model", "v2") == {"revision": COMMIT[::-1]}
    assert asked == [("org/model", None), ("org/model", "v2")]


def test_without_the_hub_the_commit_is_that_of_its_cache_or_has_to_be_named(monkeypatch, caplog):
    def model_info(self, model, **_):
        raise ConnectionError("no network\nhere")

    monkeypatch.setattr(huggingface_hub.HfApi, "model_info", model_info)
    monkeypatch.setattr(weights, "commit", lambda model, revision: COMMIT if model == "org/cached" else None)
    assert weights.describe("org/cached", None) == {"revision": COMMIT}
    assert f"taking commit {COMMIT} from its cache" in caplog.text
    with pytest.raises(InputError) as error:
        weights.describe("org/model", None)
    assert str(error.value) == (
        "judge: revision: which commit of org/model is the newest cannot be found, neither on the hub nor in its cache;"
        " name the commit (no network here)"
    )


def test_a_hub_that_cannot_be_reached_is_one_line(monkeypatch):
    """The error is the hub library's own: which HTTP library it comes from has changed before."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setattr(constants, "ENDPOINT", address)
    with pytest.raises(
        InputError, match=r"^judge: revision: which commit of org/model is the newest cannot be found, "
    ):
        weights.describe("org/model", None)
