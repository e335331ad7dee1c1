# make demo   builds fevalgraph and runs the quickstart twice; the second run executes nothing
# make test   what a change must pass: checks, unit tests, race, and each mechanism once with the real uv, docker and
#             go-judge; installs tools below .tools/
# make test-all  everything else: all attacks and all of docker, long sizes, Buildbarn, SkyPilot, bazel-remote, browser,
#             editors, releases, other systems
# make check  formatting, vet, staticcheck, unit tests; needs only Go
# make web    rebuilds the report page after a change in report/page/web
# make install  builds fevalgraph and installs it in PREFIX/bin, by default ~/.local/bin
# make charts  redraws README's charts after a change in bench/charts/figures.json
# make release  builds, checks and publishes the release artifacts (CONTRIBUTING.md)
# make dist   builds the release artifacts for all platforms into dist/
# make dist-check  builds and installs the artifacts for this machine, and runs the demo with them
# make attacks  judges all hostile solutions on all backends
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
#
# ONLY="-run '^TestCommand$/^run$' ./cmd/fevalgraph" make unit runs one test of a step.

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

# Go's test cache replays tests whose package, files and variables are unchanged. Two packages, each with four tests,
# run at a time: tests wait more than they work. vet runs as a step, so go test need not.
GO_TEST := scripts/go-test
TEST_FLAGS := -vet=off -p 2 -parallel 4 -timeout 60m

# Packages with concurrency, which unit leaves to race. race-long has more of them, at long sizes.
RACED := ./graph ./cache ./backend/local ./backend/worker
# Those without tests of real programs, at long sizes; whole has the others.
RACED_LONG := ./graph/... ./cache/... ./reapi/... ./eval/... ./backend/lightcp/... ./backend/remote/... ./backend/skypilot/... ./backend/worker/... ./event/... ./view/... ./internal/lsp

# The tests of make test with real programs: one project for each kind of problem, and a sample of attacks.
SAMPLE := ^(TestQuickstartRuns|TestResearchRuns|TestJudgeRuns|TestDockerRuns|TestHarborRuns|TestTaskRuns|TestAttacks)$$
SAMPLE_PACKAGES := ./examples ./cmd/fevalgraph
ATTACKS := ^(TestAttacks|TestImportedAttacks|TestCrowded)$$
# Tests of other steps.
ENGINE_TESTS := ^(TestSkyPilot.*|TestBuildbarn.*|TestBazelRemote|TestNeovim|TestVSCode|TestDifferential)$$
# Packages of race-long, and those of pages.
WHOLE_SKIPS := /(graph|cache|reapi|eval|event|view|internal/lsp|backend/worker|backend/remote|backend/skypilot|backend/lightcp)(/|$$)|/(docs|report/page)$$

.PHONY: build install charts release demo test test-all check fmt modules other-modules vet vet-foreign staticcheck unit race race-long prepare real whole bench attacks pages bazelremote editors differential differential-long simulate skypilot buildbarn dist dist-check soak soak-batch soak-skypilot soak-buildbarn soak-store soak-differential fuzz clean tools browser web vscode docker-up docker-down

# As the program is copied to machines and clusters, it is built, and tested, without C libraries.
export CGO_ENABLED ?= 0

build: modules
	$(GO) build -o $(BIN) ./cmd/fevalgraph
	GOOS=linux $(GO) build -ldflags='-s -w' -o $(BIN)-worker ./cmd/fevalgraph/fevalgraph-worker

ifdef FEVALGRAPH_STEPS # modules was the first step
modules: ;
else
# go list downloads dependencies.
modules:
	@scripts/retry $(GO) list -deps -test ./... >/dev/null
endif

# bench and tools/dist are separate modules: a new import in this one can leave their go.mod out of date.
other-modules: modules
	@scripts/retry $(GO) -C bench list -deps -test ./... >/dev/null
	@scripts/retry $(GO) -C tools/dist list -deps -test ./... >/dev/null

PREFIX ?= $(HOME)/.local
install:
	scripts/retry $(GO) build -o $(BIN) ./cmd/fevalgraph
	install -d $(DESTDIR)$(PREFIX)/bin
	install $(BIN) $(DESTDIR)$(PREFIX)/bin/fevalgraph
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; *) echo "add $(PREFIX)/bin to PATH" ;; esac

charts:
	$(GO) run -C bench ./charts

