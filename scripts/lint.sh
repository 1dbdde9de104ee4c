#!/usr/bin/env bash
# Formatters and linters, warnings as errors. Runs all of them, then says which failed. `--fix` applies the formatters.
set -euo pipefail
cd "$(dirname "$0")/.."

git ls-files >/dev/null # says why, where it cannot: the lists below would be empty
mapfile -t c < <(git ls-files '*.c' '*.h')
mapfile -t kernel_c < <(git ls-files 'cc/*.[ch]' 'bpf/*.[ch]')
mapfile -t headers < <(git ls-files 'cc/*.h')
mapfile -t shell < <(git ls-files -z | xargs -0 shfmt -f)
mapfile -t python < <(git ls-files '*.py' '*.pyi' '*.ipynb')

if [ "${1:-}" = --fix ]; then
    cargo fmt --all
    clang-format-19 -i "${c[@]}"
    shfmt -i 4 -ci -w "${shell[@]}"
    if [ ${#python[@]} -gt 0 ]; then
        .venv/bin/ruff format "${python[@]}"
    fi
    exit
fi

failed=()

# check NAME COMMAND...
check() {
    echo "lint: $1"
    "${@:2}" || failed+=("$1")
}

licences() {
    local file status=0
    for file in "${kernel_c[@]}"; do
        if ! head -1 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause'; then
            echo "$file:1: the first line is not \`SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause\`"
            status=1
        fi
    done
    return $status
}

# Each header compiles by itself, with both compilers; an algorithm's table of functions is unused there.
self_contained() {
    local clang compiler header status=0
    for clang in ${CLANG:-} clang-20 clang-19 clang-18 clang; do
        command -v "$clang" >/dev/null && break
    done
    for compiler in gcc "$clang"; do
        for header in "${headers[@]}"; do
            "$compiler" -std=gnu11 -ffreestanding -Wall -Wextra -Werror -Wno-unused-const-variable -Icc -fsyntax-only -x c "$header" || status=1
        done
    done
    return $status
}

python_lint() {
    if [ ${#python[@]} -eq 0 ]; then
        echo "no Python here yet"
        return
    fi
    local status=0
    .venv/bin/ruff check --quiet "${python[@]}" || status=1
    .venv/bin/ruff format --quiet --diff "${python[@]}" || status=1
    return $status
}

python_types() {
    (cd python && ../.venv/bin/mypy)
}

check "licences of cc/ and bpf/" licences
check "licences of crates" packaging/copyright.py --check
check "C format" clang-format-19 --dry-run --Werror "${c[@]}"
check "C headers by themselves" self_contained
check "shell" shellcheck "${shell[@]}"
check "shell format" shfmt -i 4 -ci -d "${shell[@]}"
check "Python" python_lint
check "Python types" python_types
check "import circles" python3 scripts/import_circles.py
check "Rust format" cargo fmt --all --check
check "Rust" cargo clippy --quiet --locked --workspace --all-targets -- -D warnings
check "Rust documentation" env RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --workspace --no-deps

if [ ${#failed[@]} -gt 0 ]; then
    printf 'lint: failed: %s\n' "${failed[@]}" >&2
    echo "lint: \`make fmt\` mends what a formatter found" >&2
    exit 1
fi
