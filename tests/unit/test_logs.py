"""Logs of other programs: calls of a judge, levels in its prompts, and templates with the rubric cut out.

The logs in `tests/data/logs` were written by Inspect 0.3.285 (see `make_inspect_logs.py` there) and promptfoo 0.123.1.
"""

import contextlib
import json
import os
import re
import zipfile

import numpy as np
import pytest
from factories import ROOT

from rubric_order.base.errors import InputError
from rubric_order.extras.logs.intake import cutting, levels, reading
from rubric_order.extras.logs.intake.calls import Answer, Asked, Call, Message
from rubric_order.prompts import frames, messages

LOGS = ROOT / "tests/data/logs"
RUBRIC = "Score 1: Bad.\nScore 2: Fair.\nScore 3: Good."


def call(prompt, *, system=None, **others):
    messages = [*([Message("system", system)] if system else []), Message("user", prompt)]
    return Call(
        **{"where": "log", "sample": prompt, "grader": "judge", "messages": tuple(messages)} | others, asked=Asked("m")
    )


def chat(*parts):
    """A call whose prompt has these messages."""
    one = call("")
    object.__setattr__(one, "messages", tuple(Message(*part) for part in parts))
    return one


def batch_lines(path, *, answers=True, **body):
    """Two requests of a batch, and their answers in another file."""
    requests, responses = [], []
    for name in ("a", "b"):
        prompt = f"Rate the reply.\n\nReply: {name} {name}\n\n{RUBRIC}\n"
        asked = {"model": "m-1", "messages": [{"role": "user", "content": prompt}], "max_completion_tokens": 64, **body}
        requests.append({"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": asked})
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "[RESULT] 2"}}
        usage = {"prompt_tokens": 30, "completion_tokens": 4, "total_tokens": 34}
        answer = {"status_code": 200, "body": {"model": "m-1-2026", "choices": [choice], "usage": usage}}
        responses.append({"id": f"batch_{name}", "custom_id": name, "response": answer})
    for file, lines in (("in.jsonl", requests), ("out.jsonl", responses if answers else [])):
        (path / file).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return [path / "in.jsonl", *([path / "out.jsonl"] if answers else [])]


def test_a_log_of_inspect_gives_prompt_answer_score_and_settings_of_the_call():
    calls = reading.read([LOGS / "rubric.eval"])
    assert [one.sample for one in calls] == ["q0", "q1", "q2", "q3"]
    first = calls[0]
    assert first.where == f"{LOGS / 'rubric.eval'}: sample 'q0', epoch 1, scorer 'model_graded_qa'"
    assert [message.role for message in first.messages] == ["user"]
    assert "[Task]: What is {{ 2 + 2 }}?\n" in first.messages[0].text
    assert first.answer == Answer("So so.\n\nGRADE: 5", "stop", "judge", 90, 5)
    assert [one.score for one in calls] == ["5", "4", "1", "3"]
    assert (first.text, first.instruction, first.reference) == (
        "It is four.\n1. Add.\n2. Done.",
        "What is {{ 2 + 2 }}?",
        "4",
    )
    assert (first.asked.name, first.candidate) == ("mockllm/judge", "mockllm/answers")
    sampling = first.asked.sampling
    assert (sampling.temperature, sampling.max_tokens, sampling.top_p, sampling.seed) == (0, 100, None, None)