tools: $(UV) $(STATIC) $(GOJUDGE) $(BAZELREMOTE) $(BUILDBARN)/bb_worker $(ESBUILD) browser neovim

$(UV): scripts/uv-requirements.txt
	scripts/install-uv $(UV_DIR)

$(STATIC): tools/go.mod tools/go.sum
	GOBIN=$(TOOLS)/bin scripts/retry env -u CGO_ENABLED $(GO) -C tools install honnef.co/go/tools/cmd/staticcheck

$(GOJUDGE): tools/gojudge/go.mod tools/gojudge/go.sum
	GOBIN=$(TOOLS)/bin scripts/retry env -u CGO_ENABLED $(GO) -C tools/gojudge install -tags seccomp github.com/criyle/go-judge/cmd/go-judge

$(BAZELREMOTE): tools/bazelremote/go.mod tools/bazelremote/go.sum
	GOBIN=$(TOOLS)/bin scripts/retry env -u CGO_ENABLED $(GO) -C tools/bazelremote install github.com/buchgr/bazel-remote/v2

$(ESBUILD): tools/esbuild/go.mod tools/esbuild/go.sum
	GOBIN=$(TOOLS)/bin scripts/retry env -u CGO_ENABLED $(GO) -C tools/esbuild install github.com/evanw/esbuild/cmd/esbuild

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
	scripts/retry env -u CGO_ENABLED tools/buildbarn/build $(BUILDBARN)

demo: build $(UV)
	PATH="$(TOOL_PATH)" scripts/demo $(BIN)

test: modules
	@scripts/run-steps +prepare fmt vet staticcheck unit race differential prepare real

# Clusters and engines mostly wait, so they run beside other steps.
test-all: other-modules
	@scripts/run-steps vet-foreign prepare +skypilot whole skypilot +buildbarn race-long buildbarn attacks differential-long pages bench editors bazelremote dist-check

# What real programs need, so that it can be made beside other steps.
prepare: build $(UV) $(GOJUDGE)
	@UV=$(UV) scripts/with-docker $(DOCKER) true

check: fmt vet staticcheck unit

dist: other-modules
	scripts/dist dist

release: other-modules
	scripts/release

dist-check: other-modules $(UV)
	scripts/dist $(TOOLS)/dist linux/$$($(GO) env GOHOSTARCH)
	scripts/dist-check $(TOOLS)/dist $(UV_DIR)

fmt:
	@out=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$out" ]; then echo "not formatted: $$out"; exit 1; fi

vet: modules
	$(GO) vet ./...

# Other modules and other systems.
vet-foreign: other-modules $(STATIC)
	$(GO) -C bench vet ./...
	cd bench && $(STATIC) ./...
	$(GO) -C tools/dist vet ./...
	GOOS=windows scripts/retry $(GO) list -deps -test ./... >/dev/null
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...

staticcheck: $(STATIC) modules
	$(STATIC) ./...

# go test ./..., but for the packages of race.
unit: modules
	$(GO_TEST) unit $(TEST_FLAGS) -- $$($(GO) list ./... | grep -vxF "$$($(GO) list $(RACED))")

# TMPDIR keeps unit tests from creating files in memory (internal/testkit/ramdir). The detector needs C.
race: modules
	CGO_ENABLED=1 TMPDIR=$${TMPDIR:-/tmp} $(GO_TEST) race -race $(TEST_FLAGS) -- $(RACED)

race-long: modules
	FEVALGRAPH_TEST_LONG=1 CGO_ENABLED=1 TMPDIR=$${TMPDIR:-/tmp} $(GO_TEST) race-long -race $(TEST_FLAGS) -- $(RACED_LONG)

# With these variables, and FEVALGRAPH_TEST_DOCKER from with-docker, no test may skip. Their values name the versions
# of programs, so that the test cache knows them.
WITH_REAL = PATH="$(TOOL_PATH)" UV=$(UV) FEVALGRAPH_TEST_GOJUDGE=$(GOJUDGE) \
	FEVALGRAPH_TEST_REAL="$$($(UV) --version), $$(python3 --version), go-judge $$(sha256sum <$(GOJUDGE) | head -c 16)"

# Tests with Python, uv, a docker daemon and go-judge. The daemons end with it, even if it is interrupted.
real: build $(UV) $(GOJUDGE)
	@$(WITH_REAL) scripts/with-docker $(DOCKER) $(GO_TEST) real $(TEST_FLAGS) -p 1 -- -run '$(SAMPLE)' $(SAMPLE_PACKAGES)

