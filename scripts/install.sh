#!/usr/bin/env bash
# Installs the program, its manual pages and its completions below a directory, such as /usr/local. `make build` makes them.
set -euo pipefail
to=${1:?the directory to install into, such as /usr/local}
cd "$(dirname "$0")/.."

if [ ! -x target/release/lisa ] || [ ! -d out/man ] || [ ! -d out/completions ]; then
    echo "install: nothing is built: run \`make build\` as yourself, then \`make install\` with sudo" >&2
    exit 1
fi
install -D -m 755 target/release/lisa "$to/bin/lisa"
for page in out/man/*.1; do
    install -D -m 644 "$page" "$to/share/man/man1/${page##*/}"
done
install -D -m 644 out/completions/lisa "$to/share/bash-completion/completions/lisa"
install -D -m 644 out/completions/_lisa "$to/share/zsh/site-functions/_lisa"
install -D -m 644 out/completions/lisa.fish "$to/share/fish/vendor_completions.d/lisa.fish"
echo "installed into $to"
