"""A study of one judge in a folder, without Snakemake.

`judges` reads the judge's name, `inputs` reads the texts, and `study` runs the study.
"""
