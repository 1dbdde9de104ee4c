#!/usr/bin/env bash
# Runs a command as root, in this environment, and gives its files back to the user. Where root is not to be had it runs
# the command as it is, which then says what it cannot do.
set -uo pipefail

# shellcheck source=scripts/root.sh
. "$(dirname "$0")/root.sh"
if [ "$(id -u)" = 0 ] || ! may_be_root; then
    exec "$@"
fi
# Asks for the password, where one is needed; who has none goes on without.
sudo -n true 2>/dev/null || sudo -v || exec "$@"
# The VM's kernels are this user's.
sudo -E env "PATH=$PATH" "XDG_CACHE_HOME=${XDG_CACHE_HOME:-$HOME/.cache}" "$@"
status=$?
cd "$(dirname "$0")/.." || exit 1
for folder in out target/tmp; do
    [ ! -e "$folder" ] || sudo chown -R "$(id -u):$(id -g)" "$folder"
done
exit $status
