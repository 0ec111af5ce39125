"""Turn the logs of a judge into a study: its prompts, with levels in other orders, and its recorded answers."""

import hashlib
import importlib.util
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd
import yaml
from pydantic import ValidationError

from rubric_order import datasets
from rubric_order.base import files
from rubric_order.base.errors import InputError
from rubric_order.base.keys import BASELINE
from rubric_order.base.readouts import Readout
from rubric_order.datasets.custom import Custom
from rubric_order.extras.logs.intake import levels, reading
from rubric_order.extras.logs.intake.calls import Asked, Call, Message
from rubric_order.extras.logs.intake.cutting import Cut, Piece, cut
from rubric_order.extras.logs.intake.levels import Rubric
from rubric_order.library.study import answered, planned_study
from rubric_order.parsing import one_score
from rubric_order.planning.reads import Design
from rubric_order.probes.score_order import ScoreOrder
from rubric_order.prompts import frames, messages, own
from rubric_order.settings import judges
from rubric_order.settings.judges import Endpoint

if TYPE_CHECKING:
    from rubric_order.judging import shard

STUDY, DATASET = "position_bias", "relogged"
ITEMS, CONFIG, RECORDED = "items.jsonl", "config.yaml", "recorded.jsonl"
TEMPLATE, MESSAGES = "prompt.jinja", "prompt.yaml"  # templates of one user's message, and of several messages
ADDRESSES = {"openai": ("https://api.openai.com/v1", "OPENAI_API_KEY")}  # provider: address, variable of the key
MADE = "# Written by rubric-order relog, "  # followed by a digest that shows edits
CUT_SHORT = "length"  # finish reason of an answer that is unfinished
RESULTS: Mapping[str, Sequence[str]] = {
    "figures": ("position_selection", "position_preference"),
    "tables": ("position_selection", "score_effects", "parse_failures"),
}


class Log(NamedTuple):
    """Calls of one judge in a log, and their possible rubrics, see `levels.rubrics`."""

    calls: list[Call]
    rubrics: list[Rubric]

    @property
    def certain(self) -> Rubric | None:
        """The rubric, if exactly one rubric is in all prompts; else None. The user has to confirm it nevertheless."""
        everywhere = [rubric for rubric in self.rubrics if rubric.prompts == len(self.calls)]
        return everywhere[0] if len(everywhere) == 1 else None


@dataclass(frozen=True)
class Written:
    """A study that was written from a log: `folder` with its files, judge, labels (lowest first), plan, requests.

    `answered` names requests that a recorded answer answers; `not_kept` and `left_out` count, by reason, calls that
    answer no request and calls that are no item. Of `scored` recorded answers, `agreeing` are read as their score in
    the log. `recorded`: ordering and score by item.
    """

    folder: Path
    judge_id: str
    judge: Endpoint
    labels: tuple[str, ...]
    reads: pd.DataFrame
    requests: pd.DataFrame
    answered: frozenset[str]
    not_kept: Counter[str]
    left_out: Counter[str]
    agreeing: int
    scored: int
    recorded: Mapping[str, tuple[tuple[int, ...], str]]
    text_is_named: bool


def look(paths: Sequence[str | Path], *, scorer: str | None = None, judge: str | None = None) -> Log:
    """Calls of one judge in some logs, and all their possible rubrics.

    `scorer` and `judge` choose where a log has several, see `reading.select_judge`.
    """
    calls = reading.select_judge(reading.read(paths), grader=scorer, judge=judge)
    rubrics = levels.rubrics(calls)
    if not rubrics:
        raise InputError(
            f"{calls[0].where}: no levels of a rubric in {len(calls)} prompts; expected lines such as 'Score 1: ...',"
            " '1 - ...' or '(A) ...', or options such as '\"C\" for ...'"
        )
    return Log(calls, rubrics)


def order_of(rubric: Rubric, order: str | None) -> tuple[str, ...]:
    """Labels of a rubric, the lowest level first: `order`, with commas, or (None) as the labels themselves show."""
    if order is not None:
        return tuple(label.strip() for label in order.split(","))
    labels = levels.lowest_first(rubric.form.labels)
    if labels is None:
        raise InputError(
            f"--order: the labels {', '.join(rubric.form.labels)} do not say which level is the lowest; expected them"
            " in order, the lowest first"
        )
    return labels


