"""Generated answers of a judge that holds to no protocol, each with the scores that a reader may find in it.

    python tests/hostile_answers.py 100000

Answers of four kinds (text, decision, function, batch line) go the way of real ones: engine, store, parser, scores,
page of reads and exported table. A line gives, for each kind, how many were scored. Anything else is an error: a
traceback, or a score that was not planted.
"""

import contextlib
import dataclasses
import functools
import json
import math
import os
import random
import sys
import tempfile
import unicodedata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "workflow/scripts")]

import pandas as pd  # noqa: E402
from endpoint import completion  # noqa: E402
from factories import complete_judge  # noqa: E402

from rubric_order import datasets  # noqa: E402
from rubric_order.base import parquet  # noqa: E402
from rubric_order.datasets.rubrics import Rubric  # noqa: E402
from rubric_order.judging import batch_exchange, engines, shard  # noqa: E402
from rubric_order.judging.engines import Resources, delivery  # noqa: E402
from rubric_order.judging.engines.python import answers as of_functions  # noqa: E402
from rubric_order.judging.store import Store  # noqa: E402
from rubric_order.library.study import as_reads, planned_study  # noqa: E402
from rubric_order.pages import page  # noqa: E402
from rubric_order.pages import reads as pages  # noqa: E402
from rubric_order.planning import reads as planned  # noqa: E402
from rubric_order.prompts import frames  # noqa: E402
from rubric_order.prompts.structured import Structured  # noqa: E402
from rubric_order.scoring.scores import score_reads  # noqa: E402
from rubric_order.settings import judges  # noqa: E402

KINDS = ("text", "decision", "function", "batch line")
LEVELS = ["Rude.", "Cold.", "Correct.", "Friendly.", "Warm."]
KEY = "sk-secret-0123456789"
ABOUT = {"study": "s", "dataset": "texts", "judge": "j"}

# Values where JSON has a place for a value; none is a score.
VALUES = [
    *(None, True, False, [], {}, "", " ", "\x00", "\ud800", "x" * 5000, [[]], {"": {}}, -1, 1.5, 1e308),
    *(10**400, -(10**400), math.nan, math.inf, -math.inf, KEY, "<script>alert()</script>", "=cmd|' /C calc'!A"),
]
# Words around a score that name none: no digits, and no words for numbers.
NOISE = [
    *(
        "The text is polite. ",
        "\n",
        "\r\n",
        "\t",
        "**",
        "`",
        "```json\n",
        "```",
        "<think>",
        "</think>",
        "[RESULT]",
        "Score:",
    ),
    *(
        "Rating is ",
        '{"score": ',
        '"feedback": "',
        "}",
        "]",
        "[",
        "(",
        "/",
        "-",
        "—",
        "½",
        "…",
        "\u202e",
        "\x00",
        "\u0130",
    ),
    *(
        "[ſtyle] ",
        "[Fıt] ",
        "Overall ",
        "out of ",
        "not ",
        "N/A",
        "null",
        "NaN",
        "true",
        "=",
        "<b>",
        "&amp;",
        "\ufeff",
        "\ud83d",
    ),
]
FORMS = [
    "[RESULT] {}",
    "Score: {}",
    '{{"score": {}}}',
    "**Rating: {}**",
    "{}",
    "Final score: {}",
    "I give it a {}.",
    "({})",
]


class Quiet:
    """An object that cannot be shown."""

    def __repr__(self):
        raise ValueError("no words")

    __str__ = __repr__


class SilentError(Exception):
    """An exception whose message cannot be made."""

    def __str__(self):
        raise RuntimeError("no words")


def noise(draw, most=6):
    pieces = [draw.choice(NOISE) if draw.random() < 0.7 else stray(draw) for _ in range(draw.randrange(most))]
    return "".join(pieces)


def stray(draw):
    """A character that stands for no number, nor for a letter that could spell one."""
    while True:
        character = chr(draw.randrange(0x80, 0x10FFFF))
        plain = unicodedata.normalize("NFKC", character)
        if not any(part.isnumeric() or part.isascii() for part in plain):
            return character


