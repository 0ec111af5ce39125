"""Tools that every part uses: files, errors, locks, keys, command lines, the hash of code."""
