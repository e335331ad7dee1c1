# make demo   builds fevalgraph and runs the quickstart twice; the second run executes nothing
# make test   tests with real Python, uv, docker and go-judge; installs tools below .tools/
# make engines  all other tests: Buildbarn, SkyPilot, bazel-remote, browser, editors, releases,
#             other systems, and long sizes
# make check  formatting, vet, staticcheck, unit tests; needs only Go
# make web    rebuilds the report page after a change in report/page/web
# make install  builds fevalgraph and installs it in PREFIX/bin, by default ~/.local/bin
# make charts  redraws README's charts after a change in bench/charts/figures.json
# make release  builds, checks and publishes the release artifacts (CONTRIBUTING.md)
# make dist   builds the release artifacts for all platforms into dist/
# make dist-check  builds and installs the artifacts for this machine, and runs the demo with them
# make attack  judges hostile solutions and prints a table; part of test
# make stale  all staleness scripts with the real uv
# make pages  consoles of docs/ with the real uv, and reports in a browser
# make skypilot  clusters of a real SkyPilot on a real Slurm
# make buildbarn  actions on a real Buildbarn
# make differential  compares incremental runs of SEEDS random projects with clean ones, STEPS times each
# make simulate  checks intervals and p values of compare on thousands of random data sets
# make soak   kills processes during runs in containers, ROUNDS times
# make soak-batch   kills a batch of PAIRS pairs ten times; part of soak
# make soak-skypilot   kills processes during runs on its clusters, ROUNDS times
# make soak-buildbarn   kills and stops Buildbarn's daemons during runs, ROUNDS times
# make soak-store   injects disk errors into runs, SEEDS times, runs 8 processes on one store for HAMMER,
#             flips bits, and collects BLOBS blobs
# make soak-differential  differential with other seeds, starting at FIRST; part of soak
# make fuzz   fuzzes every decoder for TIME each and saves new inputs
# make docker-up, docker-down   starts and stops a private docker daemon with the images of the tests

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build

GO        ?= go
TOOLS     := $(CURDIR)/.tools
UV_DIR    := $(TOOLS)/uv
UV        := $(UV_DIR)/bin/uv
STATIC    := $(TOOLS)/bin/staticcheck
GOJUDGE   := $(TOOLS)/bin/go-judge
BAZELREMOTE := $(TOOLS)/bin/bazel-remote
DOCKER    := $(TOOLS)/docker
# TestDockerKilled kills this daemon.
KILLED_DOCKER := $(TOOLS)/docker-killed
SKYPILOT  := $(TOOLS)/skypilot
BUILDBARN := $(TOOLS)/buildbarn
ESBUILD   := $(TOOLS)/bin/esbuild
BIN       := $(CURDIR)/bin/fevalgraph
# These uv and uvx take precedence over other installations.
TOOL_PATH := $(UV_DIR)/bin:$(PATH)

# A package index can be slow, or fail for a while.
export UV_HTTP_TIMEOUT ?= 180
export UV_HTTP_CONNECT_TIMEOUT ?= 60
export UV_HTTP_RETRIES ?= 8

# Packages whose tests use real programs in make test. UNIT_ONLY are tests that use none, so unit has run them.
REAL_PACKAGES := ./cmd/fevalgraph ./examples ./backend ./backend/docker ./backend/gojudge ./tasks ./tasks/separate
UNIT_ONLY := ^(TestBad|TestCommand|TestEveryCommandHasScript|TestKilled|TestKilledLeavesOrphans|TestBatchKilled|TestInterrupted|TestTwoAtOnce|TestDifferential|TestBehindLinks|TestPatternIsFileName|TestConfigurationOverFiles|TestChangedDuringRun|TestStoresInTurn|TestImagesInTurn|TestRecordsAreWhole|TestAddressesApart|TestProjectsApart|TestCI|TestCIFilesFit)$$
# Tests of make engines.
ENGINE_TESTS := ^(TestSkyPilot.*|TestBuildbarn.*|TestBazelRemote|TestNeovim|TestVSCode)$$
# Staleness is decided before nodes run, so the real uv makes no difference to scripts of these subjects.
STALE_UNIT_ONLY := ^TestStale$$/^(checkout|command|judge|layout|named|pass|pool|retry|source|suite)_

