#!/usr/bin/env bash
# Builds the Python wheel, installs it beside nothing else, and runs the tests of python/tests with it.
#
#     scripts/test-python.sh dev      not optimised, which takes a minute
#     scripts/test-python.sh wheel    as users get it, with its size
#     scripts/test-python.sh bench    no tests, but bench/python.py; as users get it
#
# The tests compare the package with the program: LISA_PROGRAM, or else target/debug/lisa or target/release/lisa. They also run the
# notebooks: with `dev` without the cells that take minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly MOST_BYTES=$((10 * 1000 * 1000))
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

what=${1:?dev, wheel or bench}
profile=${what/bench/wheel}
.venv/bin/maturin build --quiet --profile "$profile" --manifest-path python/Cargo.toml --out "$work/wheel"
wheel=$(echo "$work"/wheel/*.whl)
if [ "$profile" = wheel ] && [ "$(stat -c %s "$wheel")" -gt $MOST_BYTES ]; then
    echo "test-python: $(basename "$wheel") has $(stat -c %s "$wheel") bytes, more than $MOST_BYTES" >&2
    exit 1
fi
.venv/bin/pip install --quiet --disable-pip-version-check --no-deps --target "$work/installed" "$wheel"
export PYTHONPATH=$work/installed
if [ "$what" = bench ]; then
    LISA_PROGRAM=${LISA_PROGRAM:-$PWD/target/release/lisa} .venv/bin/python -P -W ignore bench/python.py
    exit
fi
# The types of the native module are those of its stubs.
.venv/bin/python -m mypy.stubtest --ignore-disjoint-bases --mypy-config-file python/pyproject.toml lisa._native
# Not in the folder of the sources, whose package has no native module.
chosen=()
[ "$profile" = wheel ] || chosen=(-m "not long")
.venv/bin/python -P -m pytest -c python/pyproject.toml --rootdir python -p no:cacheprovider -rs "${chosen[@]}" python/tests
