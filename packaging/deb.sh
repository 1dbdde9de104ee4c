#!/usr/bin/env bash
# Builds the Debian package from what is built already: `packaging/deb.sh [FOLDER]`, which is `out`. Prints the package's path.
#
#     LISA_PROGRAM=FILE        another program than target/release/lisa
#     LISA_COMPRESSION=none    another compression of the package than xz
set -euo pipefail
cd "$(dirname "$0")/.."

to=${1:-out}
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
# The date of the last change, so that the same sources give the same package.
seconds=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Cargo.toml)}

fail() {
    echo "deb: $*" >&2
    exit 1
}

for tool in dpkg-buildpackage dh; do
    command -v $tool >/dev/null || fail "no $tool; \`scripts/setup.sh deb\` installs it"
done
[ "$version" ] || fail "Cargo.toml: no version in [workspace.package]"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/lisa-$version
mkdir -p "$tree"
cp -r packaging/debian "$tree/debian"
sed -e "s/@VERSION@/$version/g" -e "s/@DATE@/$(LC_ALL=C date -u -R -d "@$seconds")/" "$tree/debian/changelog.in" >"$tree/debian/changelog"
rm "$tree/debian/changelog.in"
PREFIX=/usr DESTDIR="$tree/staged" scripts/install.sh >/dev/null
# dh of Debian 12 finds units in /lib alone; debian/rules moves them back.
mkdir -p "$tree/staged/lib"
mv "$tree/staged/usr/lib/systemd" "$tree/staged/lib/systemd"
mv "$tree/staged/usr/share/zsh/site-functions" "$tree/staged/usr/share/zsh/vendor-completions"
install -D -m 644 packaging/lisa.toml "$tree/staged/etc/lisa.toml"

log=$work/log
(cd "$tree" && SOURCE_DATE_EPOCH=$seconds dpkg-buildpackage -b --no-sign) >"$log" 2>&1 || {
    tail -n 30 "$log" >&2
    fail "dpkg-buildpackage failed"
}
package=$(cd "$work" && echo lisa_*.deb)
mkdir -p "$to"
mv "$work/$package" "$to/$package"
echo "$to/$package"