def text_of(draw):
    """A text, and the scores that a reader may find in it."""
    kind = draw.random()
    if kind < 0.35:
        return noise(draw), set()
    if kind < 0.42:  # numbers off the scale
        return noise(draw) + draw.choice(FORMS).format(draw.choice(["7" * 5000, "6e400", "-6", "77", "6.6"])), set()
    labels = [draw.randrange(1, 6) for _ in range(1 if draw.random() < 0.8 else 2)]
    written = noise(draw, 3)
    for label in labels:
        digit = draw.choice([str(label), str(label), chr(0xFF10 + label), chr(0x660 + label)])
        written += draw.choice(FORMS).format(digit) + noise(draw, 3)
    return written, set(labels)


def body_of(draw):
    """The JSON of an answer in the chat completions protocol, and the scores in it."""
    text, scores = text_of(draw)
    body = completion(text, model="m")
    if draw.random() < 0.5:
        return body, scores
    message = body["choices"][0]["message"]
    places = [
        *((body, name) for name in ("choices", "model", "usage", "error")),
        *((body["choices"][0], name) for name in ("message", "finish_reason", "logprobs", "index")),
        *((message, name) for name in ("content", "refusal", "reasoning_content", "reasoning", "role")),
        *((body["usage"], name) for name in ("prompt_tokens", "completion_tokens", "prompt_tokens_details")),
    ]
    where, name = draw.choice(places)
    kind = draw.random()
    if kind < 0.2:
        where.pop(name, None)
    elif kind < 0.3 and name == "logprobs":
        entry = {"token": "4", "logprob": draw.choice(VALUES), "bytes": draw.choice([None, [52], [999], ["4"]])}
        where[name] = {"content": [{**entry, "top_logprobs": draw.choice([None, [], [entry], [draw.choice(VALUES)]])}]}
    elif kind < 0.4 and name == "content":
        where[name] = [{"type": draw.choice(["text", "thinking", "image"]), "text": draw.choice([text, *VALUES])}]
    else:
        where[name] = draw.choice(VALUES)
        if name == "error" and isinstance(where[name], dict):
            where[name] = {"code": draw.choice(VALUES), "message": draw.choice(VALUES)}
    return body, scores


def bytes_of(draw, body):
    """An answer as it comes over a network, some of them broken."""
    content = json.dumps(body, ensure_ascii=draw.random() < 0.7).encode("utf-8", "surrogatepass")
    kind = draw.random()
    if kind < 0.03:
        return content[: draw.randrange(len(content))]
    if kind < 0.04:
        return draw.choice(
            [b"", b"<html>", b"[]", b"null", b"data: {}", b'{"a":' * 100_000, b'{"a": ' + b"9" * 5000 + b"}"]
        )
    if kind < 0.06:  # another mark of JSON
        place = draw.choice([place for place, byte in enumerate(content) if byte in b'{}[]":,'])
        return content[:place] + draw.choice(b'{}[]":,').to_bytes(1, "big") + content[place + 1 :]
    return content


def decision_of(draw, prompt):
    """The JSON of a decision, and the score that it gives."""
    labels = [option.label for option in Structured.decode(prompt).options]
    best = draw.randrange(len(labels))
    shares = [0.6 if place == best else 0.1 for place in range(len(labels))]
    listed = [{"value": place, "probability": share} for place, share in enumerate(shares)]
    answer = {"type": "score", "probabilities": listed}
    body = {"model": "m", "answers": [answer], "usage": {"input_tokens": 9, "output_tokens": 1}}
    scores, kind = {int(labels[best])}, draw.random()
    if kind < 0.3:
        return body, scores
    if kind < 0.4:  # other ways to write the same
        answer["probabilities"] = draw.choice([shares, {str(place): share for place, share in enumerate(shares)}])
        return body, scores
    if kind < 0.7:
        entry = draw.choice(listed)
        entry[draw.choice(["value", "probability"])] = draw.choice([*VALUES, "9" * 5000, 10**4000])
        return body, set()
    if kind < 0.8:
        answer["probabilities"] = draw.choice(
            [*VALUES, listed[1:], listed + listed[:1], {"9" * 5000: 1.0}, {"0": 10**400}, [[]], shares[1:]]
        )
        return body, set()
    where, name = draw.choice([(body, "answers"), (answer, "type"), (body, "model"), (body, "usage")])
    where[name] = draw.choice([*VALUES, [dict(answer), dict(answer)], {"score": dict(answer)}])
    if name == "type" and where[name] is None:  # an answer need not name its type
        return body, scores
    return body, scores if name in ("usage", "model") else set()


