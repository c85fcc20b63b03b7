# Tasks for work on Lasthop. Continuous integration runs `make test`.

CARGO ?= cargo
PYTHON ?= python3

# Programs that tests call. If the Debian package has a different name, it follows after a colon.
PROGRAMS = tshark tcptrace chromium iptables ethtool ip:iproute2 ss:iproute2 nft:nftables setpriv:util-linux valgrind clang llvm-strip:llvm python3

# Headers that tests include, each with its Debian package after a colon.
HEADERS = /usr/include/linux/bpf.h:linux-libc-dev /usr/include/bpf/bpf_helpers.h:libbpf-dev

# Version of axe-core (MPL 2.0), which checks the page's accessibility in tests if npm is installed.
AXE = 4.14.1

.PHONY: test waiting judge computing compiling tools format unit live others quiet lint features workflows doc python stubs bench measured count count-update smoltcp peers growth crosscheck-ns2 crosscheck-kernel site

# List of tests that could not be judged on a busy machine, one per line, written by crates/cli/tests/common/machine.rs.
NOT_JUDGED = target/tmp/not-judged.txt

# Property tests draw the same inputs in every run, so that a failure can be repeated. Another number draws others.
export PROPTEST_RNG_SEED ?= 20261126

# Runs three jobs concurrently, each with its output in one block: real-time tests, computation, compilation. Jobs that
# mostly wait have priority (nice). Tests that were not judged are repeated at the end, when nothing else runs.
test: tools format
	nice $(CARGO) test --workspace --no-run
	rm -f $(NOT_JUDGED)
	$(MAKE) --jobs=3 --output-sync=target waiting computing compiling
	$(MAKE) judge quiet
	@if [ -s $(NOT_JUDGED) ]; then \
		echo "$$(wc -l <$(NOT_JUDGED)) tests were not judged: the machine was busy"; cut -c1-200 $(NOT_JUDGED); \
	fi

# A live test that fails while other work runs is not judged. The test must pass when nothing else runs. A test
# program that ends without naming a failed test (an abort, a signal) fails at once.
waiting:
	@mkdir -p target/tmp; status=0; $(MAKE) live >target/live.txt 2>&1 || status=$$?; cat target/live.txt; \
	names=$$(sed -n 's/^    \([a-z0-9_:]*live::[a-z0-9_:]*\)$$/\1/p' target/live.txt | sort -u); \
	for name in $$names; do echo "$$name: failed while other work ran" >>$(NOT_JUDGED); done; \
	[ $$status = 0 ] || { [ -n "$$names" ] && \
		[ "$$(grep -c '^test result: FAILED' target/live.txt)" = "$$(grep -c '^    `.*`$$' target/live.txt)" ]; }

judge:
	@[ -s $(NOT_JUDGED) ] || exit 0; \
	names=$$(sed -n 's/^\([a-z0-9_:]*live::[a-z0-9_:]*\): .*/\1/p' $(NOT_JUDGED) | sort -u); rm -f $(NOT_JUDGED); \
	[ -n "$$names" ] || exit 0; \
	echo "not judged while other work ran:" $$names; \
	$(CARGO) test --workspace --tests --no-fail-fast -- --exact $$names

computing:
	$(MAKE) others
	$(MAKE) doc

compiling:
	$(MAKE) lint
	$(MAKE) features
	$(MAKE) python

# TLS in place of null cryptography, and logs of noq: features that no other job compiles.
features:
	nice $(CARGO) test -p lasthop-quic --features qlog,tls --test qlog --test tls

