# `make help` lists the targets.

# rustup's folder and, for users other than root, the administrator's.
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH):/usr/sbin:/sbin

# Tests and benchmarks open network namespaces and load BPF programs: cargo starts them with sudo, and compiles without.
# (GNU Make before 4.4 gives $(shell …) the PATH that it was called with.)
AS_ROOT = CARGO_TARGET_$(shell PATH='$(PATH)' rustc -vV | sed -n 's/^host: //p' | tr a-z- A-Z_)_RUNNER=$(CURDIR)/scripts/as-root.sh

PREFIX ?= /usr/local
SOAK_OPENS ?= 1000000
SOAK_CONNECTIONS ?= 10000

# One seed on both sides, its windows drawn over each other.
OVERLAY = --on vm,sim --seeds 10 --force --plot docs/img

.PHONY: help setup build explorer install deb python demo test test-long test-kernels test-packages test-python test-arm64 agreement figures bench soak fmt lint clean

help: ## Print this
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20

setup: ## Install missing packages
	@scripts/setup.sh

build: ## target/release/lisa, out/man and out/completions
	@scripts/setup.sh build
	cargo build --release --locked -p lisa
	@mkdir -p out/man out/completions
	target/release/lisa man out/man
	target/release/lisa completions bash > out/completions/lisa
	target/release/lisa completions zsh > out/completions/_lisa
	target/release/lisa completions fish > out/completions/lisa.fish

explorer: ## The simulator as a page: out/explorer/index.html, for `lisa explore`, a file share or GitHub Pages
	@scripts/setup.sh explorer
	scripts/explorer.sh build

install: ## What `make build` made, and the unit of systemd, under PREFIX (/usr/local), with DESTDIR before it
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" scripts/install.sh

deb: build ## out/lisa_VERSION_amd64.deb
	@scripts/setup.sh deb
	@packaging/deb.sh out

python: setup ## The Python wheel, out/lisa_mptcp-VERSION-….whl (docs/python.md)
	.venv/bin/maturin build --manifest-path python/Cargo.toml --out out

demo: build ## MPTCP with and without LISA, on this kernel or in a VM; results in out/demo
	scripts/as-root.sh target/release/lisa demo --force

test: lint ## Format, lints and every test
	$(AS_ROOT) scripts/test.sh

test-long: test-kernels test-packages test-arm64 test-python soak bench ## What takes longer than `make test`: hours

test-kernels: setup ## Every algorithm on Linux 6.1, 6.12, 7.3 and this kernel: docs/kernels.md
	$(AS_ROOT) KERNELS_ALGORITHMS=all cargo test --locked -p lisa --test kernels --test algorithms -- --nocapture

test-packages: setup ## The package on Debian 12, Debian 13 and Ubuntu 24.04, in VMs with systemd: minutes
	$(AS_ROOT) cargo test --release --locked -p lisa --test package -- --include-ignored --nocapture

test-python: setup ## The Python wheel as users get it, and its size
	cargo build --locked -p lisa
	scripts/test-python.sh wheel

test-arm64: setup ## cc/ compiled for arm64, every test of it under QEMU
	scripts/test-arm64.sh

agreement: setup build ## Simulator and kernel beside each other: experiments/agreement, docs/agreement.md
	cargo run --release --locked -p lisa-agreement -- record
	cargo run --release --locked -p lisa-agreement -- page
	target/release/lisa compare experiments/agreement/shared.toml -a lia,lisa $(OVERLAY)/agreement-shared.svg
	target/release/lisa compare experiments/agreement/separate.toml -a olia $(OVERLAY)/agreement-separate.svg
	target/release/lisa compare experiments/agreement/loss.toml -a lia $(OVERLAY)/agreement-loss.svg

figures: setup build explorer ## The tables and figures of docs/ and experiments/ from their scripts, 20 minutes (FIGURES=--vm: the VM, too)
	for script in experiments/*/tables.py; do python3 "$$script" $(FIGURES) || exit; done
	node web/picture.js

bench: setup ## The benchmarks
	$(AS_ROOT) cargo bench --locked --workspace --no-fail-fast --bench '*'
	cargo build --release --locked -p lisa
	scripts/test-python.sh bench

soak: setup ## SOAK_CONNECTIONS (10000) at once, SOAK_OPENS (1000000) opened and closed
	$(AS_ROOT) SOAK_CONNECTIONS=$(SOAK_CONNECTIONS) SOAK_OPENS=$(SOAK_OPENS) cargo test --release --locked -p lisa --test soak -- --include-ignored --nocapture
	$(AS_ROOT) HOSTILE_SOCKETS=100000 cargo test --release --locked -p lisa --test bounds hostile

fmt: setup ## Apply the formatters
	scripts/lint.sh --fix

lint: setup ## Formatters and linters, warnings as errors
	scripts/lint.sh

clean: ## Remove all that was built
	rm -rf target out .venv
