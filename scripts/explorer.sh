#!/usr/bin/env bash
# The explorer, a page that runs the simulator as WebAssembly.
#
#     scripts/explorer.sh build       out/explorer/index.html
#     scripts/explorer.sh packages    only what `build` fetches for node
#     scripts/explorer.sh test        its tests, after `build`, with node; those in a browser need Chromium
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-target}
wasm=$target/wasm32-unknown-unknown/release/lisa_explore.wasm

packages() {
    # Versions are those of the lock file; install scripts of packages do not run.
    if [ ! -e web/node_modules/.package-lock.json ] || [ web/package-lock.json -nt web/node_modules/.package-lock.json ]; then
        npm --prefix web ci --ignore-scripts --no-audit --no-fund --loglevel=error
    fi
}

build() {
    # Without the debug information, which is nine tenths of the file.
    cargo rustc --release --locked -p lisa-explore --lib --crate-type cdylib --target wasm32-unknown-unknown -- -C strip=symbols
    packages
    node web/build.js "$wasm"
}

case ${1:-} in
    build) build ;;
    packages) packages ;;
    test)
        LISA=${LISA:-$(realpath -m "$target/release/lisa")} WASM=$(realpath "$wasm") npm --prefix web test --silent
        ;;
    *)
        echo "explorer: \`${1:-}\`: what may follow is \`build\`, \`packages\` or \`test\`" >&2
        exit 2
        ;;
esac