# Installs missing tools on Debian as root; otherwise reports which tests will be skipped.
tools:
	@command -v $(CARGO) >/dev/null || { echo "make: the Rust toolchain is missing: https://rustup.rs"; exit 1; }
	@for part in fmt clippy; do \
		$(CARGO) $$part --version >/dev/null 2>&1 && continue; \
		component=$$part; [ $$part = fmt ] && component=rustfmt; \
		rustup component add $$component || { echo "make: cargo $$part is missing"; exit 1; }; \
	done
	@missing=""; \
	for one in $(PROGRAMS); do \
		command -v $${one%%:*} >/dev/null || missing="$$missing $${one##*:}"; \
	done; \
	for one in $(HEADERS); do \
		[ -e $${one%%:*} ] || missing="$$missing $${one##*:}"; \
	done; \
	if [ -n "$$missing" ] && command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
		export DEBIAN_FRONTEND=noninteractive; \
		apt-get update -qq || true; \
		for package in $$missing; do \
			apt-get install -y -qq --no-install-recommends $$package >/dev/null || true; \
		done; \
	fi; \
	if [ ! -e target/axe/axe.min.js ] && command -v npm >/dev/null; then \
		mkdir -p target/axe && (cd target/axe && npm pack --silent axe-core@$(AXE) >/dev/null && tar -xzf axe-core-*.tgz && cp package/axe.min.js .) \
			|| echo "make: axe-core is missing: the lab's accessibility is not checked"; \
	fi; \
	for one in $(PROGRAMS); do \
		command -v $${one%%:*} >/dev/null || echo "make: $${one%%:*} is missing: tests that need it are skipped"; \
	done

format:
	$(CARGO) fmt --all --check

lint: workflows
	docs/words/check
	nice $(CARGO) clippy --workspace --all-targets -- -D warnings

# Checks the workflows of .github, the scripts that they call, and the Containerfile. actionlint needs Go.
LINT_VENV = target/lint/venv
ACTIONLINT = github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
workflows: $(LINT_VENV)/installed
	$(LINT_VENV)/bin/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(LINT_VENV)/bin/zizmor --offline --quiet --no-progress .github/workflows
	$(LINT_VENV)/bin/shellcheck scripts/release .ci/run
	$(LINT_VENV)/bin/hadolint Containerfile
	@if [ -x target/lint/bin/actionlint ]; then target/lint/bin/actionlint -shellcheck $(LINT_VENV)/bin/shellcheck; \
		else echo "make: Go is missing: actionlint does not check the workflows"; fi

$(LINT_VENV)/installed: pyproject.toml
	$(PYTHON) -m venv --clear $(LINT_VENV)
	$(LINT_VENV)/bin/pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(LINT_VENV)/bin/pip install --quiet --disable-pip-version-check --group lint
	@! command -v go >/dev/null || GOBIN=$(CURDIR)/target/lint/bin go install $(ACTIONLINT)
	touch $@

# The tests run whole simulations, so the build is slightly optimised (see `profile.dev` in Cargo.toml).
unit:
	$(CARGO) test --workspace

# The three parts of `make unit`. Modules called `live` send real packets in real time and need little processor time.
# Modules called `quiet` need an idle machine. With LASTHOP_JUDGE=1, a test that is not judged fails.
live:
	$(CARGO) test --workspace --tests --no-fail-fast -- live::

others:
	nice $(CARGO) test --workspace -- --skip live:: --skip quiet::

quiet:
	$(CARGO) test --workspace --tests -- quiet::
	[ ! -x $(VENV)/bin/pytest ] || $(VENV)/bin/python -m pytest -m quiet

doc:
	RUSTDOCFLAGS="-D warnings" nice $(CARGO) doc --workspace --no-deps

