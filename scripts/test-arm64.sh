#!/usr/bin/env bash
# cc/ compiled for arm64 and its tests under QEMU's user emulation: `scripts/test-arm64.sh [ARGUMENTS OF cargo test]`.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly TARGET=aarch64-unknown-linux-gnu

# As cargo reports a test that does not run, for scripts/test.sh.
skip() {
    echo "test cc/ on arm64 ... ignored, $*"
    exit
}

for program in aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v $program >/dev/null || skip "$program is missing; \`make setup\` installs it on x86-64"
done
# Only rustup adds the standard library of another target.
[ -d "$(rustc --print sysroot)/lib/rustlib/$TARGET" ] || skip "Rust has no $TARGET; \`rustup target add $TARGET\` installs it"
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
exec cargo test --locked -p mpcc-harness --target $TARGET "$@"
