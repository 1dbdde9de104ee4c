#!/usr/bin/env bash
# Installs the program, its manual pages, its completions, its unit of systemd and the file that the unit reads, as an example,
# below $PREFIX (/usr/local), with $DESTDIR before it. `make build` makes the program, the pages and the completions.
#
#     LISA_PROGRAM=FILE    another program than target/release/lisa; it then makes the pages and completions
set -euo pipefail
cd "$(dirname "$0")/.."

prefix=${PREFIX:-/usr/local}
to=${DESTDIR:-}$prefix
program=${LISA_PROGRAM:-target/release/lisa}
made=out
if [ "${LISA_PROGRAM:-}" ]; then
    made=$(mktemp -d)
    trap 'rm -rf "$made"' EXIT
    mkdir "$made/man" "$made/completions"
    "$program" man "$made/man"
    "$program" completions bash >"$made/completions/lisa"
    "$program" completions zsh >"$made/completions/_lisa"
    "$program" completions fish >"$made/completions/lisa.fish"
fi

if [ ! -x "$program" ] || [ ! -d "$made/man" ] || [ ! -d "$made/completions" ]; then
    echo "install: nothing is built: run \`make build\` as yourself, then \`make install\` with sudo" >&2
    exit 1
fi
install -D -m 755 "$program" "$to/bin/lisa"
for page in "$made"/man/*; do
    install -D -m 644 "$page" "$to/share/man/man${page##*.}/${page##*/}"
done
install -D -m 644 "$made/completions/lisa" "$to/share/bash-completion/completions/lisa"
install -D -m 644 "$made/completions/_lisa" "$to/share/zsh/site-functions/_lisa"
install -D -m 644 "$made/completions/lisa.fish" "$to/share/fish/vendor_completions.d/lisa.fish"
# The page of `lisa explore`, if `make explorer` made it.
if [ -e out/explorer/index.html ]; then
    install -D -m 644 out/explorer/index.html "$to/share/lisa/explorer.html"
fi
# Not into /etc: a file there would be overwritten, and the unit does nothing without it.
install -D -m 644 packaging/lisa.toml "$to/share/doc/lisa/examples/lisa.toml"
install -D -m 644 packaging/systemd/50-lisa.preset "$to/lib/systemd/system-preset/50-lisa.preset"
install -d "$to/lib/systemd/system"
for unit in lisa lisa-assist lisa-manager; do
    sed "s#/usr/bin/lisa#$prefix/bin/lisa#" packaging/systemd/$unit.service >"$to/lib/systemd/system/$unit.service"
    chmod 644 "$to/lib/systemd/system/$unit.service"
done
echo "installed into $to"
