"""Tools that every part of the library uses: files, errors, locks, keys, command lines, the hash of code."""
