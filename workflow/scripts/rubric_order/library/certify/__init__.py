"""A study of one judge in a folder, without Snakemake: `judges` and `inputs` read judge and texts, `study` runs it."""