def returned(draw):
    """A function that returns or raises what a user's function may, and the scores in it."""
    label, kind = draw.randrange(1, 6), draw.random()
    if kind < 0.2:
        text, scores = text_of(draw)
        return lambda: text, scores
    if kind < 0.35:
        answer = draw.choice([label, str(label), {"score": label}, of_functions.Answer(score=label)])
        return lambda: answer, {label}
    if kind < 0.5:
        shares = {k: draw.choice([0.2, *VALUES, Quiet(), 10**5000]) for k in range(1, 6)}
        return lambda: of_functions.Answer(score=label, probabilities=shares), {label}
    values = [
        *VALUES,
        Quiet(),
        10**5000,
        [Quiet()],
        {Quiet(): 4},
        {"text": Quiet()},
        {"score": 10**5000},
        b"4",
        4.0,
        object,
    ]
    if kind < 0.8:
        value = draw.choice(values)
        return lambda: value, set()
    if kind < 0.9:
        name = draw.choice(of_functions.FIELDS)
        value = {"score": label, name: draw.choice(values)} if name != "score" else {name: draw.choice(values)}
        return lambda: value, set() if name == "score" else {label}

    def fail():
        raise draw.choice([SilentError, ValueError, SystemExit, KeyError])(draw.choice(values))

    return fail, set()


def line_of(draw, name):
    """Lines of a file of results for one request, and the scores in them."""
    lines, scores = [], set()
    for _ in range(1 if draw.random() < 0.9 else 2):
        body, here = body_of(draw)
        response = {"status_code": 200, "request_id": "x", "body": body}
        entry = {"id": "x", "custom_id": name, "response": response, "error": None}
        if draw.random() < 0.3:
            where, key = draw.choice(
                [
                    (entry, "custom_id"),
                    (entry, "response"),
                    (entry, "error"),
                    (response, "status_code"),
                    (response, "body"),
                ]
            )
            where[key] = draw.choice([*VALUES, 500, 429, 10**10, {"code": 10**400, "message": KEY}])
        lines.append(bytes_of(draw, entry).replace(b"\n", b" "))
        scores |= here
    return b"\n".join(lines), scores


