"""Preparation that many jobs share, made once: `warm.py` has this module imported before it forks jobs.

It finds the entry points of all installed packages, and compiles the patterns of answers on the usual scale. The path
on which it is found itself is for this process alone.
"""

import os

from rubric_order import probes
from rubric_order.parsing import one_score

del os.environ["PYTHONPATH"]
for probe in probes.names():
    probes.load(probe)
one_score.parse_score("So the overall score is 4 out of 5.", "12345")
