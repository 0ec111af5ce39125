"""From settings to jobs: the files that each rule reads, and the arguments and settings of its jobs."""
