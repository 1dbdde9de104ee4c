#!/usr/bin/env bash
# Installs what is missing on Debian 12, Debian 13 and Ubuntu 24.04, and says what. Where nothing is missing it does
# nothing.
#
#     scripts/setup.sh           all that `make test` needs
#     scripts/setup.sh build     only what `make build` and `make demo` need
#     scripts/setup.sh explorer  what `make explorer` needs: also WebAssembly and node
#     scripts/setup.sh deb       what `make deb` needs: also Debian's tools for packages
#
# The VM and its kernels belong to all, and to `build` where the demo cannot use the kernel that runs here.
set -euo pipefail
cd "$(dirname "$0")/.."

# A user's PATH lacks the administrator's folders, and may not have rustup's.
PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH:/usr/sbin:/sbin"

readonly RUST_OLDEST=1.85
RUST=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
readonly RUST
readonly RUSTUP=1.28.2
declare -rA RUSTUP_SHA256=(
    [x86_64]=20a06e644b0d9bd2fbdbfd52d42540bdde820ea7df86e92e533c073da0cdd43c
    [aarch64]=e3853c5a252fca15252d07cb23a1bdd9377a8c6f3efa01531109281ae47f841c
)
# In .venv: linters, the reference of the tests of paths, the builder of the wheel, what its tests use, and what runs the notebooks.
readonly PYTHON=(
    ruff==0.17.5
    mypy==2.4.1
    networkx==3.6.1
    maturin==1.16.0
    pytest==9.2.0
    pandas==3.1.1
    pyarrow==26.0.1
    polars==2.1.0
    matplotlib==3.11.2
    tqdm==4.70.1
    distributed==2026.8.0
    nbclient==0.11.0
    nbformat==5.11.1
    ipykernel==7.4.0
)
# Kernels for the VM, Debian's for clouds: the first is what `lisa run --on vm` boots, all are what the tests run on. A line for
# each package: the kernel's version, megabytes to fetch, SHA-256, archive and file.
readonly KERNELS=(
    "6.12 34 5195b288dec79e2981d6b84457f38b7ce7310a2d702930ec7d07209c7f78ce37 debian-security pool/updates/main/l/linux-signed-6.12-amd64/linux-image-6.12.117%2bdeb12-cloud-amd64_6.12.117-1%7edeb12u1_amd64.deb"
    "6.1 27 e7d02b943971edcb8790e256c02cfab3bca6c3d37c1bf25392a57c71300615ee debian-security pool/updates/main/l/linux-signed-amd64/linux-image-6.1.0-56-cloud-amd64_6.1.192-2_amd64.deb"
    "7.3 14 c4fbc8e404958693b28825474c20742d70594d65ca58aea7be6a279c81eb6fa0 debian pool/main/l/linux-signed-amd64/linux-binary-7.3.4%2bdeb13-cloud-amd64_7.3.4-1%7ebpo13%2b1_amd64.deb"
    "7.3 23 359f04c363b7d3c5f9ce999ccb7351e00cc8eec0a30d6bc1cda37734987fc43d debian pool/main/l/linux/linux-modules-7.3.4%2bdeb13-cloud-amd64_7.3.4-1%7ebpo13%2b1_amd64.deb"
)
# Where an archive's files are: until there is a newer package, and for ever.
readonly KERNEL_MIRRORS=(
    https://deb.debian.org/ARCHIVE
    https://snapshot.debian.org/archive/ARCHIVE/20261122T000000Z
)

all='' deb='' explorer=''
case ${1:-all} in
    all) all=yes deb=yes explorer=yes ;;
    explorer) explorer=yes ;;
    build) ;;
    deb) deb=yes ;;
    *)
        echo "setup: \`$1\`: what may follow is \`build\`, \`explorer\`, \`deb\`, or nothing" >&2
        exit 2
        ;;
esac

# shellcheck source=scripts/root.sh
. scripts/root.sh

say() { echo "setup: $*"; }

fail() {
    echo "setup: $*" >&2
    exit 1
}

have() { command -v "$1" >/dev/null; }

header() { [ -e "/usr/include/$1" ] || compgen -G "/usr/include/*-linux-gnu/$1" >/dev/null; }