# The Python package: builds a wheel (and the command), installs it into a separate environment and runs its tests
# there. Then runs every command and Python block of README and docs with this package and its command.
python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: Python 3.11 or later is missing"; exit 1; }
	@# On Debian, venv and pip need this package.
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { \
		command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] && \
		{ apt-get update -qq || true; } && apt-get install -y -qq --no-install-recommends python3-venv >/dev/null; \
	} || { echo "make: Python's venv is missing: apt install python3-venv"; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(VENV)/bin/pip install --quiet --group test
	rm -rf target/python/wheels
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" nice $(VENV)/bin/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir target/python/wheels .
	$(VENV)/bin/pip install --quiet --no-deps target/python/wheels/lasthop-*.whl
	$(VENV)/bin/auditwheel show target/python/wheels/lasthop-*.whl
	$(VENV)/bin/abi3audit --strict --summary target/python/wheels/lasthop-*.whl
	$(VENV)/bin/python -m pytest -m 'not quiet'
	nice docs/blocks/run

VENV = target/python/venv

# Builds the documentation site in target/site: offline, no warnings, no dead links. Needs target/release/lasthop, or
# another program in LASTHOP. Notebooks have outputs if `make python` has built the wheel.
SITE_VENV = target/docs/venv
SITE_WHEEL = $(firstword $(wildcard target/python/wheels/lasthop-*.whl))
site: $(SITE_VENV)/installed
	@[ -z "$(SITE_WHEEL)" ] || $(SITE_VENV)/bin/pip install --quiet --disable-pip-version-check --force-reinstall --no-deps $(SITE_WHEEL)
	@[ -z "$(SITE_WHEEL)" ] || $(SITE_VENV)/bin/pip install --quiet --disable-pip-version-check 'matplotlib>=3.8' 'pandas>=2.2'
	@[ -n "$(SITE_WHEEL)" ] || echo "make: notebooks are shown without outputs; run make python first"
	NOTEBOOKS=$(if $(SITE_WHEEL),force,off) $(SITE_VENV)/bin/python docs/site/build.py

$(SITE_VENV)/installed: pyproject.toml
	$(PYTHON) -m venv --clear $(SITE_VENV)
	$(SITE_VENV)/bin/pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(SITE_VENV)/bin/pip install --quiet --disable-pip-version-check --group docs
	touch $@

# Regenerates the extension's type stubs and the types of scenario keys.
stubs:
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" maturin generate-stubs --features stubs --out target/python/stubs
	cp target/python/stubs/lasthop/_lasthop.pyi python/lasthop/_lasthop.pyi
	$(VENV)/bin/python python/build/keys.py > target/python/keys.py
	mv target/python/keys.py python/lasthop/keys.py

# Rebuilds the page (crates/cli/lab.html, part of the program). Run this after a change of its content or computation.
# wasm-opt's last pass saves 20 KB beyond rustc's own optimiser.
WASM_FEATURES = bulk-memory multivalue mutable-globals nontrapping-float-to-int reference-types sign-ext
.PHONY: page
page:
	@command -v wasm-opt >/dev/null || { echo "make: wasm-opt is missing: apt install binaryen"; exit 1; }
	@rustup target list --installed 2>/dev/null | grep -q wasm32-unknown-unknown || rustup target add wasm32-unknown-unknown
	$(CARGO) rustc --package lasthop-page --lib --crate-type cdylib --profile page --target wasm32-unknown-unknown \
		-- --remap-path-prefix="$${CARGO_HOME:-$$HOME/.cargo}=cargo" --remap-path-prefix="$(CURDIR)=lasthop"
	wasm-opt -Oz -Oz $(WASM_FEATURES:%=--enable-%) target/wasm32-unknown-unknown/page/lasthop_page.wasm -o target/lasthop_page.wasm
	$(CARGO) run --quiet --package lasthop-page --example page -- target/lasthop_page.wasm crates/cli/lab.html

# Builds the agent's kernel program with Debian 12's clang. Run this after a change of crates/agent/bpf/window.c.
BPF_OBJECT ?= crates/agent/bpf/window.o
.PHONY: bpf
bpf:
	clang --target=bpf -O2 -g -Wall -Werror -fdebug-compilation-dir=. -idirafter /usr/include/$$(uname -m)-linux-gnu \
		-c crates/agent/bpf/window.c -o $(BPF_OBJECT)
	@# Keeps types (.BTF), which describe the maps; removes line numbers, which would change with every comment.
	llvm-strip --strip-unneeded -R .BTF.ext -R .rel.BTF.ext -R .llvm_addrsig $(BPF_OBJECT)

# Measures the page's time to a picture, and checks that its runs equal native runs bit for bit. Needs an idle machine.
.PHONY: page-times
page-times:
	$(CARGO) test --release -p lasthop --test lab -- --ignored --nocapture --test-threads=1

# Measures packets per CPU second and peak memory of fixed cases.
bench:
	$(CARGO) run --release -- bench

# Measures the same cases and updates the table of docs/development/performance/figures.md. Needs an idle machine.
measured:
	$(CARGO) run --quiet --release -- bench --format csv > target/bench.csv
	docs/speed-tables measured < target/bench.csv

# Counts instructions per data packet and its ACK, and compares them with the stored table (limit: 2 % growth per case).
count:
	$(CARGO) run --quiet --release -- bench --count --against docs/instructions.csv

# Updates the stored table of instructions. Explain growth in docs/development/performance/journal.md, in the same commit.
count-update:
	$(CARGO) run --quiet --release -- bench --count --format csv > target/instructions.csv
	mv target/instructions.csv docs/instructions.csv
	docs/speed-tables counted < docs/instructions.csv

# Builds the fastest program with profile-guided optimisation, trained by `bench`: target/fast/lasthop. Takes two
# release builds; the results are byte-identical.
HOST = $(shell rustc -vV | sed -n 's/^host: //p')
LLVM_PROFDATA = $(shell rustc --print sysroot)/lib/rustlib/$(HOST)/bin/llvm-profdata
TRAINED_BY = hasegawa koga3-sack koga4 dumbbell-1 dumbbell-10 dumbbell-100 dumbbell-1000 cubic-linux bbr3
.PHONY: fast
fast:
	@[ -x $(LLVM_PROFDATA) ] || rustup component add llvm-tools
	rm -rf target/fast/told
	RUSTFLAGS="-Cprofile-generate=$(CURDIR)/target/fast/told" $(CARGO) build --quiet --release --target $(HOST) --target-dir target/fast
	for case in $(TRAINED_BY); do target/fast/$(HOST)/release/lasthop bench --alone $$case --seconds 20 > /dev/null || exit 1; done
	$(LLVM_PROFDATA) merge -o target/fast/told.profdata target/fast/told
	RUSTFLAGS="-Cprofile-use=$(CURDIR)/target/fast/told.profdata" $(CARGO) build --quiet --release --target $(HOST) --target-dir target/fast
	cp target/fast/$(HOST)/release/lasthop target/fast/lasthop
	@echo "target/fast/lasthop"

# Tests of smoltcp's TCP as a stack (examples/smoltcp). Needs Rust 1.91.
smoltcp:
	CARGO_TARGET_DIR=$(CURDIR)/target $(CARGO) test --manifest-path examples/smoltcp/Cargo.toml

# Compares Lasthop, ns-2 and ns-3 for the tables of docs/development/performance/figures.md. Takes about ten minutes.
peers:
	@command -v ns >/dev/null || { echo "make: ns-2 is missing: apt install ns2"; exit 1; }
	@[ -e /usr/include/ns3/core-module.h ] || { echo "make: ns-3 is missing: apt install libns3-dev"; exit 1; }
	$(CARGO) build --quiet --release
	crosscheck/peers/run --write

# Measures how cost grows with flows, hops, window, loss and time, for docs/development/growth.md. Takes about thirty minutes.
growth:
	$(CARGO) build --quiet --release
	docs/growth/run

# Runs the papers' baselines in ns-2 and Lasthop (docs/development/validation/ns2.md). Takes about ten minutes on two cores.
crosscheck-ns2:
	@command -v ns >/dev/null || { echo "make: ns-2 is missing: apt install ns2"; exit 1; }
	$(CARGO) run --quiet --release -p lasthop-lab --example crosscheck-ns2

# Compares the simulator with real TCP over the same paths (docs/development/validation/real-tcp.md). Takes 2.5 hours; needs root.
crosscheck-kernel:
	$(CARGO) build --quiet --release
	crosscheck/kernel/run