def plan(judge, number):
    """Reads of some texts in ten orderings each, and their requests."""
    rubric = Rubric("quality", "quality", "How good is it?", LEVELS)
    fields = {"candidate": "c", "instruction": "Write.", "rubric": rubric, "reference": None, "human_scores": [3]}
    tables = datasets.prepare(
        "texts",
        [
            datasets.Item(where="here", item_id=f"i{k}", group_id=f"g{k}", response=f"Text {k}.", **fields)
            for k in range(-(-number // 10))
        ],
    )
    template = frames.load_template(
        ROOT / f"resources/templates/{planned.probes.load('score_order').template(judge)}.jinja"
    )
    return planned_study(tables, template, planned.Design((5,), ("balanced",)), judge, study="s", judge_id="j")


@contextlib.contextmanager
def unending():
    """Let no failures end a job, and give the key."""
    before = delivery.MAX_REFUSED_IN_A_ROW, delivery.MAX_FAILED_IN_A_ROW
    delivery.MAX_REFUSED_IN_A_ROW = delivery.MAX_FAILED_IN_A_ROW = math.inf
    os.environ["HOSTILE_API_KEY"] = KEY
    try:
        yield
    finally:
        delivery.MAX_REFUSED_IN_A_ROW, delivery.MAX_FAILED_IN_A_ROW = before
        del os.environ["HOSTILE_API_KEY"]


def judge_of(kind):
    common = {"model": "m", "max_attempts": 1, "accept_failures": True, "concurrency": 64}
    at = {"base_url": "http://127.0.0.1:9/v1", "api_key_env": "HOSTILE_API_KEY"}
    if kind == "decision":
        return judges.read({"engine": "decisions", **common, **at})
    if kind == "function":
        return judges.read(
            {"engine": "python", "function": "a_module:judge", "version": "1", "takes": "prompt", **common}
        )
    return complete_judge(engine="openai", answer_format="score", answer_prefix="", **common, **at)


def engine_of(judge, bytes_for):
    """An engine whose endpoint answers each request with the bytes that a function makes."""
    engine = engines.load(judge)
    protocol = engine.calls.protocol
    prepare = protocol.prepare

    async def prepared(request):
        ready = await prepare(request)
        address, _, *others = ready.send.args
        return dataclasses.replace(ready, send=functools.partial(protocol.post, address, request, *others))

    async def post(address, request, *, limit):
        return protocol.connection._content(bytes_for(request))

    protocol.prepare, protocol.connection.post = prepared, post
    return engine


def answer_all(kind, number, seed, folder):
    """The judge, its reads, the responses to all requests, and the scores that a reader may find in each."""
    judge = judge_of(kind)
    reads, requests = plan(judge, number)
    store, allowed = Store(folder / "store"), {}

    def drawn(make, name, *about):
        """What is drawn for a request; the scores in it are remembered."""
        draw = random.Random(f"{kind} {seed} {name}")  # noqa: S311 - nothing secret
        value, allowed[name] = make(draw, *about)
        return draw, value

    if kind == "batch line":
        parquet.write(requests.drop(columns="probe"), folder / "requests.parquet")
        lines = [drawn(line_of, name, name)[1] for name in requests["request_id"]]
        (folder / "lines.jsonl").write_bytes(b"\n".join(lines))
        batch_exchange.read_in(folder / "requests.parquet", folder / "lines.jsonl", judge, store)
    elif kind == "function":
        names = dict(zip(requests["prompt"], requests["request_id"], strict=True))

        async def function(prompt):
            return drawn(returned, names[prompt])[1]()

        resources = Resources(function=function)
        shard.judge(requests, store, lambda: engines.load(judge, resources), accept_failures=True)
    else:

        def bytes_for(request):
            about = [request.prompt] if kind == "decision" else []
            return bytes_of(*drawn(decision_of if about else body_of, request.request_id, *about))

        shard.judge(requests, store, lambda: engine_of(judge, bytes_for), accept_failures=True)
    return judge, reads, store.read(requests["request_id"]), allowed


def check(kind, number, seed=0):
    """Numbers of answers, and of those that were scored. Raises AssertionError where a score was not planted."""
    with unending(), tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        judge, reads, responses, allowed = answer_all(kind, number, seed, folder)
        assert set(responses["request_id"]) <= set(reads["request_id"])
        form = (judge.dialect, judge.question) if kind == "decision" else None
        scores = score_reads(reads, responses, probe="score_order", form=form)
        table = as_reads(scores, responses, 5)
        table.to_csv(folder / "reads.csv", index=False)
        caps = pages.Caps(moved=20, failed=20, drawn=20, reads=20, characters=2000, seed=0)
        known = pages.columns([*scores.columns])
        choice = pages.choose(scores[[name for name in known if name in scores]], caps, ABOUT)
        prompts = pd.DataFrame({"request_id": scores["request_id"], "prompt": "A prompt."})
        content = pages.content(choice, prompts=prompts, responses=responses, raters={}, caps=caps, about=ABOUT)
        script = page.script(content)
        assert "<script" not in script
        exported = pd.read_csv(folder / "reads.csv", dtype={"score": "Int64"}, lineterminator="\n")
        assert len(exported) == len(table)
        for row in scores[scores["score"].notna()].itertuples():
            assert int(row.score) in allowed[row.request_id], (row.request_id, row.score, allowed[row.request_id])
        assert scores["score"].isna().equals(scores["failure"].notna())
        assert exported["score"].tolist() == scores["score"].astype("Int64").tolist()
        written = [*responses["text"].dropna(), *responses["error"].dropna(), *responses["model"].dropna(), script]
        assert not any(KEY in text for text in written)
        return len(scores), int(scores["score"].notna().sum())


def main() -> None:
    number, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    for kind in sys.argv[3:] or KINDS:
        answers, scored = check(kind, number, seed)
        print(f"{kind:12} {answers:7,} answers, {scored:7,} scored, each as planted", flush=True)


if __name__ == "__main__":
    main()