def test_a_log_of_inspect_is_the_same_whatever_packs_it(tmp_path):
    """As files that are deflated, which older versions write, and as one file of JSON."""
    samples = []
    with zipfile.ZipFile(tmp_path / "deflated.eval", "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in unpacked(LOGS / "rubric.eval").items():
            packed.writestr(name, content)
            samples += [json.loads(content)] if name.startswith("samples/") else []
    header = json.loads(unpacked(LOGS / "rubric.eval")["header.json"])
    (tmp_path / "log.json").write_text(json.dumps(header | {"samples": samples}))
    calls = reading.read([LOGS / "rubric.eval"])
    for name in ("deflated.eval", "log.json"):
        other = reading.read([tmp_path / name])
        assert [(one.messages, one.answer, one.asked) for one in other] == [
            (one.messages, one.answer, one.asked) for one in calls
        ]


def unpacked(path):
    """Members of an .eval file, in JSON."""
    from rubric_order.extras.logs.intake import inspect_logs

    with zipfile.ZipFile(path) as archive:
        assert {info.compress_type for info in archive.infolist()} == {93}
        return {info.filename: inspect_logs._unpacked(path, info).decode() for info in archive.infolist()}


def test_results_of_promptfoo_give_messages_score_and_the_judge_s_address():
    calls = reading.read([LOGS / "promptfoo.json"])
    assert len(calls) == 3
    assert [message.role for message in calls[0].messages] == ["system", "user"]
    assert calls[0].messages[0].text == "You rate replies of a support team."
    assert calls[0].text in calls[0].messages[1].text
    assert {(one.grader, one.score, one.answer) for one in calls} == {("politeness", "4", None)}
    assert calls[0].asked.base_url == "http://127.0.0.1:8799/v1"
    assert (calls[0].asked.model, calls[0].asked.provider) == ("judge-1", "openai")
    assert (calls[0].asked.sampling.temperature, calls[0].asked.sampling.max_tokens) == (0, 300)


def test_lines_of_a_batch_are_joined_with_their_answers(tmp_path):
    calls = reading.read(batch_lines(tmp_path, reasoning_effort="low", n=1))
    assert [one.sample for one in calls] == ["a", "b"]
    assert calls[0].answer == Answer("[RESULT] 2", "stop", "m-1-2026", 30, 4)
    assert (calls[0].asked.model, calls[0].asked.max_tokens_name) == ("m-1", "max_completion_tokens")
    assert calls[0].asked.sampling.max_tokens == 64
    assert json.loads(calls[0].asked.extra_body) == {"reasoning_effort": "low"}


@pytest.mark.parametrize(
    "line",
    [
        {
            "id": "a",
            "model": "m",
            "messages": [{"role": "user", "content": RUBRIC}, {"role": "assistant", "content": "2"}],
        },
        {"id": "a", "request": {"model": "m", "messages": [{"role": "user", "content": RUBRIC}]}, "response": "2"},
        {
            "id": "a",
            "model": "m",
            "messages": [{"role": "user", "content": [{"type": "text", "text": RUBRIC}]}],
            "output": "2",
        },
    ],
)
def test_other_lines_of_chat_completions_are_read(tmp_path, line):
    (tmp_path / "log.jsonl").write_text(json.dumps(line))
    (one,) = reading.read([tmp_path / "log.jsonl"])
    assert (one.sample, one.messages, one.asked.model) == ("a", (Message("user", RUBRIC),), "m")
    assert one.answer is not None
    assert one.answer.text == "2"


def test_what_a_judge_thinks_is_no_part_of_its_answer(tmp_path):
    answer = [{"type": "reasoning", "reasoning": "Score 3?"}, {"type": "text", "text": "Score: 2"}]
    messages = [{"role": "developer", "content": "s"}, {"role": "user", "content": RUBRIC}]
    line = {"model": "m", "messages": [*messages, {"role": "assistant", "content": answer}]}
    (tmp_path / "log.jsonl").write_text(json.dumps(line))
    (one,) = reading.read([tmp_path / "log.jsonl"])
    assert one.messages == (Message("system", "s"), Message("user", RUBRIC))
    assert one.answer == Answer("Score: 2")


def test_requests_of_a_batch_that_failed_have_no_answer(tmp_path):
    paths = batch_lines(tmp_path)
    first, _ = paths[1].read_text().splitlines()
    failed = {"id": "x", "custom_id": "b", "response": None, "error": {"code": "expired", "message": "too late"}}
    paths[1].write_text(f"{first}\n{json.dumps(failed)}\n")
    assert [one.answer is None for one in reading.read(paths)] == [False, True]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "log.jsonl",
            '{"model": "m", "messages": [{"role": "user", "content": "x\\ud800"}]}',
            "line 1: field 'messages/1/content': expected text, found half of a surrogate pair at offset 1",
        ),
        ("log.json", "{", "log.json: line 1, column 2: malformed JSON"),
        ("log.json", '{"a": 1}', "log.json: expected a log of Inspect"),
        ("log.jsonl", '{"a": 1}', "log.jsonl: line 1: expected messages, or a body with messages, or a response"),
        (
            "log.jsonl",
            '{"custom_id": "a", "response": {"body": {"choices": []}}}',
            "found an answer without its request",
        ),
        (
            "log.jsonl",
            '{"messages": [{"role": "user", "content": "x"}]}',
            "line 1: field 'model': expected the judge's",
        ),
        (
            "log.jsonl",
            '{"messages": [{"content": "x"}]}',
            "line 1: field 'messages': message 1: expected role and content",
        ),
        (
            "log.jsonl",
            '{"model": "m", "messages": [{"role": "user", "content": [{"type": "image_url"}]}]}',
            "line 1: field 'messages/1/content': part 1: expected text, found 'image_url'",
        ),
        (
            "log.jsonl",
            '{"body": {"model": "m", "temperature": -1, "messages": [{"role": "user", "content": "x"}]}}',
            "line 1: field 'body/temperature': Input should be greater than or equal to 0, found -1",
        ),
        (
            "log.json",
            '{"results": {"results": [{"gradingResult": {}}]}}',
            "log.json: no score keeps its judge's prompt",
        ),
        (
            "log.json",
            '{"eval": {}, "samples": [{"id": 7, "scores": {"s": {"metadata": {"grading": '
            '[{"role": "user", "content": 5}]}}}}]}',
            "log.json: sample 7, epoch 1: field 'scores/s/metadata/grading/1/content': expected a list, found 5",
        ),
        ("gone.json", None, "gone.json: no such file"),
    ],
)
def test_what_cannot_be_read_is_one_line_with_file_sample_field_and_what_was_expected(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=re.escape(message)) as error:
        reading.read([tmp_path / name])
    assert "\n" not in str(error.value)