# All tests at long sizes, with real programs.
whole: build $(UV) $(GOJUDGE)
	@scripts/apt-install strace=strace
	@$(WITH_REAL) FEVALGRAPH_TEST_LONG=1 FEVALGRAPH_TEST_SOAK_DAEMON=$(KILLED_DOCKER) scripts/with-docker $(DOCKER) \
	$(GO_TEST) whole $(TEST_FLAGS) -- -skip '$(ATTACKS)|$(ENGINE_TESTS)' $$($(GO) list ./... | grep -vE '$(WHOLE_SKIPS)')

# The module of benchmarks.
bench: other-modules
	$(GO_TEST) bench -C bench $(TEST_FLAGS) -- ./...

# Judges hostile solutions; with -v it prints a table of their verdicts.
attacks: build $(UV) $(GOJUDGE)
	@$(WITH_REAL) FEVALGRAPH_TEST_LONG=1 scripts/with-docker $(DOCKER) $(GO_TEST) attacks $(TEST_FLAGS) -- -run '$(ATTACKS)' ./cmd/fevalgraph

# Consoles of docs/, and reports in a browser.
pages: build $(UV) $(GOJUDGE) $(ESBUILD) browser
	@$(WITH_REAL) FEVALGRAPH_TEST_ESBUILD=$(ESBUILD) $(GO_TEST) pages $(TEST_FLAGS) -count=1 -- ./docs ./report/page

# The language server in Neovim, and the VS Code extension. Go's test cache does not see what other programs read.
editors: build $(GOJUDGE) $(ESBUILD) browser neovim
	@$(WITH_REAL) FEVALGRAPH_TEST_ESBUILD=$(ESBUILD) $(GO_TEST) editors $(TEST_FLAGS) -count=1 -- -run '^(TestNeovim|TestVSCode)$$' ./cmd/fevalgraph

bazelremote: build $(GOJUDGE) $(BAZELREMOTE)
	@$(WITH_REAL) FEVALGRAPH_TEST_BAZEL_REMOTE=$(BAZELREMOTE) $(GO_TEST) bazelremote $(TEST_FLAGS) -- -run '^TestBazelRemote$$' ./cmd/fevalgraph

# Edits and disturbs random projects: each run must show the results of a clean one, and execute what was planned. A
# failure prints how to repeat its seed.
differential: SEEDS ?= 4
differential: STEPS ?= 25
differential: modules
	FEVALGRAPH_TEST_DIFF_SEEDS=$(SEEDS) FEVALGRAPH_TEST_DIFF_STEPS=$(STEPS) $(GO_TEST) differential $(TEST_FLAGS) -- -run '^TestDifferential$$' ./cmd/fevalgraph

# With other seeds than differential.
differential-long:
	FEVALGRAPH_TEST_DIFF_FIRST=100 FEVALGRAPH_TEST_DIFF_SEEDS=12 FEVALGRAPH_TEST_DIFF_STEPS=25 $(GO_TEST) differential-long $(TEST_FLAGS) -- -run '^TestDifferential$$' ./cmd/fevalgraph

# Checks intervals and p values on thousands of random data sets with fixed seeds, so only a change of the package
# changes the result. unit runs a small one.
simulate: modules
	FEVALGRAPH_TEST_SIMULATE=1 $(GO) test -count=1 -timeout 30m -run '^TestSimulatedLong$$' ./verdict/statistics

# Tests with SkyPilot and Slurm, which it starts and stops.
skypilot: build $(UV) $(GOJUDGE)
	@$(WITH_REAL) \
	scripts/with-skypilot $(SKYPILOT) $(GO_TEST) skypilot $(TEST_FLAGS) -count=1 -- -run '^TestSkyPilot$$' ./cmd/fevalgraph

# Tests with Buildbarn, which it starts and stops.
buildbarn: build $(UV) $(GOJUDGE) $(BUILDBARN)/bb_worker
	@$(WITH_REAL) \
	scripts/with-buildbarn $(TOOLS)/buildbarn-cluster $(GO_TEST) buildbarn $(TEST_FLAGS) -count=1 -p 1 -- -run '^TestBuildbarn' ./reapi ./backend/remote ./cmd/fevalgraph

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

# Fuzzes all decoders, or those whose "./package FuzzName" matches MATCH.
fuzz: TIME ?= 10m
fuzz: MATCH ?=
fuzz:
	scripts/fuzz $(TIME) '$(MATCH)'

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
