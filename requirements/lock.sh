#!/bin/sh
# Write LIST.lock for each list of requirements: the same pins, with the checksums that the package index gives. Needs uv.
#
#   requirements/lock.sh [UV]
#
# The CPU build of torch has none: it is on no such index, and install.sh installs it by itself.
set -eu
cd "$(dirname "$0")"
for list in action axe cpu cuda decisions docs inspect judges mutants packaging ppi uv; do
  {
    echo "# Made of $list.txt by lock.sh: not to be edited."
    grep -v '^torch==.*+cpu$' $list.txt |
      env -u UV_FIND_LINKS "${1:-uv}" pip compile --quiet --no-deps --generate-hashes --no-header --no-annotate -
  } > $list.lock.new
  mv $list.lock.new $list.lock
done
