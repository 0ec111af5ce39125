"""Preparation that many jobs share, made once: `warm.py` has this module imported before it forks jobs.

It finds the entry points of all installed packages, and compiles the patterns of answers on the usual scale. The first
two folders of the path, on which `warm.py` has it found, are for this process alone.
"""

import os

from rubric_order import probes
from rubric_order.parsing import one_score

_, _, *path = os.environ.pop("PYTHONPATH").split(os.pathsep)
if path:
    os.environ["PYTHONPATH"] = os.pathsep.join(path)
for probe in probes.names():
    probes.load(probe)
one_score.parse_score("So the overall score is 4 out of 5.", "12345")