def deflated(path, members):
    """Write members into a zip file as older versions of Inspect did."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return path.read_bytes()


def flags(content, change):
    """A zip file whose headers, local and central, are changed: of each the offset of its flags."""
    content = bytearray(content)
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = content.find(signature)
        while place >= 0:
            change(content, place + offset)
            place = content.find(signature, place + 4)
    return bytes(content)


def encrypted(content, place):
    content[place] |= 1


def newer(content, place):
    content[place - 2 : place] = (99).to_bytes(2, "little")


def unknown(content, place):
    content[place + 2 : place + 4] = (98).to_bytes(2, "little")


def refusal(path):
    with pytest.raises(InputError, match=re.escape(str(path))) as error:
        reading.read([path])
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("packed", ["zstandard", "deflated"])
def test_a_damaged_archive_is_one_line(tmp_path, packed):
    content = (LOGS / "rubric.eval").read_bytes()
    if packed == "deflated":
        content = deflated(tmp_path / "whole.eval", unpacked(LOGS / "rubric.eval"))
    rng = np.random.default_rng(2)
    path, refused = tmp_path / "log.eval", 0
    half = len(content) // 2
    damaged = [content[:half] + bytes(400) + content[half + 400 :], content[:half]]
    for _ in range(60):
        place = rng.integers(len(content) - 40)
        damaged.append(content[:place] + rng.bytes(rng.choice([1, 4, 30])) + content[place + 30 :])
    for changed in damaged:
        path.write_bytes(changed)
        with contextlib.suppress(InputError):  # where a byte of no importance was hit, the log is as it was
            reading.read([path])
            continue
        refused += bool(refusal(path))
    assert refused > 50


@pytest.mark.parametrize(
    ("change", "message"),
    [(encrypted, "it is encrypted"), (newer, "cannot be read as an .eval file"), (unknown, "cannot be read as an")],
)
def test_an_archive_that_python_does_not_unpack_is_one_line(tmp_path, change, message):
    content = deflated(tmp_path / "whole.eval", unpacked(LOGS / "rubric.eval"))
    (tmp_path / "log.eval").write_bytes(flags(content, change))
    assert message in refusal(tmp_path / "log.eval")


def test_a_log_is_opened_once_whatever_the_number_of_samples(tmp_path, monkeypatch):
    members = unpacked(LOGS / "rubric.eval")
    (name, sample), *_ = [(name, text) for name, text in members.items() if name.startswith("samples/")]
    deflated(tmp_path / "log.eval", members | {name.replace("q0", f"q{k}"): sample for k in range(100, 150)})
    opened = []
    monkeypatch.setattr(
        zipfile.ZipFile,
        "_RealGetContents",
        lambda archive, read=zipfile.ZipFile._RealGetContents: (opened.append(1), read(archive)),
    )
    assert len(reading.read([tmp_path / "log.eval"])) == 54
    assert len(opened) == 1


def test_a_log_that_would_fill_the_memory_is_one_line(tmp_path):
    deflated(tmp_path / "log.eval", unpacked(LOGS / "rubric.eval") | {"samples/q9_epoch_1.json": " " * (70 << 20)})
    assert (tmp_path / "log.eval").stat().st_size < 100_000
    assert re.search("expected at most 67,108,864 bytes when unpacked, found 73,4", refusal(tmp_path / "log.eval"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are of POSIX")
@pytest.mark.parametrize("name", ["log.json", "log.jsonl", "log.eval"])
def test_a_pipe_is_refused_before_it_is_opened(tmp_path, name, monkeypatch):
    from rubric_order.extras.logs import promptfoo

    os.mkfifo(tmp_path / name)
    monkeypatch.setattr("builtins.open", lambda *_, **__: pytest.fail("a pipe was opened, which waits without an end"))
    for read in (promptfoo.has_reads, lambda path: reading.read([path])):
        with pytest.raises(InputError, match="expected a file, found a folder or a pipe"):
            read(tmp_path / name)


def test_one_judge_is_chosen_by_name_and_its_settings_are_the_same_in_all_calls():
    calls = [
        call("x", grader="tone"),
        call("y", grader="facts"),
    ]
    with pytest.raises(
        InputError, match=re.escape("--scorer: the log has several; expected one of tone (1), facts (1)")
    ):
        reading.select_judge(calls)
    with pytest.raises(InputError, match="found 'fact'; did you mean 'facts'"):
        reading.select_judge(calls, grader="fact")
    assert reading.select_judge(calls, grader="facts") == calls[1:]
    other = call("z")
    object.__setattr__(other, "asked", Asked("m", extra_body='{"reasoning_effort": "low"}'))
    with pytest.raises(InputError, match=r"field 'extra_body': expected \{\}, as at log; found .*low"):
        reading.select_judge([call("x"), other])


@pytest.mark.parametrize(
    ("text", "before", "after", "expected"),
    [
        (f"Rate.\n{RUBRIC}\nGo.", "Score ", ": ", {"1": "Bad.", "2": "Fair.", "3": "Good."}),
        ("1 - Bad\n2 - Good", "", " - ", {"1": "Bad", "2": "Good"}),
        ("- 5: Good\n- 4: Fair\n- 3: Bad", "- ", ": ", {"5": "Good", "4": "Fair", "3": "Bad"}),
        ("(A) Good\n(B) Bad", "(", ") ", {"A": "Good", "B": "Bad"}),
        ("* **Score 1**: bad\n* **Score 2**: good", "* **Score ", "**: ", {"1": "bad", "2": "good"}),
        ("1 point: bad\n2 points: good", "", " ", {"1": "point: bad", "2": "points: good"}),
        ("2: b\n3: c\n1: a", "", ": ", {"2": "b", "3": "c", "1": "a"}),
        ("0: none\n1: some", "", ": ", {"0": "none", "1": "some"}),
        ('{\n  "1": "bad",\n  "2": "good"\n}', '  "', '": "', {"1": "bad", "2": "good"}),
        (
            "Score 1:\n  It is\n  bad.\nScore 2:\n  It is\n  good.\n\nGo.",
            "Score ",
            ":\n  ",
            {"1": "It is bad.", "2": "It is good."},
        ),
        ("1: bad\n\n2: good\n\nGo: now.", "", ": ", {"1": "bad", "2": "good"}),
        (
            'Choose: either "C" for correct answers, "P" for partially correct answers,or "I" for incorrect answers.',
            '"',
            '" for ',
            {"C": "correct answers", "P": "partially correct answers", "I": "incorrect answers"},
        ),
    ],
)
def test_levels_are_found_in_the_forms_in_which_rubrics_are_written(text, before, after, expected):
    (block,) = levels.find(text)
    assert (block.before, block.after) == (before, after)
    assert {level.label: level.description for level in block.levels} == expected
    assert block.labels == tuple(expected)


@pytest.mark.parametrize("text", ["Q: why?\nA: so.", "1.5: x\n2.5: y", "1: alone", "3: x\n7: y\n8: z", "A: x\nA: y"])
def test_what_is_no_scale_is_no_rubric(text):
    assert levels.find(text) == []


def test_a_rubric_is_found_in_all_prompts_and_lists_of_the_judged_text_are_not():
    calls = [call(f"Reply:\n{text}\n{RUBRIC}", text=text) for text in ("1. So.\n2. No.", "1. Yes.\n2. Well.")]
    (rubric,) = levels.rubrics(calls)
    assert rubric.prompts == 2
    assert rubric.wordings == {("Bad.", "Fair.", "Good."): 2}
    # Where the log does not tell the text from the prompt, its lists are shown too.
    assert len(levels.rubrics([call(one.messages[0].text) for one in calls])) == 2


def test_labels_say_which_level_is_lowest_or_nobody_does():
    assert levels.lowest_first(("10", "2", "9")) == ("2", "9", "10")
    assert levels.lowest_first(("C", "I", "P")) == ("I", "P", "C")
    assert levels.lowest_first(("A", "B")) is None


def cut_of(calls, order=None):
    rubric = levels.rubrics(calls)[0]
    return cutting.cut(calls, rubric, order or levels.lowest_first(rubric.form.labels))


def filled(made, piece):
    """The messages that a template gives for a recorded ordering."""
    texts = {"instruction": "", "reference": None} | dict(piece.texts)
    lines = frames.option_lines(piece.levels, piece.ordering, made.labels)
    template = frames.compile_template(messages.compose(made.template))
    prompt = frames.frame(template, n=len(lines), parts=True, question="", **texts).fill(lines)
    return tuple(Message(**part) for part in renamed(messages.chat(prompt, made.system_prompt)))


def renamed(chat):
    return [{"role": part["role"], "text": part["content"]} for part in chat]


@pytest.mark.parametrize("name", ["rubric.eval", "grades.eval", "promptfoo.json"])
def test_a_template_filled_in_the_recorded_order_is_the_recorded_prompt(name):
    made = cut_of(reading.read([LOGS / name]))
    assert made.text_is_named
    assert len(made.pieces) == {"rubric.eval": 4, "grades.eval": 8, "promptfoo.json": 3}[name]
    for piece in made.pieces:
        assert filled(made, piece) == piece.call.messages
    assert {piece.ordering for piece in made.pieces} == {(3, 2, 1) if name == "grades.eval" else (1, 2, 3, 4, 5)}


@pytest.mark.parametrize(
    "text",
    [
        'Reply: {text}\n\n{rubric}\n\nAnswer: {{"score": 1}} {{% if %}} {{{{ x }}}} {{# no #}}\n',
        "{rubric}\nReply: {text}\n\n",
        "{text}\n{rubric}\n",
        "{text}\n{rubric}",
        "{{{text}}}\n  {rubric}",
        'Choose "A" for good, or "B" for bad, of {text}:\n{rubric}',
        "{text}\n\n{rubric}\n{text}",
    ],
)
def test_any_prompt_is_written_back_byte_for_byte(text):
    texts = ("what {{ 7*7 }} is", "whose cat\n\nsat", "{% raw %}")
    calls = [call(text.format(text=one, rubric=RUBRIC)) for one in texts]
    made = cut_of(calls)
    assert not made.text_is_named
    assert [filled(made, piece) for piece in made.pieces] == [one.messages for one in calls]


def test_levels_may_differ_from_prompt_to_prompt():
    rubrics = [f"1: no {word}\n2: some {word}" for word in ("wit", "art")]
    made = cut_of([call(f"{rubric}\n\nText: {k} {k}", text=f"{k} {k}") for k, rubric in enumerate(rubrics)])
    assert [piece.levels for piece in made.pieces] == [("no wit", "some wit"), ("no art", "some art")]
    assert made.template[0].text.startswith(
        "{% for option in options %}\n{{ option.label }}: {{ option.description }}\n"
    )


@pytest.mark.parametrize(
    "shape",
    [
        [("system", f"Rate it.\n{RUBRIC}\n"), ("user", "Reply: TEXT TEXT")],
        [("system", "You rate {{ x }}."), ("user", f"{RUBRIC}\n\nReply: TEXT")],
        [("system", "You rate TEXT."), ("user", f"TEXT: {RUBRIC}")],
        [("user", RUBRIC), ("assistant", "Go on.\n"), ("user", "TEXT\n")],
        [("user", "Reply: one"), ("assistant", "Score: 2"), ("user", f"Reply: TEXT\n{RUBRIC}\n\n")],
    ],
)
def test_levels_may_stand_in_any_message(shape):
    texts = ("first {% if %}", "another\n\none")
    calls = [chat(*((role, text.replace("TEXT", one)) for role, text in shape)) for one in texts]
    made = cut_of(calls)
    assert [filled(made, piece) for piece in made.pieces] == [one.messages for one in calls]
    assert made.system_prompt is None
    assert [message.role for message in made.template] == [role for role, _ in shape]


def test_a_system_message_that_is_always_the_same_is_the_judge_s():
    made = cut_of([call(f"{RUBRIC}\n{text}", system="Be fair.") for text in ("one", "another")])
    assert made.system_prompt == "Be fair."
    assert [message.role for message in made.template] == ["user"]


def test_calls_that_are_no_item_are_counted_with_the_reason():
    calls = [call(f"{RUBRIC}\n{text}") for text in ("one text", "another text", "one text")]
    calls.append(call("no rubric"))
    made = cut_of(calls)
    assert [piece.call for piece in made.pieces] == calls[:2]
    assert made.left_out == {"its prompt is that of an earlier call": 1, "it has no such levels, or two of them": 1}


@pytest.mark.parametrize(
    ("calls", "message"),
    [
        ([call(RUBRIC)], "log: the prompts of the log do not differ; expected at least two judged texts"),
        (
            [chat(("user", RUBRIC), ("assistant", text)) for text in "xy"],
            "log: found messages user, assistant; expected those of the user and the assistant, perhaps after a system",
        ),
        (
            [chat(("system", f"a {k}"), ("user", f"b {k}"), ("assistant", f"c {k}"), ("user", RUBRIC)) for k in "xy"],
            "log: 3 parts of the prompts differ, between messages and around the levels; expected at most two",
        ),
    ],
)
def test_prompts_that_cannot_be_a_template_are_one_line(calls, message):
    with pytest.raises(InputError, match=re.escape(message)):
        cut_of(calls)


def test_an_order_of_other_labels_is_one_line():
    with pytest.raises(InputError, match=re.escape("--order: expected 1, 2, 3 in another order, found 1, 2")):
        cut_of([call(f"{RUBRIC} x"), call(f"{RUBRIC} y")], ("1", "2"))


def test_more_levels_than_the_project_has_are_one_line():
    many = "\n".join(f"{k}: level {k}" for k in range(1, 13))
    with pytest.raises(InputError, match="log: expected at most 11 levels, found 12"):
        cut_of([call(f"{many} x"), call(f"{many} y")])