# The clang that the build takes (crates/mpcc/build.rs) is 16 or later and knows BPF.
bpf_clang() {
    local name
    for name in ${CLANG:-} clang-20 clang-19 clang-18 clang; do
        if have "$name"; then
            echo '_Static_assert(__clang_major__ >= 16, "");' |
                "$name" -target bpf -mcpu=v3 -c -x c - -o /dev/null 2>/dev/null
            return
        fi
    done
    return 1
}

# As a library, for bindgen, which looks in these places.
libclang() {
    local place
    for place in "${LIBCLANG_PATH:-/nowhere}" /usr/lib/llvm-*/lib /usr/lib/*-linux-gnu /usr/lib64 /usr/lib; do
        if compgen -G "$place/libclang.so*" >/dev/null || compgen -G "$place/libclang-[0-9]*.so*" >/dev/null; then
            return
        fi
    done
    return 1
}

# A Python that can make environments.
python_venv() { /usr/bin/python3 -c 'import venv, ensurepip'; }

# Whether lisa may load algorithms into this kernel and make network namespaces. In a container root may not.
kernel_will_do() {
    [ -e /proc/sys/net/mptcp/enabled ] && [ -e /sys/kernel/btf/vmlinux ] && may_be_root || return
    [ "$(id -u)" != 0 ] || unshare --net true 2>/dev/null
}

vm=
if [ "$(uname -m)" = x86_64 ] && { [ "$all" ] || ! kernel_will_do; }; then
    vm=yes
fi

# --- Packages -------------------------------------------------------------------------------------------------------

packages=()
reasons=()

# need PACKAGE REASON TEST...: the package is missing if the test fails.
need() {
    if ! "${@:3}" >/dev/null 2>&1; then
        packages+=("$1")
        reasons+=("$2")
    fi
}

need gcc "compiles cc/ and libbpf" have gcc
need libc6-dev "compiles cc/ and libbpf" header stdio.h
need make "builds libbpf" have make
need pkg-config "finds libelf and zlib" have pkg-config
need libelf-dev "libbpf reads objects with it" header libelf.h
need zlib1g-dev "libelf decompresses with it" header zlib.h
if [ -n "${CLANG:-}" ]; then
    bpf_clang || fail "\$CLANG is \`$CLANG\`, which is not a clang 16 or later that compiles for BPF; unset it or name another"
else
    need clang-19 "compiles bpf/" bpf_clang
fi
need libclang1-19 "makes the C types known to Rust" libclang
need curl "fetches Rust; transfers in the tests" have curl
need ca-certificates "checks who it fetches from" test -e /etc/ssl/certs/ca-certificates.crt
if [ "$vm" ]; then
    need qemu-system-x86 "runs a kernel in virtual time (\`--on vm\`)" have qemu-system-x86_64
    need dpkg "unpacks that kernel" have dpkg-deb
fi
if [ "$explorer" ]; then
    need nodejs "bundles the explorer's page" have node
    need npm "installs the libraries of that page, with the versions of web/package-lock.json" have npm
fi
if [ "$deb" ]; then
    need debhelper "builds the Debian package" have dh
    need dpkg-dev "builds the Debian package" have dpkg-buildpackage
fi
if [ "$all" ]; then
    if [ "$(uname -m)" = x86_64 ]; then
        need mmdebstrap "makes the systems in which the tests install the package" have mmdebstrap
        need e2fsprogs "makes the disk of the VM in which the tests boot with the package" have mke2fs
        need xz-utils "decompresses the modules of the VM's kernel" have xz
    fi
    python_sources=$(git ls-files '*.py' 2>/dev/null || true)
    need git "lists the files to check" have git
    need clang-format-19 "formats C; versions differ" have clang-format-19
    if apt-cache show clang-16 >/dev/null 2>&1; then # Debian 13 does not have it
        need clang-16 "compiles bpf/ in the tests, as the oldest clang that the build takes" have clang-16
    fi
    need shellcheck "checks shell scripts" have shellcheck
    need shfmt "formats shell scripts" have shfmt
    need iproute2 "looks at sockets in the tests" have ss
    need procps "changes settings of the kernel in the tests" have sysctl
    need util-linux "runs programs of the tests as other users" have setpriv
    need bsdutils "gives programs of the tests a terminal" have script
    need groff-base "checks the manual pages" have groff
    need tshark "reads captures in the tests" have tshark
    need valgrind "counts instructions in the benchmarks" have valgrind
    need iperf3 "transfers in the tests" have iperf3
    if grep -qx 'ID=debian' /etc/os-release; then # Ubuntu has them as snaps alone
        need chromium "opens the page of the topology manager in the tests" have chromium
        need chromium-driver "drives it" have chromedriver
    fi
    need nginx "serves files in the tests; no service is started" have nginx
    if [ "$(uname -m)" = x86_64 ]; then
        need gcc-aarch64-linux-gnu "compiles cc/ for arm64 in the tests" have aarch64-linux-gnu-gcc
        need libc6-dev-arm64-cross "compiles cc/ for arm64 in the tests" test -e /usr/aarch64-linux-gnu/include/stdio.h
        need qemu-user "runs cc/ on arm64 in the tests" have qemu-aarch64
    fi
    need python3 "programs that the tests run" /usr/bin/python3 -c 'import ctypes, socket' # python3-minimal has no ctypes
    if [ "$python_sources" ]; then
        need python3-venv "holds the Python linters and the packages of the tests" python_venv
    fi
fi

# As root, without questions. What apt has to say comes only if it fails.
apt_install() {
    local log error
    log=$(mktemp)
    # A source that is not needed may be broken: whether this failed shows in what follows.
    "${root[@]}" apt-get -q update </dev/null >/dev/null 2>&1 || true
    if ! "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
        install --no-install-recommends "${packages[@]}" </dev/null >"$log" 2>&1; then
        error=$(grep '^E: ' "$log" | head -1 || true)
        rm -f "$log"
        fail "apt-get failed (${error:-it gives no reason}); is there a network? By hand: apt-get install ${packages[*]}"
    fi
    rm -f "$log"
}

# nginx's package starts a service and enables it. Policy (policy-rc.d, of Debian's) forbids the first while it is
# installed; the second is undone.
readonly POLICY=/usr/sbin/policy-rc.d
install_packages() {
    local policy=
    if [[ " ${packages[*]} " == *" nginx "* && ! -e $POLICY ]]; then
        policy=ours
        # shellcheck disable=SC2064
        trap "${root[*]} rm -f $POLICY" EXIT
        printf '#!/bin/sh\nexit 101\n' | "${root[@]}" tee $POLICY >/dev/null
        "${root[@]}" chmod 755 $POLICY
    fi
    apt_install
    if [[ " ${packages[*]} " == *" nginx "* ]]; then
        "${root[@]}" update-rc.d nginx disable >/dev/null 2>&1 || true
    fi
    if [ "$policy" ]; then
        "${root[@]}" rm -f $POLICY
        trap - EXIT
    fi
}

if [ ${#packages[@]} -gt 0 ]; then
    by_hand="install by hand what these are on Debian: ${packages[*]}"
    # shellcheck source=/dev/null
    system=$(
        . /etc/os-release 2>/dev/null || true
        echo "${ID:-unknown}:${VERSION_ID:-}"
    )
    case $system in
        debian:12 | debian:13 | ubuntu:24.04) ;;
        *) fail "this is neither Debian 12, Debian 13 nor Ubuntu 24.04 but \`$system\`; $by_hand" ;;
    esac
    root=()
    if [ "$(id -u)" != 0 ]; then
        have sudo || fail "no sudo; as root: apt-get install ${packages[*]}"
        root=(sudo)
    fi
    for i in "${!packages[@]}"; do
        say "installing ${packages[i]} (${reasons[i]})"
    done
    install_packages
fi

# --- Rust -----------------------------------------------------------------------------------------------------------

# Another's cargo, of a distribution, say, that is recent enough and complete.
cargo_will_do() {
    local version
    have cargo && ! have rustup || return 1
    version=$(cargo --version | cut -d' ' -f2)
    [ "$(printf '%s\n' $RUST_OLDEST "$version" | sort -V | head -1)" = $RUST_OLDEST ] || return 1
    [ ! "$all" ] || { have rustfmt && have cargo-clippy; }
}

rustup_has_it() {
    local bin
    for bin in "${RUSTUP_HOME:-$HOME/.rustup}/toolchains/$RUST"-*/bin; do
        [ -x "$bin/cargo" ] && [ -x "$bin/rustfmt" ] && [ -x "$bin/cargo-clippy" ] && return
    done
    return 1
}

