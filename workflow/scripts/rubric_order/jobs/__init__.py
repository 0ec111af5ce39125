"""Jobs of the workflow: one function a rule, which reads files, calls the library and writes files."""
