"""What judging will take, told before it begins: requests, tokens, what a prefix cache saves, hours and money.

Tokens are counted in a sample: the prompts about one dataset are alike, so that the tokens a character are known from
some of them, and so is the share that the prefix cache saves. The sample is whole stretches of neighbouring requests,
since neighbours are what shares a prefix.
"""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rubric_order.base.keys import EVERY
from rubric_order.base.text_columns import is_among
from rubric_order.config import judges
from rubric_order.judging import chat, prefix_cache
from rubric_order.judging.store import Store, asked_again

SAMPLE = 240  # prompts of one study and dataset whose tokens are counted
STRETCHES = 8  # of neighbouring requests, from which they are taken
CHARACTERS = 4  # a token, where the judge's tokenizer is not at hand
LEAST_SECONDS = 1.0  # of judging, below which nothing is said about how fast a judge is

Encode = Callable[[str, str], Sequence]  # prompt and profile to tokens


def judge_costs(
    judge: Mapping,
    requests: Mapping[str, Path],
    reads: Mapping[str, int],
    store: Store,
    *,
    encode: Encode | None,
) -> pd.DataFrame:
    """What one judge still has to do.

    Args:
        judge: the judge's settings.
        requests: the file of the judge's requests of each study.
        reads: how many reads each study plans.
        store: of the judge.
        encode: the judge's tokens of a prompt under a profile; None to reckon with `CHARACTERS` a token.

    Returns:
        One row a study, and one of all together: `reads`, `requests` (distinct, and of no earlier study), `answered` in
        the store, `to_ask`; for what is to ask `prompt_tokens`, of which `cached_tokens` need no computing, and
        `output_tokens`; `hours` of one job, `gpu_hours`, `cost`, and `cost_cached`, which counts on the cache. Null
        where nothing is known. `prompt_tokens_from` is "tokenizer" or "characters"; `output_tokens_from` is "answers"
        (the mean of those in the store) or "max_tokens" (the most that it can be); `tokens_per_second` is what a job
        computes, from earlier jobs or config.
    """
    known = store.read(columns=["error", "completion_tokens"])
    again = asked_again(known["error"], retry_failed=judge["retry_failed"])
    answered = known["request_id"][~again]
    keys = {
        study: pq.read_table(path, columns=["request_id", "profile", "dataset"]).to_pandas()
        for study, path in requests.items()
    }
    lengths = output_lengths(keys.values(), known[known["error"].isna()])
    rows = []
    for study, table in keys.items():
        asked = np.flatnonzero(~is_among(table["request_id"], answered))
        prompt, cached = prompt_tokens(requests[study], judge, encode, table, asked)
        output, source = output_tokens(judge, table["profile"].iloc[asked].value_counts(), lengths)
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
            }
        )
    table = pd.DataFrame(rows)
    sources = table["output_tokens_from"][table["to_ask"] > 0]
    whole = {
        "study": EVERY,
        **table.drop(columns=["study", "output_tokens_from"]).sum().to_dict(),
        "output_tokens_from": "max_tokens" if "max_tokens" in set(sources) else "answers",
    }
    table = pd.concat([table, pd.DataFrame([whole])], ignore_index=True)
    table["prompt_tokens_from"] = "characters" if encode is None else "tokenizer"
    return _with_prices(table, judge, throughput(judge, store))


def _with_prices(table: pd.DataFrame, judge: Mapping, speed: float | None) -> pd.DataFrame:
    """The same with hours and money."""
    computed = table["prompt_tokens"] - table["cached_tokens"] + table["output_tokens"]
    hours = (computed / (speed or np.nan) / 3600).where(computed > 0, 0.0)
    table = table.assign(
        tokens_per_second=speed or np.nan, hours=hours, gpu_hours=hours * judge["gpu"] if judge["gpu"] else 0.0
    )
    counts = ["reads", "requests", "answered", "to_ask", "prompt_tokens", "cached_tokens", "output_tokens"]
    table = table.astype(dict.fromkeys(counts, "Int64"))
    prices = judge.get("prices")
    cost = cost_cached = pd.Series(np.nan, table.index)
    if prices:
        cost = table["prompt_tokens"] * prices["prompt"] + table["output_tokens"] * prices["completion"]
        saved = table["cached_tokens"] * (prices["prompt"] - prices.get("cached", prices["prompt"]))
        cost, cost_cached = cost / 1e6, (cost - saved) / 1e6
    currency = prices.get("currency", "USD") if prices else ""
    return table.assign(cost=cost, cost_cached=cost_cached, currency=currency)


def throughput(judge: Mapping, store: Store) -> float | None:
    """Tokens a second that one job computes: prompts less what is cached, and answers.

    As config says, or as the runs that have left a note in the store computed them, model loading apart.
    """
    if judge.get("throughput"):
        return judge["throughput"]
    runs = store.runs()
    seconds = sum(run["seconds"] for run in runs)
    tokens = sum(run["prompt_tokens"] - run["cached_tokens"] + run["completion_tokens"] for run in runs)
    return tokens / seconds if seconds >= LEAST_SECONDS and tokens else None