def write(
    log: Log,
    folder: str | Path,
    *,
    rubric: Rubric,
    order: Sequence[str],
    settings: Mapping[str, Any] | None = None,
    strategy: str = "balanced",
    limit: int | None = None,
) -> Written:
    """Write the study of a log: items, template, config, and recorded answers, also into the study's response store.

    A recorded answer is used for the request with the same prompt, byte for byte, which is not asked again. Writing the
    same log again changes nothing; an edited config in `folder` is refused. `settings` replace those of the judge in
    the log; `limit` is a number of samples.
    """
    where = Path(folder).absolute()
    calls, blocks = log.calls, rubric.blocks
    if limit is not None:
        samples = set(list(dict.fromkeys(call.sample for call in calls))[:limit])
        chosen = [place for place, call in enumerate(calls) if call.sample in samples]
        calls, blocks = [calls[place] for place in chosen], tuple(blocks[place] for place in chosen)
    parts = cut(calls, Rubric(rubric.form, blocks, rubric.wordings), order)
    item_names = _names(parts.pieces)
    judge_id = re.sub("[^a-z0-9]+", "_", calls[0].asked.model.lower()).strip("_") or "judge"
    block = _judge(calls[0].asked, parts, settings or {})
    judge = _checked(block)
    condition = _condition(parts.labels)
    design = Design((len(order),), (strategy,), conditions=(condition,))
    lowest = 0 if parts.labels[0] == "0" and condition == BASELINE else 1
    items = [
        _item(piece, name, candidate, lowest) for piece, (name, candidate) in zip(parts.pieces, item_names, strict=True)
    ]
    config = _config(log, judge_id, block, condition, len(order), strategy)
    _check_unedited(where / CONFIG)
    for name, text in {
        ITEMS: "".join(f"{json.dumps(item, ensure_ascii=False)}\n" for item in items),
        _template_name(parts): _template(parts),
        CONFIG: config,
        RECORDED: "".join(
            _recorded(piece, name, judge_id) for piece, (name, _) in zip(parts.pieces, item_names, strict=True)
        ),
    }.items():
        files.write_text(text, where / name)
    reads, requests = _planned(where, _template_name(parts), judge_id, judge, design)
    by_item = {name: piece for piece, (name, _) in zip(parts.pieces, item_names, strict=True)}
    answered, not_kept = _keep(requests, by_item, judge.system_prompt, where / "results/store" / judge_id)
    agreeing, scored = _agreement(parts)
    return Written(
        where,
        judge_id,
        judge,
        parts.labels,
        reads,
        requests,
        answered,
        not_kept,
        parts.left_out,
        agreeing,
        scored,
        {
            name: (piece.ordering, piece.call.score)
            for piece, (name, _) in zip(parts.pieces, item_names, strict=True)
            if piece.call.score is not None
        },
        parts.text_is_named,
    )