install_rustup() {
    local machine sum folder
    machine=$(uname -m)
    sum=${RUSTUP_SHA256[$machine]:-}
    [ "$sum" ] || fail "no Rust $RUST_OLDEST or later, and none known for $machine; install one by hand: https://rustup.rs"
    folder=$(mktemp -d)
    # shellcheck disable=SC2064
    trap "rm -rf $folder" EXIT
    curl -fsL --retry 3 -o "$folder/rustup-init" \
        "https://static.rust-lang.org/rustup/archive/$RUSTUP/$machine-unknown-linux-gnu/rustup-init" ||
        fail "static.rust-lang.org cannot be reached; repeat this with a network, or with Rust $RUST_OLDEST or later, rustfmt and clippy installed by hand"
    echo "$sum  $folder/rustup-init" | sha256sum --check --quiet --status ||
        fail "what static.rust-lang.org sent for rustup $RUSTUP is not what it should be; try again later"
    chmod +x "$folder/rustup-init"
    RUSTUP_INIT_SKIP_PATH_CHECK=yes "$folder/rustup-init" -q -y --no-modify-path --default-toolchain none >/dev/null 2>&1 ||
        fail "rustup $RUSTUP does not install; install it by hand: https://rustup.rs"
}

if ! cargo_will_do && ! { have rustup && rustup_has_it; }; then
    if ! have rustup; then
        say "installing rustup $RUSTUP (into your ~/.cargo and ~/.rustup; your shell's settings stay as they are)"
        install_rustup
        hash -r
    fi
    say "installing Rust $RUST (with rustup)"
    rustup -q toolchain install "$RUST" --profile minimal --component rustfmt --component clippy --no-self-update \
        >/dev/null 2>&1 || fail "rustup cannot install Rust $RUST; is there a network? \`rustup toolchain install $RUST\` says more"
