"""Correction of single reads by a judge's position effects, which are learnt from a balanced study."""
