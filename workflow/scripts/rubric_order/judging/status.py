"""How far the judges are, from the files that are there: requests that were collected, and response stores."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from rubric_order.base.keys import EVERY
from rubric_order.base.text_columns import is_among
from rubric_order.judging.store import Store, may_pass

TOKENS = ["prompt_tokens", "completion_tokens", "cached_tokens"]


def judge_status(requests: Mapping[str, Path], store: Store) -> pd.DataFrame:
    """One judge's state.

    Args:
        requests: the file of the judge's requests of each study; it need not be there.
        store: of the judge.

    Returns:
        One row a study, and one of all together: `requests`, of which `done` (answered), `failed_passing` (for a reason
        that may pass), `failed_for_good` and `missing`; of those that were answered `prompt_tokens`,
        `completion_tokens` and `cached_tokens`; `cost`. Null where requests are not collected yet. The row of all has
        the cost of all that is in the store, with calls that failed before the answer came, and requests that belong to
        no study any more; `other` counts these requests. `hours` is how long jobs have been judging; jobs that were
        killed are not in it.
    """
    known = store.read(columns=["error", "cost", *TOKENS])
    rows, ours = [], np.zeros(len(known), dtype=bool)
    for study, path in requests.items():
        row = {"study": study}
        if path.exists():
            ids = pq.read_table(path, columns=["request_id"])["request_id"].to_pandas()
            mine = is_among(known["request_id"], ids)
            row |= _counts(known[mine], len(ids))
            ours |= mine
        rows.append(row)
    table = pd.DataFrame(rows)
    whole = {"study": EVERY} | table.drop(columns="study").sum(min_count=1).to_dict()
    whole["other"] = int((~ours).sum())
    whole["cost"] = store.spent()["cost"] if known["cost"].notna().any() else None
    whole["hours"] = sum(run["seconds"] for run in store.runs()) / 3600
    columns = ["requests", "done", "failed_passing", "failed_for_good", "missing", "other", *TOKENS, "cost", "hours"]
    table = pd.concat([table, pd.DataFrame([whole])], ignore_index=True).reindex(columns=["study", *columns])
    whole_numbers = [name for name in columns if name not in ("cost", "hours")]
    return table.astype(dict.fromkeys(whole_numbers, "Int64") | {"cost": float, "hours": float})


def _counts(results: pd.DataFrame, requests: int) -> dict:
    """The counts of one study's requests and of what is known of them."""
    passing, failed = may_pass(results["error"]), results["error"].notna()
    answered = results[~failed]
    return {
        "requests": requests,
        "done": len(answered),
        "failed_passing": int(passing.sum()),
        "failed_for_good": int((failed & ~passing).sum()),
        "missing": requests - len(results),
        **{name: answered[name].sum(min_count=1) for name in TOKENS},
        "cost": results["cost"].sum(min_count=1),
    }