fi

# The tests compile cc/ for arm64, too. Only rustup has the library for that.
readonly ARM64=aarch64-unknown-linux-gnu
if [ "$all" ] && [ "$(uname -m)" = x86_64 ] && have rustup && [ ! -d "$(rustc --print sysroot)/lib/rustlib/$ARM64" ]; then
    say "installing Rust's library for arm64 (with rustup)"
    rustup -q target add $ARM64 >/dev/null 2>&1 ||
        fail "rustup cannot add $ARM64; is there a network? \`rustup target add $ARM64\` says more"
fi

# The explorer is WebAssembly. Only rustup has the library for that.
readonly WASM=wasm32-unknown-unknown
if [ "$explorer" ] && [ ! -d "$(rustc --print sysroot)/lib/rustlib/$WASM" ]; then
    have rustup || fail "no Rust library for $WASM; install Rust with rustup: https://rustup.rs"
    say "installing Rust's library for WebAssembly (with rustup)"
    rustup -q target add $WASM >/dev/null 2>&1 ||
        fail "rustup cannot add $WASM; is there a network? \`rustup target add $WASM\` says more"
fi

# --- Python ---------------------------------------------------------------------------------------------------------

python_will_do() {
    local package
    for package in "${PYTHON[@]}"; do
        compgen -G ".venv/lib/python3.*/site-packages/${package/==/-}.dist-info/METADATA" >/dev/null || return
    done
}

if [ "$all" ] && [ "$python_sources" ] && ! python_will_do; then
    say "installing ${PYTHON[*]} (into .venv)"
    /usr/bin/python3 -m venv .venv || fail "no Python environment in .venv; remove that folder and repeat this"
    .venv/bin/pip install --quiet --disable-pip-version-check "${PYTHON[@]}" >/dev/null 2>&1 ||
        fail "pip cannot install ${PYTHON[*]}; is there a network? \`.venv/bin/pip install ${PYTHON[*]}\` says more"