# Packages with concurrency. make engines tests more of them, at long sizes.
RACED := ./graph ./cache ./cache/remote/... ./reapi ./eval ./eval/history ./eval/partition ./eval/wake ./backend/worker/... ./backend/remote
RACED_LONG := ./graph/... ./cache/... ./reapi/... ./eval/... ./backend/... ./event/... ./view/... ./internal/lsp

.PHONY: build install charts release demo test engines check fmt modules vet vet-foreign staticcheck unit race race-long real attack stale pages bazelremote editors differential differential-long simulate skypilot buildbarn dist dist-check soak soak-batch soak-skypilot soak-buildbarn soak-store soak-differential fuzz clean tools browser web vscode docker-up docker-down

ifdef BUILT # set for the steps of test and engines: otherwise make would begin later steps while the first ones wait for these
build modules: ;
else
# Without C libraries, since the program is also copied to clusters (docs/backends/skypilot.md).
build: modules
	CGO_ENABLED=0 $(GO) build -o $(BIN) ./cmd/fevalgraph
	CGO_ENABLED=0 GOOS=linux $(GO) build -ldflags='-s -w' -o $(BIN)-worker ./cmd/fevalgraph/fevalgraph-worker

# go list downloads dependencies.
modules:
	@scripts/retry $(GO) list -deps -test ./... >/dev/null
	@scripts/retry $(GO) -C bench list -deps -test ./... >/dev/null
	@scripts/retry $(GO) -C tools/dist list -deps -test ./... >/dev/null
endif

PREFIX ?= $(HOME)/.local
install:
	CGO_ENABLED=0 scripts/retry $(GO) build -o $(BIN) ./cmd/fevalgraph
	install -d $(DESTDIR)$(PREFIX)/bin
	install $(BIN) $(DESTDIR)$(PREFIX)/bin/fevalgraph
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; *) echo "add $(PREFIX)/bin to PATH" ;; esac

charts:
	$(GO) run -C bench ./charts

tools: $(UV) $(STATIC) $(GOJUDGE) $(BAZELREMOTE) $(BUILDBARN)/bb_worker $(ESBUILD) browser neovim

$(UV): scripts/uv-requirements.txt
	scripts/install-uv $(UV_DIR)

$(STATIC): tools/go.mod tools/go.sum
	GOBIN=$(TOOLS)/bin scripts/retry $(GO) -C tools install honnef.co/go/tools/cmd/staticcheck

$(GOJUDGE): tools/gojudge/go.mod tools/gojudge/go.sum
	GOBIN=$(TOOLS)/bin scripts/retry $(GO) -C tools/gojudge install -tags seccomp github.com/criyle/go-judge/cmd/go-judge

$(BAZELREMOTE): tools/bazelremote/go.mod tools/bazelremote/go.sum
	GOBIN=$(TOOLS)/bin scripts/retry $(GO) -C tools/bazelremote install github.com/buchgr/bazel-remote/v2

$(ESBUILD): tools/esbuild/go.mod tools/esbuild/go.sum
	GOBIN=$(TOOLS)/bin scripts/retry $(GO) -C tools/esbuild install github.com/evanw/esbuild/cmd/esbuild

# Tests and builds the report page.
browser:
	scripts/apt-install chromium=chromium node=nodejs npm=npm

# Tests the language server.
neovim:
	scripts/apt-install nvim=neovim

# Packages the VS Code extension.
vscode: $(ESBUILD) browser
	@mkdir -p bin && touch bin/fevalgraph.vsix
	scripts/build-vscode $(ESBUILD) bin/fevalgraph.vsix

