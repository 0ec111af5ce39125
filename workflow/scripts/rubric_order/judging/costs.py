"""Cost of judging, estimated before it begins, from a sample of each dataset's prompts: their tokens per character and
the share that a prefix cache saves. The sample is runs of neighbouring requests, since neighbours share prefixes.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rubric_order.base.keys import EVERY
from rubric_order.base.text_columns import is_among
from rubric_order.contracts.reads import REQUESTS
from rubric_order.judging import chat, decision_questions, prefix_cache, speed
from rubric_order.judging.store import Store, asked_again
from rubric_order.parsing.decisions import Form
from rubric_order.settings.judges.decisions import Decisions
from rubric_order.settings.judges.judge import Judge

SAMPLE_PROMPTS = 240  # prompts of one study and dataset whose tokens are counted
SAMPLE_STRETCHES = 8  # runs of neighbouring requests that make up a sample
NORMAL = 1.96  # standard normal quantile for the 95% intervals of money
CHARACTERS_PER_TOKEN = 4  # assumed where the judge's tokenizer is not on this machine

Encode = Callable[[str, str], Sequence[object]]  # prompt and profile to tokens


def planned_reads(plans: Path, studies: Mapping[str, Sequence[str]], judge: str) -> dict[str, int]:
    """Number of planned reads of each study."""
    return {
        study: sum(pq.read_metadata(plans / study / dataset / f"{judge}.parquet").num_rows for dataset in datasets)
        for study, datasets in studies.items()
    }


def judge_costs(
    judge: Judge,
    requests: Mapping[str, Path],
    reads: Mapping[str, int],
    store: Store,
    *,
    encode: Encode | None,
) -> pd.DataFrame:
    """Cost of one judge's requests that have no answer yet, one row per study and one for all.

    Args:
        requests: file of each study's requests; `reads`: planned reads of each study.
        encode: tokens of a prompt under a profile; None counts `CHARACTERS_PER_TOKEN` characters as one.

    Returns:
        `requests` (that no earlier study sends), of these `answered` (or failed for good) and `to_ask`, to which all
        that follows refers: tokens with their source, `hours` of one job, `gpu_hours`, `cost` at full price,
        `cost_cached` with the cache as estimated and its writes, and 95% intervals (`_low`, `_high`) from the variation
        of earlier answers. Null where not known.
    """
    keys = {study: REQUESTS.read(path, columns=["profile", "dataset"]) for study, path in requests.items()}
    left, answers = {}, []
    for study, path in requests.items():
        left[study], lengths_of_study = _unanswered(path, keys[study], store, judge.retry_failed)
        answers += lengths_of_study
    of_prompts, of_outputs = (
        _lengths(answers, "prompt_tokens", "dataset"),
        _lengths(answers, "output_tokens", "profile"),
    )
    lengths = of_outputs["mean"]
    rows = []
    for study, table in keys.items():
        asked = left[study]
        prompt, cached = prompt_tokens(requests[study], judge, encode, table, asked)
        by_dataset, by_profile = (table[name].iloc[asked].value_counts() for name in ("dataset", "profile"))
        output, source = output_tokens(judge, by_profile, lengths)
        counted = encode is None and by_dataset.index.isin(of_prompts.index).all()
        if counted and len(asked):
            counted_tokens = (by_dataset * of_prompts["mean"].reindex(by_dataset.index)).sum()
            prompt, cached = float(counted_tokens), cached * float(counted_tokens) / max(prompt, 1.0)
        rows.append(
            {
                "study": study,
                "reads": reads[study],
                "requests": len(table),
                "answered": len(table) - len(asked),
                "to_ask": len(asked),
                "prompt_tokens": np.round(prompt),
                "cached_tokens": np.round(cached),
                "output_tokens": np.round(output),
                "output_tokens_from": source,
                "prompt_tokens_from": "tokenizer" if encode else "answers" if counted else "characters",
                "prompt_variance": _variance(by_dataset, of_prompts) if counted else 0.0,
                "output_variance": _variance(by_profile, of_outputs),
            }
        )
    return _add_prices(_add_sum(pd.DataFrame(rows)), judge, speed.judge_speed(judge, store))


def _add_sum(table: pd.DataFrame) -> pd.DataFrame:
    sources = table["output_tokens_from"][table["to_ask"] > 0]
    counts = table.drop(columns=["study", "output_tokens_from", "prompt_tokens_from"])
    counted_by = set(table["prompt_tokens_from"][table["to_ask"] > 0]) or set(table["prompt_tokens_from"])
    whole = {
        "study": EVERY,
        **counts.sum(skipna=False).to_dict(),  # a sum is unknown if one study's value is unknown
        "output_tokens_from": "max_tokens" if "max_tokens" in set(sources) else "answers",
        "prompt_tokens_from": next(name for name in ("characters", "answers", "tokenizer") if name in counted_by),
    }
    return pd.concat([table, pd.DataFrame([whole])], ignore_index=True)


def _add_prices(table: pd.DataFrame, judge: Judge, pace: speed.Speed | None) -> pd.DataFrame:
    """Add hours and money, and drop the variances, which only intervals need."""
    computed = table["prompt_tokens"] - table["cached_tokens"] + table["output_tokens"]
    pace = pace or speed.Speed()
    seconds = table["to_ask"] / pace.requests if np.isnan(pace.tokens) else computed / pace.tokens
    hours = (seconds / 3600).where(computed.isna() | (computed > 0), 0.0)
    of_prompts, of_outputs = table["prompt_variance"], table["output_variance"]
    table = table.drop(columns=["prompt_variance", "output_variance"]).assign(
        tokens_per_second=pace.tokens,
        hours=hours,
        hours_low=hours * pace.low,
        hours_high=hours * pace.high,
        gpu_hours=hours * judge.gpu if judge.gpu else 0.0,
    )
    counts = ["reads", "requests", "answered", "to_ask", "prompt_tokens", "cached_tokens", "output_tokens"]
    table = table.astype(dict.fromkeys(counts, "Int64"))
    prices = judge.capabilities.prices
    cost = cost_cached = pd.Series(np.nan, table.index)
    if prices:
        cost = table["prompt_tokens"] * prices.prompt + table["output_tokens"] * prices.completion
        saved = table["cached_tokens"] * (0.0 if prices.cached is None else prices.prompt - prices.cached)
        extra = 0.0 if prices.cache_write is None else prices.cache_write - prices.prompt
        written = (table["prompt_tokens"] - table["cached_tokens"]) * extra
        error = np.sqrt(prices.prompt**2 * of_prompts + prices.completion**2 * of_outputs)
        cost, cost_cached, reach = cost / 1e6, (cost - saved + written) / 1e6, NORMAL * error / 1e6
        counted = (table["output_tokens_from"] == "answers") & (table["prompt_tokens_from"] != "characters")
        table = table.assign(
            cost_low=(cost - reach).clip(lower=0).where(counted), cost_high=(cost + reach).where(counted)
        )
    currency = (prices.currency or "USD") if prices else ""
    ends = {name: table.get(name, np.nan) for name in ("cost_low", "cost_high")}
    return table.assign(cost=cost, **ends, cost_cached=cost_cached, currency=currency)


def _unanswered(
    path: Path, keys: pd.DataFrame, store: Store, retry_failed: bool
) -> tuple[np.ndarray, list[pd.DataFrame]]:
    """Indices of a file's requests to ask, and tables of the tokens of stored answers, see `_sums`."""
    asked, answers, first = [np.array([], int)], [], 0
    stored_ids = pq.read_table(path, columns=["request_id"])["request_id"]
    for ids, stored in store.each(stored_ids, ["prompt_tokens", "completion_tokens"]):
        again = asked_again(stored["error"], retry_failed=retry_failed)
        asked.append(first + np.flatnonzero(~is_among(ids, stored["request_id"][~again])))
        good = stored[stored["error"].isna()]
        place = pd.Series(np.arange(first, first + len(ids)), ids.to_numpy()).reindex(good["request_id"]).to_numpy()
        tokens = {"prompt_tokens": good["prompt_tokens"], "output_tokens": good["completion_tokens"]}
        table = pd.DataFrame({name: values.to_numpy(dtype=float, na_value=np.nan) for name, values in tokens.items()})
        for key in ("dataset", "profile"):
            table[key] = keys[key].to_numpy()[place]
        answers.append(_sums(table))
        first += len(ids)
    return np.concatenate(asked), answers


