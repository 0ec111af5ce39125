"""One folder a result, under a theme: ``estimate.py`` makes numbers, ``table.py`` and ``figure.py`` show them.

The three stay apart: a new heading of a table reruns no statistic. `estimate` makes
``results/statistics/{name}.parquet``, one row an estimate. What is the same in all statistics is said here:

- `COLUMNS` names what `estimate` reads: the columns of each of its tables.
- `scores` are reads with their scores, or tables of them, such as one a file, of which one at a time is in memory; the
  strategies of a study that are compared lie in one table.
- `resamples`, `confidence` and `seed` are those of the bootstrap, which draws clusters with replacement. Intervals are
  percentile intervals where nothing else is said; one cluster has none (NaN).
- `cluster` says what counts as the sample: single items, or groups of them that share a prompt, an article or a story.
- `p` and `p_cluster` are adjusted for the number of tests in one way, which `multiplicity.adjust` says: `p_holm`,
  `p_bh` and `n_tests`, the size of the family.
- `readout` is ``hard``, the option that was written, or ``soft``, the probabilities of all options.
- `n_items`, `n_clusters` and `n_reads` count what is used; `n_failed` reads have no score and are left out. `method`
  says in words how estimate, interval and p-value came about.
"""
