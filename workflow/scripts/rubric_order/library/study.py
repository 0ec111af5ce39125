"""A study of a function that judges, planned, asked and parsed as in the workflow, but in the caller's process."""

import inspect
import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from jinja2 import Template
from pydantic import ValidationError

from rubric_order import datasets
from rubric_order.base import files
from rubric_order.base.errors import InputError, nearest
from rubric_order.datasets import Item
from rubric_order.datasets.rubrics import MAX_LEVELS, Rubric, check_levels
from rubric_order.library import probe, prompts
from rubric_order.planning.reads import Design, plan_reads
from rubric_order.planning.requests import distinct_requests, render_requests, units_asked
from rubric_order.prompts import messages, orderings
from rubric_order.scoring.scores import RESPONSES, score_reads
from rubric_order.settings.judges.judge import Judge
from rubric_order.settings.judges.python_functions import PythonCallable

if TYPE_CHECKING:
    from rubric_order.judging import shard

PROBE = "score_order"
REQUIRED, OPTIONAL = ("item", "text"), ("group", "instruction", "reference", "human_score")
OF_RUBRICS = ("rubric", "rubric_id", "criterion")  # fields of an item that name its rubric; a study here has one rubric

Function: TypeAlias = Callable[[Any], Any]
Items: TypeAlias = pd.DataFrame | Iterable[Mapping[str, Any]]


def study(
    judge: Function | str,
    items: Items,
    *,
    rubric: Mapping[str, Any] | str | Path,
    folder: str | Path,
    instruction: str | None = None,
    strategy: str = "balanced",
    budget: int | None = None,
    seed: int = 0,
    answer_format: Literal["feedback", "score"] = "feedback",
    template: str | Path | prompts.Messages | None = None,
    name: str = "judge",
    dataset: str = "items",
    accept_failures: bool = False,
    **settings: Any,
) -> pd.DataFrame:
    """Ask a function for the score of each item in several orderings of the rubric's levels.

    Answers are kept in `folder` as they come. After an interruption, a further call asks the missing requests only. The
    requests are the same as in the workflow for the same items, rubric, function and settings of the judge (such as
    ``model``). So the study and the workflow can use each other's answers.

    Args:
        judge: a function of one argument, or its name as ``module:name``. It takes the prompt as text, or the messages
            if its first parameter is called ``messages``. It returns text, a score, or an `Answer`, and may be async.
        items: one row per item, as a table or as records: ``item``, ``text`` and ``instruction``. These fields are read
            too if they are known: ``group`` (the same for items that are not independent; by default each item is a
            group), ``reference`` and ``human_score``.
        rubric: ``question`` and ``levels`` (descriptions of scores 1 to n), or a YAML file with them. All items are
            scored by this rubric. With several criteria, call `study` once for each.
        folder: the judge's response store; it is made if it is missing.
        instruction: instruction that the texts answer, for items without an instruction of their own.
        strategy, budget, seed: orderings of each item, see `orderings`.
        answer_format: whether the prompt asks for ``feedback`` and then a score, or for a ``score`` alone.
        template: a prompt of your own, see `render`.
        name: name of the judge in the reads.
        dataset: name of the items; the orderings of strategy ``random`` depend on it.
        accept_failures: True to take temporary failures as final, so that these reads have no score.
        settings: further settings of a judge of ``engine: python``, such as ``version``, ``model``, ``concurrency``,
            ``transient``, ``requests_per_minute``, ``max_attempts``, ``timeout``, ``retry_failed``, which asks failed
            requests again, and ``accept_unread``, which asks on if no score can be read from the first 20 answers.

    Returns:
        One row per read, as `bias_card` and ``rubric-order audit`` take it: ``item``, ``group``, ``judge``,
        ``ordering`` (a list), ``score``, ``human_score``, and ``p_1`` to ``p_n`` if the function gives probabilities.
        Further columns are ``failure`` (why there is no score), ``error`` (the message of a request that failed),
        ``answer`` (the text of the answer) and ``request_id``.

    Raises:
        InputError: an item, the rubric or a setting cannot be used; requests failed for temporary reasons; or ten
            requests in a row failed for a permanent reason.
    """
    folder, function = Path(folder).absolute(), judge if callable(judge) else None
    settled = _judge(judge, answer_format, {**settings, "accept_failures": accept_failures})
    settled, function = _settle_function(settled, function)
    tables = datasets.prepare(dataset, _items(items, _rubric(rubric), instruction))
    levels = tables.rubrics["levels"].iloc[0]
    if strategy not in orderings.STRATEGIES:
        listed = ", ".join(orderings.STRATEGIES)
        raise InputError(
            f"strategy: expected one of {listed}, found {strategy!r:.60}{nearest(strategy, orderings.STRATEGIES)}"
        )
    of_messages = template is not None and (not isinstance(template, str | Path) or messages.is_file(template))
    if of_messages and settled.takes == "prompt":
        raise InputError("template: the function takes a prompt, found messages; expected takes='messages'")
    source = prompts.load(answer_format if template is None else template)
    design = Design((len(levels),), (strategy,), budget=budget, seed=seed)
    reads, requests = planned_study(tables, source, design, settled, study="study", judge_id=name)
    return answered(reads, requests, settled, folder, len(levels), function=function)