def _sums(tokens: pd.DataFrame) -> pd.DataFrame:
    long = tokens.melt(["dataset", "profile"], var_name="tokens", value_name="sum").dropna(subset="sum")
    parts = long.assign(count=1, squares=long["sum"] ** 2)
    return parts.groupby(["tokens", "dataset", "profile"], as_index=False)[["count", "sum", "squares"]].sum()


def _lengths(answers: Sequence[pd.DataFrame], tokens: str, by: str) -> pd.DataFrame:
    """`count`, `mean` and `variance` of the tokens of answers for each value of column `by`, from tables of `_sums`."""
    columns = ["tokens", by, "count", "sum", "squares"]
    parts = pd.concat([part[columns] for part in answers] or [pd.DataFrame(columns=columns)])
    whole = parts[parts["tokens"] == tokens].groupby(by)[["count", "sum", "squares"]].sum().astype(float)
    mean = whole["sum"] / whole["count"]
    variance = (whole["squares"] - whole["count"] * mean**2).clip(lower=0) / (whole["count"] - 1).where(
        whole["count"] > 1
    )
    return pd.DataFrame({"count": whole["count"], "mean": mean, "variance": variance})


def _variance(asked: pd.Series, lengths: pd.DataFrame) -> float:
    of = lengths.reindex(asked.index)
    return float((asked**2 * of["variance"] / of["count"] + asked * of["variance"]).sum())


