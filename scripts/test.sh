#!/usr/bin/env bash
# Every test of the workspace, and at the end how many passed, failed and were skipped.
#
# A test that cannot run here prints `skipped: REASON` and returns; cargo counts it as passed, this does not. Ignored
# tests count as skipped, too, except for those that another test starts (`#[ignore = "is run by …"]`).
set -euo pipefail
cd "$(dirname "$0")/.."

cargo test --locked --workspace --no-fail-fast -- --show-output 2>&1 | awk '
    # What passing tests print: of that, only why one was skipped.
    /^successes:$/ { quiet = 1 }
    /^failures:$/ || /^test result:/ { quiet = 0 }
    /^---- .* stdout ----$/ { name = $2 }
    /^skipped: / {
        skipped++
        passed--
        reasons = reasons "\n    " name ": " substr($0, 10)
    }
    /^test .* \.\.\. ignored/ && !/ignored, is run by/ {
        skipped++
        reasons = reasons "\n    " $2 ": ignored"
    }
    /^test result:/ {
        ran = 1
        passed += $4
        failed += $6
    }
    !quiet { print; fflush() }
    END {
        if (!ran) exit
        if (reasons) print "\nSkipped:" reasons
        printf "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped
    }'
