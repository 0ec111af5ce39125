"""Results: one folder per theme, and in it one folder per result.

In the folder of a result, ``record.py`` has all that is known of it, ``estimate.py`` makes numbers, and ``table.py``
and ``figure.py`` show them. The files are separate, so a new heading or caption reruns no statistic. `estimate` makes
``results/statistics/{name}.parquet``, with one row per estimate. The following holds for all statistics:

- `COLUMNS` names the columns that `estimate` reads from each of its tables.
- `scores` are reads with their scores, in one table or in several, such as one per file. Only one of several tables is
  in memory at a time. Strategies of a study that are compared with each other are in the same table.
- `resamples` and `seed` are parameters of the bootstrap, which draws clusters with replacement, unless a statistic says
  otherwise. `confidence` is the nominal coverage of intervals, such as 0.95. Intervals are percentile intervals unless
  a statistic says otherwise. With a single cluster there is no interval (NaN).
- `cluster` says what counts as the sample: single items, or groups of items that share a prompt, an article or a story.
- `p` and `p_cluster` are p-values. `multiplicity.adjust` adds p-values that are adjusted for the number of tests
  (`p_holm` and `p_bh`), and the number of tests that are adjusted together (`n_tests`).
- `readout` is ``hard``, the option that was written, or ``soft``, the probabilities of all options.
- `n_items`, `n_clusters` and `n_reads` are the numbers of items, clusters and reads that are used. `n_failed` reads
  have no score and are left out. `method` says in words how estimate, interval and p-value are computed.
"""