def output_tokens(judge: Judge, asked: pd.Series, lengths: pd.Series) -> tuple[float, str]:
    """Tokens of all answers (NaN if a profile has neither a mean nor a limit), and their source.

    Args:
        asked: requests by profile.
        lengths: mean tokens of an answer by profile, where known.
    """
    total, source = 0.0, "answers"
    if not judge.capabilities.writes:
        return total, source
    for profile, number in asked.items():
        if profile in lengths:
            total += number * lengths[profile]
        else:
            most = judge.under(profile).sampling.max_tokens
            total, source = total + number * (np.nan if most is None else most), "max_tokens"
    return total, source


def prompt_tokens(
    path: Path,
    judge: Judge,
    encode: Encode | None,
    keys: pd.DataFrame | None = None,
    asked: np.ndarray | None = None,
) -> tuple[float, float]:
    """Expected tokens of the prompts of rows `asked`, and how many of them come from the prefix cache."""
    keys = REQUESTS.read(path, columns=["profile", "dataset"]) if keys is None else keys
    asked = np.arange(len(keys)) if asked is None else asked
    encode, cache = encode or functools.partial(pieces, judge), prefix_cache.judge_cache(judge)
    datasets, dataset_names = pd.factorize(keys["dataset"].to_numpy()[asked])
    stretches = [(code, rows) for code in range(len(dataset_names)) for rows in sample(asked[datasets == code])]
    wanted = np.unique(np.concatenate([rows for _, rows in stretches])) if stretches else asked
    characters, texts = _read_prompts(path, asked, datasets, wanted)
    profiles = keys["profile"].to_numpy()
    counted = np.zeros((len(dataset_names), 3))  # characters, tokens, cached tokens
    begun: set[int] = set()
    for code, rows in stretches:
        for place, row in enumerate(rows.tolist()):
            tokens = encode(texts[row], profiles[row])
            cached = cache.ask(tokens) if cache else 0
            # In every run of a dataset's rows but the first run, the first row is not counted. It only fills the cache,
            # in place of the rows that were skipped before the run.
            if place or code not in begun:
                counted[code] += len(texts[row]), len(tokens), cached
        begun.add(code)
    tokens = characters * counted[:, 1] / np.maximum(counted[:, 0], 1)
    return float(tokens.sum()), float((tokens * counted[:, 2] / np.maximum(counted[:, 1], 1)).sum())


def sample(rows: np.ndarray) -> list[np.ndarray]:
    if len(rows) <= SAMPLE_PROMPTS:
        return [rows] if len(rows) else []
    length = SAMPLE_PROMPTS // SAMPLE_STRETCHES + 1
    starts = np.linspace(0, len(rows) - length, SAMPLE_STRETCHES).astype(int)
    return [rows[start : start + length] for start in starts]


def _read_prompts(
    path: Path, asked: np.ndarray, datasets: np.ndarray, wanted: np.ndarray
) -> tuple[np.ndarray, dict[int, str]]:
    """Characters of each dataset's prompts to ask, and texts of the `wanted` rows."""
    characters = np.zeros(datasets.max(initial=-1) + 1)
    texts: dict[int, str] = {}
    first = 0
    for batch in pq.ParquetFile(path).iter_batches(8192, columns=["prompt"]) if len(asked) else ():
        prompts, end = batch.column(0), first + len(batch)
        inside = slice(asked.searchsorted(first), asked.searchsorted(end))
        lengths = pc.utf8_length(prompts).to_numpy()[asked[inside] - first]
        characters += np.bincount(datasets[inside], weights=lengths, minlength=len(characters))
        for row in wanted[wanted.searchsorted(first) : wanted.searchsorted(end)].tolist():
            texts[row] = prompts[row - first].as_py()
        first = end
    return characters, texts


def encoder(judge: Judge, converted: Path) -> Encode | None:
    tokenizer = chat.local_tokenizer(judge, converted)
    if tokenizer is None:
        return None
    under = functools.cache(judge.under)
    return lambda prompt, profile: chat.encode(tokenizer, under(profile), prompt)


def pieces(judge: Judge, prompt: str, profile: str) -> list[str]:
    """Estimated tokens of a prompt, system message included. What the chat template adds is not known: one token, which
    differs between profiles with different arguments of the template.
    """
    variant = judge.under(profile)
    if isinstance(judge, Decisions):
        prompt = decision_questions.sent(prompt, Form(judge.dialect, judge.question))
    text = f"{variant.system_prompt or ''}{prompt}"
    starts = range(0, len(text), CHARACTERS_PER_TOKEN)
    return [str(variant.chat_template_kwargs), *(text[start : start + CHARACTERS_PER_TOKEN] for start in starts)]