def planned_study(
    tables: datasets.Tables, template: Template, design: Design, judge: Judge, *, study: str, judge_id: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Reads of items, and the distinct requests with their prompts, all in memory."""
    texts = tables.items, tables.rubrics, tables.pairs
    names = {"study": study, "judge_id": judge_id, "probe": PROBE}
    reads = plan_reads(*texts, judge=judge, template=template, design=design, **names)
    requests = distinct_requests(reads, owned_elsewhere=())
    units = units_asked(requests, *texts, template, probe=PROBE)
    return reads, render_requests(requests, units).assign(probe=PROBE)


def answered(
    reads: pd.DataFrame,
    requests: pd.DataFrame,
    judge: Judge,
    folder: Path,
    n: int,
    *,
    function: Function | None = None,
    watch: "shard.Watch | None" = None,
) -> pd.DataFrame:
    """Reads as a plain table, see `score_tables.as_scores`, after requests that the store in `folder` does not answer
    are asked.
    """
    from rubric_order.judging import jobs
    from rubric_order.judging.engines import Resources
    from rubric_order.judging.progress import progress
    from rubric_order.judging.store import Store

    folder.mkdir(parents=True, exist_ok=True)
    responses = jobs.respond(requests, judge, Store(folder), Resources(function=function), watch=watch or progress)
    return as_reads(score_reads(reads, responses[RESPONSES[:-1]], probe=PROBE), responses, n)


def _judge(judge: Function | str, answer_format: str, settings: Mapping[str, Any]) -> PythonCallable:
    name = judge if isinstance(judge, str) else _name(judge)
    try:
        entry = PythonCallable.model_validate(
            {"engine": "python", "function": name, "answer_format": answer_format, **settings}
        )
    except ValidationError as misfit:
        wrong = misfit.errors()[0]
        key = "/".join(map(str, wrong["loc"]))
        hint = nearest(key, list(PythonCallable.model_fields)) if wrong["type"] == "extra_forbidden" else ""
        raise InputError(f"{key}: {wrong['msg']}, found {wrong['input']!r:.80}{hint}") from None
    problems = [
        problem for problem in entry.problems() if isinstance(judge, str) or not problem.startswith("function:")
    ]
    if problems:
        raise InputError("\n".join(problems))
    return entry


def _name(function: Function) -> str:
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{getattr(named, '__module__', None) or '__main__'}:{named.__qualname__}"


def _settle_function(judge: PythonCallable, function: Function | None) -> tuple[PythonCallable, Function]:
    """The judge with its function's version and kind of prompt, and the function, which takes one argument.

    Without a version, the source of its module must define it completely.
    """
    from rubric_order.judging.engines.python import functions

    if function is None:
        function = functions.find(judge)
        return _checked(functions.resolved(judge, function)), function
    functions.takes(function, judge.function)
    versioned = judge.version is not None or isinstance(getattr(function, "__version__", None), str | int | float)
    if not versioned and not _is_of_module(function):
        raise InputError(
            f"version: {judge.function!r} is not known by the source of its module, as a function of a module is;"
            " expected a version"
        )
    settled = functions.resolved(judge, function)
    if not versioned and not functions.is_as_written(function):
        raise InputError(
            f"version: {judge.function!r}: its code is not what the file of its module says: the file has changed since"
            " it was imported, or it is rewritten on import; import it anew, or give a version"
        )
    return _checked(settled), function


def _checked(judge: PythonCallable) -> PythonCallable:
    if problems := [problem for problem in judge.problems() if not problem.startswith("function:")]:
        raise InputError("\n".join(problems))
    return judge


def _is_of_module(function: Function) -> bool:
    """True for a function that can be found in its module by its name."""
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    try:
        return (
            inspect.isfunction(inspect.unwrap(function))
            and operator.attrgetter(function.__qualname__)(module) is function
        )
    except AttributeError:
        return False


def _rubric(rubric: Mapping[str, Any] | str | Path) -> Rubric:
    """The rubric of all items, from a mapping or a file."""
    if isinstance(rubric, Mapping):
        if set(rubric) != {"question", "levels"}:
            raise InputError(f"rubric: expected question and levels, found {', '.join(map(str, rubric)) or 'nothing'}")
        question, levels = rubric["question"], rubric["levels"]
    elif not isinstance(rubric, str | Path):
        raise InputError(f"rubric: expected a mapping with question and levels, or a file, found {rubric!r:.60}")
    else:
        question, levels, lowest = probe.read_rubric(rubric)
        levels = dict(enumerate(levels, start=lowest))
    if isinstance(levels, Sequence) and not isinstance(levels, str):
        levels = dict(enumerate(levels, start=1))
    if isinstance(levels, Mapping) and len(levels) > MAX_LEVELS:
        raise InputError(f"rubric: expected at most {MAX_LEVELS} levels, found {len(levels)}")
    if isinstance(levels, Mapping) and 0 in levels:
        raise InputError("rubric: levels: expected levels from 1 on, found level 0; a study of a config takes it")
    return Rubric("overall", "overall", question, check_levels(levels, "rubric: levels"))


def _items(items: Items, rubric: Rubric, instruction: str | None) -> Iterator[Item]:
    """Items of a table or of records; errors name row (from 1) and field."""
    records = items.to_dict("records") if isinstance(items, pd.DataFrame) else list(items)
    if not records:
        raise InputError("items: no rows")
    for name in OF_RUBRICS:
        values = {str(row[name]) for row in records if isinstance(row, Mapping) and not _is_missing(row.get(name))}
        if len(values) > 1:
            raise InputError(
                f"items: field {name!r}: expected one rubric for all items, found {files.listed(sorted(values))}; call"
                " study once for each"
            )
    for number, record in enumerate(records, start=1):
        where = f"items: row {number}"
        if not isinstance(record, Mapping):
            raise InputError(f"{where}: expected a mapping, found {record!r:.60}")
        row = {key: value for key, value in record.items() if not _is_missing(value)}
        for key in row:
            close = nearest(key, [*REQUIRED, *OPTIONAL])
            if key not in (*REQUIRED, *OPTIONAL, *OF_RUBRICS) and close:
                raise InputError(
                    f"{where}: field {key!r:.60} is not known; expected {', '.join((*REQUIRED, *OPTIONAL))}{close}"
                )
        for key in REQUIRED:
            if key not in row:
                raise InputError(f"{where}: field {key!r} is missing; found {', '.join(map(str, row)) or 'nothing'}")
        answered = row.get("instruction", instruction)
        if answered is None:
            raise InputError(f"{where}: field 'instruction' is missing; expected it, or instruction=... for all items")
        item = str(row["item"])
        yield Item(
            where=where,
            item_id=item,
            group_id=str(row.get("group", item)),
            candidate=item,
            instruction=answered,
            response=row["text"],
            rubric=rubric,
            reference=row.get("reference"),
            human_scores=[] if "human_score" not in row else [_number(row["human_score"])],
        )


def _is_missing(value: object) -> bool:
    return value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value))


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def as_reads(scores: pd.DataFrame, responses: pd.DataFrame, n: int) -> pd.DataFrame:
    """Scores as a plain table of reads, see `score_tables.as_scores`."""
    answers = responses.set_index("request_id")[["text", "error"]].reindex(scores["request_id"]).set_index(scores.index)
    table = pd.DataFrame(
        {
            "item": scores["item_id"],
            "group": scores["group_id"],
            "judge": scores["judge"],
            "ordering": [list(map(int, ordering)) for ordering in scores["ordering"]],
            "score": scores["score"],
            "human_score": scores["human_score"],
        }
    )
    shares = scores["position_probabilities"]
    if shares.notna().any():
        by_score = [_score_shares(row, order, n) for row, order in zip(shares, table["ordering"], strict=True)]
        table[[f"p_{score}" for score in range(1, n + 1)]] = np.array(by_score)
    return table.assign(
        failure=scores["failure"], error=answers["error"], answer=answers["text"], request_id=scores["request_id"]
    )


def _score_shares(shares: Sequence[float] | None, ordering: Sequence[int], n: int) -> np.ndarray:
    by_score = np.full(n, np.nan)
    if shares is not None:
        by_score[np.array(ordering) - 1] = np.array(shares)
    return by_score
