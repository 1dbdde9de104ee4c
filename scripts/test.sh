#!/usr/bin/env bash
# Every test of the workspace with how many passed, failed and were skipped.
#
# A test that cannot run here prints `skipped: REASON` and returns; cargo counts it as passed, this does not. Ignored
# tests count as skipped, too, except for those that another test starts (`#[ignore = "is run by …"]`).
set -euo pipefail
cd "$(dirname "$0")/.."

# Passes on what cargo says, but for what passing tests print: of that, only why one was skipped.
summarise() {
    local line name='' quiet='' ran='' passed=0 failed=0 skipped=() failures=()
    while IFS= read -r line; do
        case $line in
            'successes:') quiet=yes ;;
            'failures:') quiet='' ;;
            '---- '*' stdout ----') name=${line#---- } name=${name% stdout ----} ;;
            'skipped: '*) skipped+=("$name: ${line#skipped: }") passed=$((passed - 1)) ;;
            'test '*' ... FAILED') name=${line#test } failures+=("${name% ... FAILED}") ;;
            'test '*' ... ignored, is run by '*) ;;
            'test '*' ... ignored'*) name=${line#test } skipped+=("${name/ ... ignored/: ignored}") ;;
        esac
        if [[ $line =~ ^'test result: '[A-Za-z]+'. '([0-9]+)' passed; '([0-9]+)' failed;' ]]; then
            quiet='' ran=yes
            passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
        fi
        [ "$quiet" ] || printf '%s\n' "$line"
    done
    [ "$ran" ] || [ ${#skipped[@]} -gt 0 ] || return 0
    if [ ${#failures[@]} -gt 0 ]; then
        printf '\nFailed:\n'
        printf '    %s\n' "${failures[@]}"
    fi
    if [ ${#skipped[@]} -gt 0 ]; then
        printf '\nSkipped:\n'
        printf '    %s\n' "${skipped[@]}"
    fi
    printf '\n%d passed, %d failed, %d skipped\n' $passed $failed ${#skipped[@]}
}

has_node=''
if command -v node >/dev/null && command -v npm >/dev/null; then
    has_node=yes
    # They arrive while the tests are compiled.
    scripts/explorer.sh packages &
    packages=$!
fi
cargo test --locked --workspace --no-run --quiet
# The explorer's page, which a test of the program opens.
if [ "$has_node" ]; then
    wait "$packages"
    scripts/explorer.sh build
fi
failed=()
cargo test --locked --workspace --no-fail-fast -- --show-output 2>&1 | summarise || failed+=(tests)
# The Python package, beside what follows: most of it runs on one core.
python_log=$(mktemp)
scripts/test-python.sh dev >"$python_log" 2>&1 &
python=$!
trap 'wait; rm -f "$python_log"' EXIT
# The explorer: the simulator as WebAssembly, and the page in a browser.
if [ "$has_node" ]; then
    LISA=$(realpath -m "${CARGO_TARGET_DIR:-target}/debug/lisa") scripts/explorer.sh test || failed+=(explorer)
else
    echo "skipped: the explorer: no node or npm; make setup installs them"
fi
# Once more where an overflow in cc/ stops the program.
cargo test --locked -p mpcc-harness --features trap --test properties --test vectors 2>&1 | summarise || failed+=(overflows)
# And on arm64, what takes seconds there: `make test-arm64` runs the rest.
scripts/test-arm64.sh --test vectors --test css 2>&1 | summarise || failed+=(arm64)
wait $python || failed+=(Python)
cat "$python_log"
if [ ${#failed[@]} -gt 0 ]; then
    echo "make test: failed: ${failed[*]}" >&2
    exit 1
fi