fi

# --- promtool -------------------------------------------------------------------------------------------------------

# The checker of metrics, of Debian's package of Prometheus, which would start a server.
readonly PROMTOOL=81d59a24fce84f7fbe97a45a4f2914b6a5881b5cd1db2a6a0e129e515e1a5f55
readonly PROMTOOL_FILE=pool/main/p/prometheus/prometheus_2.42.0%2bds-5%2bdeb12u1_amd64.deb

# --- The VM's kernels -------------------------------------------------------------------------------------------------

# fetch_file SHA256 ARCHIVE FILE TO: a file of Debian's archive. TO does not exist if no mirror has it.
fetch_file() {
    local sum=$1 file=$3 package=$4 mirror
    for mirror in "${KERNEL_MIRRORS[@]}"; do
        if curl -fsL --retry 3 -o "$package" "${mirror/ARCHIVE/$2}/$file" &&
            echo "$sum  $package" | sha256sum --check --quiet --status; then
            break
        fi
        rm -f "$package"
    done
    [ -e "$package" ]
}

# fetch_package MEGABYTES SHA256 ARCHIVE FILE FOLDER: unpacks of a kernel's package what install_kernel wants.
fetch_package() {
    local package=$5.deb
    fetch_file "$2" "$3" "$4" "$package" || return
    # tar fails where a pattern matches nothing: since Linux 6.19 the image and its modules are two packages.
    dpkg-deb --fsys-tarfile "$package" | tar -x -C "$5" --wildcards \
        '*/vmlinuz*' '*/drivers/net/tun.ko*' '*/net/ipv4/tcp_*.ko*' \
        '*/drivers/block/virtio_blk.ko*' '*/drivers/net/veth.ko*' '*/net/sched/sch_netem.ko*' \
        '*/net/sched/sch_fq.ko*' 2>/dev/null || true
    rm -f "$package"
}