def output_lengths(keys: Iterable[pd.DataFrame], answers: pd.DataFrame) -> pd.Series:
    """Mean tokens of the answers that are known, by profile."""
    profiles = pd.concat([table[["request_id", "profile"]] for table in keys])
    return profiles.merge(answers, on="request_id").groupby("profile")["completion_tokens"].mean().dropna()


def output_tokens(judge: Mapping, asked: pd.Series, lengths: pd.Series) -> tuple[float, str]:
    """Tokens of the answers to so many requests of each profile, and what says so."""
    total, source = 0.0, "answers"
    for profile, number in asked.items():
        if profile in lengths:
            total += number * lengths[profile]
        else:
            most = judges.with_profile(judge, profile)["sampling"]["max_tokens"]
            total, source = total + number * (np.nan if most is None else most), "max_tokens"
    return total, source


def prompt_tokens(
    path: Path,
    judge: Mapping,
    encode: Encode | None,
    keys: pd.DataFrame | None = None,
    asked: np.ndarray | None = None,
) -> tuple[float, float]:
    """Tokens of prompts, and how many of them the judge's prefix cache is expected to hold.

    Args:
        path: file of requests.
        judge: the judge's settings.
        encode: see `judge_costs`.
        keys: `profile` and `dataset` of the requests, where they have been read.
        asked: numbers of the rows that are asked, in order; by default all.
    """
    keys = pq.read_table(path, columns=["profile", "dataset"]).to_pandas() if keys is None else keys
    asked = np.arange(len(keys)) if asked is None else asked
    encode, cache = encode or functools.partial(pieces, judge), prefix_cache.of_judge(judge)
    datasets, names = pd.factorize(keys["dataset"].to_numpy()[asked])
    stretches = [(code, rows) for code in range(len(names)) for rows in sample(asked[datasets == code])]
    wanted = np.unique(np.concatenate([rows for _, rows in stretches])) if stretches else asked
    characters, texts = _read_prompts(path, asked, datasets, wanted)
    profiles = keys["profile"].to_numpy()
    counted = np.zeros((len(names), 3))  # characters, tokens, cached tokens
    begun: set[int] = set()
    for code, rows in stretches:
        for place, row in enumerate(rows.tolist()):
            tokens = encode(texts[row], profiles[row])
            cached = cache.ask(tokens) if cache else 0
            # The first row of a later stretch stands for what came before it: it fills the cache and does not count.
            if place or code not in begun:
                counted[code] += len(texts[row]), len(tokens), cached
        begun.add(code)
    tokens = characters * counted[:, 1] / np.maximum(counted[:, 0], 1)
    return float(tokens.sum()), float((tokens * counted[:, 2] / np.maximum(counted[:, 1], 1)).sum())


def sample(rows: np.ndarray) -> list[np.ndarray]:
    """Stretches of neighbouring rows, evenly spread, or all rows where they are few."""
    if len(rows) <= SAMPLE:
        return [rows] if len(rows) else []
    length = SAMPLE // STRETCHES + 1
    starts = np.linspace(0, len(rows) - length, STRETCHES).astype(int)
    return [rows[start : start + length] for start in starts]


def _read_prompts(
    path: Path, asked: np.ndarray, datasets: np.ndarray, wanted: np.ndarray
) -> tuple[np.ndarray, dict[int, str]]:
    """Characters of all prompts that are asked, by dataset, and the text of the wanted ones by row."""
    characters = np.zeros(datasets.max(initial=-1) + 1)
    texts: dict[int, str] = {}
    first = 0
    for batch in pq.ParquetFile(path).iter_batches(8192, columns=["prompt"]) if len(asked) else ():
        prompts, end = batch.column(0), first + len(batch)
        inside = slice(*np.searchsorted(asked, [first, end]))
        lengths = pc.utf8_length(prompts).to_numpy()[asked[inside] - first]
        characters += np.bincount(datasets[inside], weights=lengths, minlength=len(characters))
        for row in wanted[slice(*np.searchsorted(wanted, [first, end]))].tolist():
            texts[row] = prompts[row - first].as_py()
        first = end
    return characters, texts


def encoder(judge: Mapping, converted: Path) -> Encode | None:
    """The judge's tokens of a prompt, where its tokenizer is on this machine."""
    tokenizer = chat.local_tokenizer(judge, converted)
    if tokenizer is None:
        return None
    settings = functools.cache(functools.partial(judges.with_profile, judge))
    return lambda prompt, profile: chat.encode(tokenizer, settings(profile), prompt)


def pieces(judge: Mapping, prompt: str, profile: str) -> list[str]:
    """Stand-ins for tokens: what stands before the prompt, and the prompt in pieces of `CHARACTERS`.

    What a chat template writes is not known; it is taken for one token, another one under each profile.
    """
    settings = judges.with_profile(judge, profile)
    text = f"{settings.get('system_prompt') or ''}{prompt}"
    starts = range(0, len(text), CHARACTERS)
    return [str(settings["chat_template_kwargs"]), *(text[start : start + CHARACTERS] for start in starts)]
