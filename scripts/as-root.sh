#!/usr/bin/env bash
# Runs a command as root, in this environment, and gives its files back to the user. Where root is not to be had it runs
# the command as it is, which then says what it cannot do.
set -uo pipefail

if [ "$(id -u)" = 0 ] || ! command -v sudo >/dev/null; then
    exec "$@"
fi
# A password can be asked for on a terminal only.
if ! sudo -n true 2>/dev/null && ! [ -t 0 ]; then
    exec "$@"
fi
sudo -E env "PATH=$PATH" "$@"
status=$?
cd "$(dirname "$0")/.." || exit 1
for folder in out target/tmp; do
    [ ! -e "$folder" ] || sudo chown -R "$(id -u):$(id -g)" "$folder"
done
exit $status