# The result is committed.
web: $(ESBUILD) browser
	scripts/build-web $(ESBUILD) report/page/dist

# Builds four programs, this one last.
$(BUILDBARN)/bb_worker: tools/buildbarn/build tools/buildbarn/go.mod tools/buildbarn/go.sum
	scripts/retry tools/buildbarn/build $(BUILDBARN)

demo: build $(UV)
	PATH="$(TOOL_PATH)" scripts/demo $(BIN)

# Three steps run at once, since some wait for daemons and downloads; the longest come first. scripts/test-times
# measures them one by one.
TEST := real fmt vet staticcheck unit race differential
ENGINES := skypilot differential-long race-long stale pages vet-foreign dist-check buildbarn editors bazelremote

test: build $(UV) $(GOJUDGE)
	@$(MAKE) --no-print-directory -j 3 BUILT=yes $(TEST)
	@echo "all tests passed"

engines: build $(UV) $(GOJUDGE)
	@$(MAKE) --no-print-directory -j 3 BUILT=yes $(ENGINES)
	@echo "all tests of engines passed"

check: fmt vet staticcheck unit

dist: modules
	scripts/dist dist

release: modules
	scripts/release

dist-check: modules $(UV)
	scripts/dist $(TOOLS)/dist linux/$$($(GO) env GOHOSTARCH)
	scripts/dist-check $(TOOLS)/dist $(UV_DIR)

fmt:
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "not formatted: $$out"; exit 1; fi

# bench and tools/dist are separate modules: a new import here can leave their go.mod out of date.
vet: modules
	$(GO) vet ./...
	$(GO) -C bench vet ./...
	$(GO) -C tools/dist vet ./...

vet-foreign: modules
	GOOS=windows scripts/retry $(GO) list -deps -test ./... >/dev/null
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...

# bench is a separate module.
staticcheck: $(STATIC) modules
	$(STATIC) ./...
	cd bench && $(STATIC) ./...

# Runs `go test ./...` at long sizes.
unit: modules
	FEVALGRAPH_TEST_LONG=1 $(GO) test -timeout 60m ./...
	$(GO) -C bench test -timeout 60m ./...

# TMPDIR keeps unit tests from creating files in memory (internal/testkit/ramdir).
race: modules
	TMPDIR=$${TMPDIR:-/tmp} $(GO) test -race -timeout 60m $(RACED)

race-long: modules
	FEVALGRAPH_TEST_LONG=1 TMPDIR=$${TMPDIR:-/tmp} $(GO) test -race -timeout 60m $(RACED_LONG)

# With these variables, and FEVALGRAPH_TEST_DOCKER from with-docker, no test may skip.
WITH_REAL := PATH="$(TOOL_PATH)" UV=$(UV) FEVALGRAPH_TEST_REAL=1 FEVALGRAPH_TEST_GOJUDGE=$(GOJUDGE)

# Tests with Python, uv, a docker daemon and go-judge. The daemons end with it, even if it is interrupted.
real: build $(UV) $(GOJUDGE)
	@scripts/apt-install strace=strace
	$(WITH_REAL) FEVALGRAPH_TEST_SOAK_DAEMON=$(KILLED_DOCKER) \
	scripts/with-docker $(DOCKER) $(GO) test -count=1 -p 4 -timeout 60m -skip '$(UNIT_ONLY)|$(ENGINE_TESTS)' $(REAL_PACKAGES)

# Staleness scripts with the real uv; real runs one for each kind of task.
stale: build $(UV)
	$(WITH_REAL) FEVALGRAPH_TEST_LONG=1 $(GO) test -count=1 -timeout 60m -run '^TestStale$$' -skip '$(STALE_UNIT_ONLY)' ./cmd/fevalgraph

# Consoles of docs/, and reports in a browser.
pages: build $(UV) $(ESBUILD) browser
	$(WITH_REAL) FEVALGRAPH_TEST_ESBUILD=$(ESBUILD) $(GO) test -count=1 -timeout 60m ./docs ./report/page

