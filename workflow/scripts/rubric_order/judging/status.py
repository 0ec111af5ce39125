"""Progress of the judges, read from the files of requests and the response stores."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from rubric_order.base.keys import EVERY
from rubric_order.base.text_columns import is_among
from rubric_order.judging import versions
from rubric_order.judging.store import Store, may_pass

TOKEN_COLUMNS = ["prompt_tokens", "completion_tokens", "cached_tokens"]


def judge_status(requests: Mapping[str, Path | Sequence[Path]], store: Store) -> pd.DataFrame:
    """Progress of one judge.

    Args:
        requests: file of the judge's requests, by study, or several files; a file need not exist yet. Of several, those
            count that are there: what making reference answers asks is known step by step.
        store: the judge's response store.

    Returns:
        One row a study, and one row for all studies together. Null where requests are not collected yet.

        - `requests`; of these `done` (answered), `failed_passing` (failed for a reason that may pass),
          `failed_for_good` and `missing`.
        - Of the answered requests: `prompt_tokens`, `completion_tokens` and `cached_tokens`.
        - `cost`. In the row for all studies it covers the whole store: failed calls, and requests that are in no study
          any more. `other` counts the latter.
        - `mixed`: versions that its answers come from, where there are several, see `versions.listed`.
        - `hours` of judging, in the row for all studies. Jobs that were killed are not counted.
    """
    known = store.read(columns=["error", "cost", "engine", "model", *TOKEN_COLUMNS])
    rows, ours = [], np.zeros(len(known), dtype=bool)
    for study, named in requests.items():
        row = {"study": study}
        paths = [path for path in ([named] if isinstance(named, Path) else named) if path.exists()]
        if paths:
            read = [pq.read_table(path, columns=["request_id"])["request_id"].to_pandas() for path in paths]
            ids = pd.concat(read).drop_duplicates()
            mine = is_among(known["request_id"], ids)
            row |= _counts(known[mine], len(ids))
            ours |= mine
        rows.append(row)
    table = pd.DataFrame(rows)
    whole = {"study": EVERY} | table.drop(columns=["study", "mixed"], errors="ignore").sum(min_count=1).to_dict()
    whole["mixed"] = versions.listed(known[ours & known["error"].isna().to_numpy()])
    whole["other"] = int((~ours).sum())
    whole["cost"] = store.spent()["cost"] if known["cost"].notna().any() else None
    whole["hours"] = sum(run["seconds"] for run in store.runs()) / 3600
    columns = [
        "requests",
        "done",
        "failed_passing",
        "failed_for_good",
        "missing",
        "other",
        *TOKEN_COLUMNS,
        "cost",
        "hours",
        "mixed",
    ]
    table = pd.concat([table, pd.DataFrame([whole])], ignore_index=True).reindex(columns=["study", *columns])
    whole_numbers = [name for name in columns if name not in ("cost", "hours", "mixed")]
    return table.astype(dict.fromkeys(whole_numbers, "Int64") | {"cost": float, "hours": float})


def _counts(results: pd.DataFrame, requests: int) -> dict:
    """Counts of one study's requests, from their known results."""
    passing, failed = may_pass(results["error"]), results["error"].notna()
    answered = results[~failed]
    return {
        "requests": requests,
        "done": len(answered),
        "failed_passing": int(passing.sum()),
        "failed_for_good": int((failed & ~passing).sum()),
        "missing": requests - len(results),
        **{name: answered[name].sum(min_count=1) for name in TOKEN_COLUMNS},
        "cost": results["cost"].sum(min_count=1),
        "mixed": versions.listed(answered),
    }