def _planned(
    folder: Path, template_name: str, judge_id: str, judge: Endpoint, design: Design
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Reads of the items in a folder, and the distinct requests with their prompts."""
    path = folder / template_name
    own.check(path, ScoreOrder.FIELDS, [partial(ScoreOrder().try_template, n=design.scales[0])])
    template = frames.load_template(path)
    tables = datasets.prepare(DATASET, Custom().read(folder / ITEMS))
    return planned_study(tables, template, design, judge, study=STUDY, judge_id=judge_id)


def ask(study: Written, watch: "shard.Watch | None" = None) -> pd.DataFrame:
    """Ask the judge the requests that the log does not answer, stored as they come; reads as `study` returns them."""
    if importlib.util.find_spec("openai") is None:
        raise InputError("package 'openai' is missing; expected pip install 'rubric-order[endpoint]'")
    folder = study.folder / "results/store" / study.judge_id
    return answered(study.reads, study.requests, study.judge, folder, len(study.labels), watch=watch)


def same_again(study: Written, reads: pd.DataFrame) -> tuple[int, int]:
    """Numbers of the log's scores that the judge gives again in the recorded ordering, and that it was asked for again.

    A read that the log answers was not asked again, and is not counted.
    """
    same = asked = 0
    places = {label: place for place, label in enumerate(study.labels, start=1)}
    for row in reads[~reads["request_id"].isin(study.answered)].itertuples():
        ordering, score = study.recorded.get(row.item, ((), ""))
        if tuple(row.ordering) == ordering and score in places and not pd.isna(row.score):
            asked += 1
            same += row.score == places[score]
    return same, asked


def _names(pieces: Sequence[Piece]) -> list[tuple[str, str]]:
    """Item and candidate of each prompt; samples and candidates that occur several times get numbers."""
    samples = Counter(piece.call.sample for piece in pieces)
    seen: Counter[str] = Counter()
    candidates: Counter[tuple[str, str]] = Counter()
    items = []
    for piece in pieces:
        sample, candidate = piece.call.sample, piece.call.candidate or "answer"
        seen[sample] += 1
        candidates[sample, candidate] += 1
        number = candidates[sample, candidate]
        item = f"{sample} {seen[sample]}" if samples[sample] > 1 else sample
        items.append((item, candidate if number == 1 else f"{candidate} {number}"))
    return items


def _item(piece: Piece, name: str, candidate: str, lowest: int) -> dict[str, Any]:
    """A row of adapter `custom`; `lowest` is the score of the lowest level."""
    texts = piece.texts
    return {
        "item_id": name,
        "group_id": piece.call.sample,
        "candidate": candidate,
        "instruction": texts.get("instruction") or piece.call.instruction or piece.call.sample,
        "response": texts["response"],
        **({"reference": texts["reference"]} if "reference" in texts else {}),
        "question": piece.call.grader,
        **{f"level_{level}": description for level, description in enumerate(piece.levels, start=lowest)},
    }


def _recorded(piece: Piece, name: str, judge_id: str) -> str:
    """A line of recorded answers in the general format; empty if the log keeps no answer."""
    if piece.call.answer is None:
        return ""
    record = {
        "item_id": name,
        "judge": judge_id,
        "ordering": list(piece.ordering),
        "response": piece.call.answer.text,
        "recorded_score": piece.call.score,
        "recorded_at": piece.call.where,
    }
    return f"{json.dumps(record, ensure_ascii=False)}\n"


def _judge(asked: Asked, made: Cut, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Block of config of the judge."""
    address, key = ADDRESSES.get(asked.provider, (None, None))
    chosen = {name: value for name, value in settings.items() if value is not None}
    base_url = chosen.pop("base_url", None) or asked.base_url or address
    if base_url is None:
        raise InputError(f"--base-url: the log does not say where {asked.name} is served; expected an address")
    if base_url == address and key is not None:
        chosen = {"api_key_env": key} | chosen
    body = json.loads(asked.extra_body)
    return {
        "engine": "openai",
        "base_url": base_url,
        "model": asked.model,
        **chosen,
        "template": _template_name(made),
        **({"system_prompt": made.system_prompt} if made.system_prompt is not None else {}),
        "answer_format": "feedback",
        "sampling": asked.sampling.model_dump(),
        **({"max_tokens_name": asked.max_tokens_name} if asked.max_tokens_name != "max_tokens" else {}),
        **({"extra_body": body} if body else {}),
    }


def _checked(block: Mapping[str, Any]) -> Endpoint:
    """The judge of a block."""
    try:
        judge = judges.read(block)
    except ValidationError as misfit:
        wrong = misfit.errors()[0]
        key = "/".join(map(str, wrong["loc"]))
        raise InputError(f"judge: {key}: {wrong['msg']}, found {wrong['input']!r:.80}") from None
    if problems := list(judge.problems()):
        raise InputError("\n".join(f"judge: {problem}" for problem in problems))
    if not isinstance(judge, Endpoint):
        raise InputError(f"judge: expected engine openai, found {judge.engine}")
    return judge


def _condition(labels: Sequence[str]) -> str:
    """Condition of prompts with these labels, lowest first."""
    usual = [[str(level) for level in range(lowest, lowest + len(labels))] for lowest in (0, 1)]
    return BASELINE if list(labels) in usual else f"ids({','.join(labels)})"


def _config(log: Log, judge_id: str, block: Mapping[str, Any], condition: str, n: int, strategy: str) -> str:
    """The study's config."""
    rows = {"n": n, **({"condition": condition} if condition != BASELINE else {}), "strategy": strategy}
    results = {
        "figures": {name: {**rows, "readouts": [str(Readout.HARD)]} for name in RESULTS["figures"]},
        "tables": {
            "position_selection": rows,
            **{name: {key: rows[key] for key in ("condition",) if key in rows} for name in RESULTS["tables"][1:]},
        },
    }
    study = {
        "datasets": [DATASET],
        "judges": [judge_id],
        "scales": [n],
        "strategies": [strategy],
        **({"conditions": [condition]} if condition != BASELINE else {}),
    }
    content = {
        "datasets": {DATASET: {"adapter": "custom", "files": {"items": {"path": ITEMS}}}},
        "judges": {judge_id: dict(block)},
        "studies": {STUDY: study},
        **results,
    }
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=120)
    return f"{MADE}{_digest(text)}\n# Run with Snakemake's --directory FOLDER, where this file lies.\n{text}"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _check_unedited(path: Path) -> None:
    """Refuse to write over a config that somebody changed."""
    if path.is_file():
        first, _, rest = files.read_text(path).partition("\n")
        if first != f"{MADE}{_digest(rest.partition(chr(10))[2])}":
            raise InputError(
                f"{path}: it was edited, and would be written over; expected another folder, or run it with Snakemake"
            )