# The language server in Neovim, and the VS Code extension.
editors: build $(ESBUILD) browser neovim
	$(WITH_REAL) FEVALGRAPH_TEST_ESBUILD=$(ESBUILD) $(GO) test -count=1 -timeout 30m -run '^(TestNeovim|TestVSCode)$$' ./cmd/fevalgraph

bazelremote: build $(BAZELREMOTE)
	$(WITH_REAL) FEVALGRAPH_TEST_BAZEL_REMOTE=$(BAZELREMOTE) $(GO) test -count=1 -timeout 30m -run '^TestBazelRemote$$' ./cmd/fevalgraph

# Judges hostile solutions and prints a table of their verdicts; part of real.
attack: build $(UV) $(GOJUDGE)
	$(WITH_REAL) \
	scripts/with-docker $(DOCKER) $(GO) test -count=1 -timeout 60m -v -run '^(TestAttacks|TestImportedAttacks|TestCrowded|TestTerminalAttacks|TestActs|TestMarks|TestAsUser|TestHomeInPath)$$' ./cmd/fevalgraph ./backend/local ./backend/gojudge

# Edits and disturbs random projects: each run must show the results of a clean one, and execute what was planned. A
# failure prints how to repeat its seed.
differential: SEEDS ?= 4
differential: STEPS ?= 25
differential: modules
	FEVALGRAPH_TEST_DIFF_SEEDS=$(SEEDS) FEVALGRAPH_TEST_DIFF_STEPS=$(STEPS) $(GO) test -count=1 -timeout 0 -run '^TestDifferential$$' ./cmd/fevalgraph

# With other seeds than differential.
differential-long:
	$(MAKE) --no-print-directory soak-differential FIRST=100 SEEDS=20 STEPS=25

# Checks intervals and p values on thousands of random data sets with fixed seeds, so only a change of the package
# changes the result. unit runs a small one.
simulate: modules
	FEVALGRAPH_TEST_SIMULATE=1 $(GO) test -count=1 -timeout 30m -run '^TestSimulatedLong$$' ./verdict/statistics

# Tests with SkyPilot and Slurm, which it starts and stops.
skypilot: build $(UV) $(GOJUDGE)
	$(WITH_REAL) \
	scripts/with-skypilot $(SKYPILOT) $(GO) test -count=1 -timeout 30m -run '^TestSkyPilot$$' ./cmd/fevalgraph

# Tests with Buildbarn, which it starts and stops.
buildbarn: build $(UV) $(GOJUDGE) $(BUILDBARN)/bb_worker
	$(WITH_REAL) \
	scripts/with-buildbarn $(TOOLS)/buildbarn-cluster $(GO) test -count=1 -p 1 -timeout 30m -run '^TestBuildbarn' ./reapi ./backend/remote ./cmd/fevalgraph

# SEED, which a run prints, repeats its rounds.
soak: ROUNDS ?= 100
soak: SEED ?=
soak: $(UV) soak-store soak-batch soak-differential
	PATH="$(TOOL_PATH)" UV=$(UV) FEVALGRAPH_TEST_SOAK=$(ROUNDS) FEVALGRAPH_TEST_SOAK_SEED=$(SEED) FEVALGRAPH_TEST_SOAK_DAEMON=$(KILLED_DOCKER) \
	$(GO) test -count=1 -timeout 0 -v -run '^(TestDockerKilled|TestKilled)$$' ./cmd/fevalgraph

soak-batch: PAIRS ?= 5000
soak-batch:
	FEVALGRAPH_TEST_BATCH=$(PAIRS) $(GO) test -count=1 -timeout 0 -v -run '^TestBatch' ./cmd/fevalgraph

