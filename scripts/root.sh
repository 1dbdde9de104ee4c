# shellcheck shell=bash
# Sourced.

# Whether this user is root or may become it with sudo, which is asked without a password. Where that needs one, it can be
# asked for on a terminal only, and only members of the groups that Debian and Ubuntu let administer have an answer.
may_be_root() {
    [ "$(id -u)" = 0 ] && return
    command -v sudo >/dev/null || return
    sudo -n true 2>/dev/null && return
    [ -t 0 ] && id -nG | grep -qwE 'sudo|admin'
}
