#!/bin/sh
# Install exactly the packages of a list into an environment, which is made where it is missing, then this project.
#
#   requirements/install.sh PYTHON FOLDER LIST
#
# uv does it in a fifth of pip's time. It is taken from PATH or fetched with pip; where it is not to be had, or cannot
# install the list, pip does it. The lists are complete, so nothing is resolved. What is installed must have the checksums
# of LIST's lock (lock.sh), but for the CPU build of torch, which has none there and is installed by itself.
set -eu
python=$1 folder=$2 list=$3 lock=${3%.txt}.lock

# uv is told what pip was told: where packages lie (pip separates folders by spaces, uv by commas), and which
# certificates to trust, which are the system's where nothing is said.
if [ -n "${PIP_FIND_LINKS:-}" ]; then
  UV_FIND_LINKS=${UV_FIND_LINKS:-$(echo "$PIP_FIND_LINKS" | tr -s ' ' ,)}
elif [ -n "${UV_FIND_LINKS:-}" ]; then
  PIP_FIND_LINKS=$(echo "$UV_FIND_LINKS" | tr , ' ')
fi
[ -z "${UV_FIND_LINKS:-}" ] || export UV_FIND_LINKS PIP_FIND_LINKS
[ -z "${PIP_INDEX_URL:-}" ] || export UV_DEFAULT_INDEX="${UV_DEFAULT_INDEX:-$PIP_INDEX_URL}"
[ -z "${PIP_CERT:-}" ] || export SSL_CERT_FILE="${SSL_CERT_FILE:-$PIP_CERT}"
export UV_SYSTEM_CERTS="${UV_SYSTEM_CERTS:-1}" UV_NATIVE_TLS="${UV_NATIVE_TLS:-1}" # the second is the first's old name

# The CPU build of torch is not on the usual package index. uv knows where it is published; pip needs a folder with it.
torch=$(grep '^torch==.*+cpu$' "$list" || true)

usable() {
  "$1" pip install --help 2>/dev/null | grep -q torch-backend
}

with_uv() {
  install="$uv pip install --quiet --python $folder/bin/python --no-deps"
  if [ -n "$torch" ]; then
    backend=
    $install --dry-run "$torch" 2>/dev/null || backend="--torch-backend cpu"
    $install $backend "$torch" || return 1
  fi
  $install --require-hashes --requirement "$lock" && $install --no-build-isolation --editable .
}

with_pip() {
  "$folder/bin/python" -m pip --version >/dev/null 2>&1 || "$folder/bin/python" -m ensurepip >/dev/null
  install="$folder/bin/python -m pip install --quiet --disable-pip-version-check --no-deps"
  if [ -n "$torch" ] && ! $install "$torch"; then
    echo "error: pip finds no $torch: install uv, or set PIP_FIND_LINKS to a folder that holds it" >&2
    exit 1
  fi
  $install --require-hashes --requirement "$lock"
  $install --no-build-isolation --editable .
}

uv=uv
if usable uv; then
  [ -x "$folder/bin/python" ] || "$python" -m venv --without-pip "$folder"
else
  [ -x "$folder/bin/python" ] || "$python" -m venv "$folder"
  uv=$folder/bin/uv
  usable "$uv" || "$folder/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --requirement "${list%/*}/uv.lock" || true
fi
if ! usable "$uv"; then
  with_pip
elif ! with_uv; then
  echo "uv could not install $lock; pip tries." >&2
  with_pip
fi
