"""A study of one judge in a folder, without Snakemake: `judges` reads its name, `inputs` its texts, `study` runs it."""