def _template_name(made: Cut) -> str:
    return TEMPLATE if len(made.template) == 1 and made.template[0].role == "user" else MESSAGES


def _template(made: Cut) -> str:
    """Content of the file of a template."""
    if _template_name(made) == TEMPLATE:
        return made.template[0].text
    listed = [{"role": message.role, "content": message.text} for message in made.template]
    return yaml.dump(listed, Dumper=_Blocks, sort_keys=False, allow_unicode=True, width=120)


class _Blocks(yaml.SafeDumper):  # type: ignore[misc]  # of a package without types
    """Writer of YAML that shows texts of several lines as they are, where YAML can."""


_Blocks.add_representer(
    str,
    lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None),
)


def _keep(
    requests: pd.DataFrame, by_item: Mapping[str, Piece], system_prompt: str | None, folder: Path
) -> tuple[frozenset[str], Counter[str]]:
    """Write recorded answers into the response store, each for the request with the same prompt, byte for byte.

    Returns the requests that have a recorded answer, and by reason the number of calls that answer no request.
    """
    from rubric_order.judging.engines import Response
    from rubric_order.judging.store import Store

    store = Store(folder)
    free: dict[tuple[Message, ...], list[str]] = {}  # requests of each prompt, sorted by repeat
    for row in requests.sort_values("repeat", kind="stable").itertuples():
        prompt = tuple(Message(part["role"], part["content"]) for part in messages.chat(row.prompt, system_prompt))
        free.setdefault(prompt, []).append(row.request_id)
    responses: dict[str, Response] = {}
    not_kept: Counter[str] = Counter()
    for piece in by_item.values():
        call, answer = piece.call, piece.call.answer
        if answer is None:
            not_kept["the log keeps no answer"] += 1
        elif not (ids := free.get(call.messages, [])):
            not_kept["its prompt is none of the study's, byte for byte"] += 1
        else:
            request_id = ids.pop(0)
            responses[request_id] = Response(
                request_id,
                answer.text,
                finish_reason=answer.finish_reason,
                model=answer.model,
                prompt_tokens=answer.prompt_tokens,
                completion_tokens=answer.completion_tokens,
            )
    stored = set(store.read(list(responses), ["request_id"])["request_id"]) if folder.is_dir() else set()
    folder.mkdir(parents=True, exist_ok=True)
    new = [response for request_id, response in responses.items() if request_id not in stored]
    store.append(new, engine=json.dumps({"engine": "recorded"}, sort_keys=True))
    return frozenset(responses), not_kept


def _agreement(made: Cut) -> tuple[int, int]:
    """Number of recorded answers that are read as their score in the log, and number of answers with such a score."""
    agreeing = scored = 0
    for piece in made.pieces:
        answer, score = piece.call.answer, piece.call.score
        if answer is not None and score is not None:
            scored += 1
            choice = one_score.parse_score(answer.text, made.labels, truncated=answer.finish_reason == CUT_SHORT)
            agreeing += choice.label == score
    return agreeing, scored