# install_kernel VERSION: into the folder that crates/lab/src/vm/kernel_image.rs looks in, the kernel, TUN, the congestion
# controls, fq, and the modules of a VM with a disk and a network (crates/lisa/tests/package/guest.rs).
install_kernel() {
    local version=$1 work kernel image release fields
    local folder=$kernels/$version
    compgen -G "$folder/boot/vmlinuz-*" >/dev/null && [ -n "$(find "$folder" -name 'sch_fq.ko*')" ] && return
    work=$(mktemp -d)
    # shellcheck disable=SC2064
    trap "rm -rf $work" EXIT
    mkdir -p "$work/kernel/boot"
    for kernel in "${KERNELS[@]}"; do
        read -ra fields <<<"$kernel"
        [ "${fields[0]}" = "$version" ] || continue
        say "fetching Debian's kernel $version (${fields[1]} MB, into $kernels)"
        fetch_package "${fields[@]:1}" "$work/kernel" ||
            fail "no mirror has Debian's kernel $version as it should be; repeat this with a network, or name a kernel with \`--kernel\`"
    done
    for image in "$work"/kernel/usr/lib/modules/*/vmlinuz; do
        [ -e "$image" ] || continue
        release=$(basename "$(dirname "$image")")
        mv "$image" "$work/kernel/boot/vmlinuz-$release"
    done
    if [ ! -e "$(compgen -G "$work/kernel/boot/vmlinuz-*")" ] || [ -z "$(find "$work/kernel" -name 'tun.ko*')" ]; then
        fail "Debian's packages of kernel $version do not unpack into $work; is the disk full?"
    fi
    chmod -R a+rX "$work/kernel"
    mkdir -p "$kernels"
    rm -rf "$folder"
    mv "$work/kernel" "$folder"
    rm -rf "$work"
    trap - EXIT
}

kernels=${XDG_CACHE_HOME:-$HOME/.cache}/lisa/kernels
for kernel in "${KERNELS[@]}"; do
    [ ! "$vm" ] || install_kernel "${kernel%% *}"
    [ "$all" ] || break # the demo takes the first
done

cache=${XDG_CACHE_HOME:-$HOME/.cache}/lisa
if [ "$all" ] && [ "$(uname -m)" = x86_64 ] && [ ! -x "$cache/promtool" ]; then
    say "fetching promtool (19 MB, checks metrics in the tests, into $cache)"
    mkdir -p "$cache"
    work=$(mktemp -d)
    # shellcheck disable=SC2064
    trap "rm -rf $work" EXIT
    fetch_file $PROMTOOL debian $PROMTOOL_FILE "$work/prometheus.deb" ||
        fail "no mirror has Debian's package of Prometheus as it should be; repeat this with a network"
    dpkg-deb --fsys-tarfile "$work/prometheus.deb" | tar -x -C "$work" ./usr/bin/promtool
    mv "$work/usr/bin/promtool" "$cache/promtool"
    rm -rf "$work"
    trap - EXIT
fi

# --- The systems of the tests of the package ----------------------------------------------------------------------------

# Archives by suite, whose signatures apt verifies: each as a tar file. Name, suite, mirror, further packages.
readonly ROOTS=(
    "debian-12 bookworm http://deb.debian.org/debian"
    "debian-12-server bookworm http://deb.debian.org/debian nginx,mptcpize,systemd-container,curl"
    "debian-13 trixie http://deb.debian.org/debian"
    "ubuntu-24.04 noble http://archive.ubuntu.com/ubuntu"
)
# What lisa depends on, systemd, and the programs of the tests.
readonly ROOT_PACKAGES=systemd-sysv,libelf1,zlib1g,iproute2,python3,busybox-static
# Debian has no package of Ubuntu's keys.
readonly UBUNTU_KEYS=http://archive.ubuntu.com/ubuntu/pool/main/u/ubuntu-keyring/ubuntu-keyring_2023.11.28.1_all.deb
readonly UBUNTU_KEYS_SHA256=36de43b15853ccae0028e9a767613770c704833f82586f28eb262f0311adb8a8

# install_root NAME SUITE MIRROR [PACKAGES]
install_root() {
    local file=$roots/$1.tar work keys=/usr/share/keyrings log
    # Beside it is what it was made from.
    [ ! -e "$file" ] || [ "$(cat "$file.made-from" 2>/dev/null)" != "$* $ROOT_PACKAGES" ] || return 0
    work=$(mktemp -d)
    # shellcheck disable=SC2064
    trap "rm -rf $work" EXIT
    say "fetching $1 (with mmdebstrap, into $roots)"
    if [ "$2" = noble ] && [ ! -e $keys/ubuntu-archive-keyring.gpg ]; then
        curl -fsL --retry 3 -o "$work/keys.deb" $UBUNTU_KEYS || true
        if echo "$UBUNTU_KEYS_SHA256  $work/keys.deb" | sha256sum --check --quiet --status 2>/dev/null; then
            dpkg-deb -x "$work/keys.deb" "$work/keys"
            keys=$work/keys/usr/share/keyrings
        fi
    fi
    mkdir -p "$roots"
    chmod 755 "$work" # apt reads the keys as another user
    log=$work/log
    # mmdebstrap finds another way where root is not to be had.
    local root=()
    if [ "$(id -u)" != 0 ] && may_be_root; then
        root=(sudo)
    fi
    if "${root[@]}" mmdebstrap --variant=minbase --keyring="$keys" --include="$ROOT_PACKAGES${4:+,$4}" "$2" - "deb $3 $2 main" \
        >"$work/root.tar" 2>"$log"; then
        mv "$work/root.tar" "$file"
        echo "$* $ROOT_PACKAGES" >"$file.made-from"
    else
        say "no $1: $(grep '^E: ' "$log" | head -1 || true) The tests of the package in it will be skipped"
    fi
    rm -rf "$work"
    trap - EXIT
}

roots=${XDG_CACHE_HOME:-$HOME/.cache}/lisa/roots
if [ "$all" ] && [ "$(uname -m)" = x86_64 ]; then
    for root in "${ROOTS[@]}"; do
        read -ra fields <<<"$root"
        install_root "${fields[@]}"
    done
fi
