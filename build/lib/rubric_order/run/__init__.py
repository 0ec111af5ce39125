"""From settings to jobs: what each rule reads, passes on and depends on."""