# soak for runs on clusters; not part of it, as a round takes at least half a minute.
soak-skypilot: ROUNDS ?= 20
soak-skypilot: SEED ?=
soak-skypilot: $(UV) $(GOJUDGE)
	PATH="$(TOOL_PATH)" UV=$(UV) FEVALGRAPH_TEST_SOAK=$(ROUNDS) FEVALGRAPH_TEST_SOAK_SEED=$(SEED) FEVALGRAPH_TEST_GOJUDGE=$(GOJUDGE) \
	scripts/with-skypilot $(SKYPILOT) $(GO) test -count=1 -timeout 0 -v -run '^TestSkyPilot(SetUp|Killed)$$' ./cmd/fevalgraph

# soak for runs on Buildbarn; not part of it, as a round takes at least 10 s.
soak-buildbarn: ROUNDS ?= 20
soak-buildbarn: SEED ?=
soak-buildbarn: $(BUILDBARN)/bb_worker
	FEVALGRAPH_TEST_REAL=1 FEVALGRAPH_TEST_SOAK=$(ROUNDS) FEVALGRAPH_TEST_SOAK_SEED=$(SEED) \
	scripts/with-buildbarn $(TOOLS)/buildbarn-cluster $(GO) test -count=1 -timeout 0 -v -run '^TestBuildbarnKilled$$' ./cmd/fevalgraph

# With seeds starting at FIRST, other than those of test.
soak-differential: SEEDS ?= 100
soak-differential: STEPS ?= 100
soak-differential: FIRST ?= 1000
soak-differential: modules
	FEVALGRAPH_TEST_DIFF_FIRST=$(FIRST) FEVALGRAPH_TEST_DIFF_SEEDS=$(SEEDS) FEVALGRAPH_TEST_DIFF_STEPS=$(STEPS) $(GO) test -count=1 -timeout 0 -run '^TestDifferential$$' ./cmd/fevalgraph

# Tests the store's integrity with many seeds. A failure prints how to repeat its seed.
soak-store: SEEDS ?= 10000
soak-store: HAMMER ?= 5m
soak-store: FLIPS ?= 4
soak-store: BLOBS ?= 1000000
soak-store:
	TMPDIR=$${TMPDIR:-/tmp} FEVALGRAPH_TEST_FAULT_SEEDS=$(SEEDS) $(GO) test -count=1 -timeout 0 -v -run '^TestResumedAfterFaults$$' ./graph
	TMPDIR=$${TMPDIR:-/tmp} FEVALGRAPH_TEST_HAMMER=$(HAMMER) FEVALGRAPH_TEST_BLOBS=$(BLOBS) $(GO) test -count=1 -timeout 0 -v -run '^(TestProcessesShareStore|TestManyBlobs)$$' ./cache
	TMPDIR=$${TMPDIR:-/tmp} FEVALGRAPH_TEST_LONG=1 FEVALGRAPH_TEST_FLIPS=$(FLIPS) $(GO) test -count=1 -timeout 0 -v -run '^TestBitFlips$$' ./cmd/fevalgraph

# Fuzzes all decoders, or those whose "./package FuzzName" matches ONLY.
fuzz: TIME ?= 10m
fuzz: ONLY ?=
fuzz:
	scripts/fuzz $(TIME) '$(ONLY)'

# For running docker tests of a package by hand.
docker-up: $(UV)
	@host=$$(scripts/docker-daemon start $(DOCKER)) && \
	DOCKER_HOST=$$host UV=$(UV) scripts/make-images && \
	echo "export DOCKER_HOST=$$host FEVALGRAPH_TEST_DOCKER=1"

docker-down:
	scripts/docker-daemon stop $(DOCKER)

clean:
	for dir in $(DOCKER) $(KILLED_DOCKER); do if [ -e $$dir ]; then scripts/docker-daemon remove $$dir; fi; done
	if [ -e $(TOOLS)/buildbarn-cluster ]; then scripts/buildbarn stop $(TOOLS)/buildbarn-cluster; fi
	rm -rf bin .tools
