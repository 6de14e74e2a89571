# Verbs: build plugins run test check cross stage soak bench fuzz picture deb release. Each installs what it needs.

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
GO         ?= go
FUZZTIME   ?= 30s
BENCHTIME  ?= 1s
# The address of the daemon that make run starts is in companiond.toml.

MODULES := $(patsubst characters/%/main.go,characters/%,$(wildcard characters/*/main.go))
WASM    := $(foreach m,$(MODULES),$(m)/$(notdir $(m)).wasm)
SOURCES := $(shell find abi sdk/go characters -name '*.go' -not -name '*_test.go') $(wildcard characters/*/*.txt) go.mod

# Handlers of the house: one whose main calls process.Main is a program, one whose main is empty a file of
# WebAssembly. PLUGINS is where they are put: what modules.plugins says.
PLUGINS  = state/plugins
HANDLERS := $(wildcard plugins/*/main.go)
PROGRAMS := $(patsubst plugins/%/main.go,%,$(shell grep -lE '^(func main\(\) \{ |	)process\.Main\(\)' $(HANDLERS) /dev/null))
GUESTS   := $(patsubst plugins/%/main.go,%,$(shell grep -lE '^func main\(\) \{\}' $(HANDLERS) /dev/null))
NEITHER  := $(filter-out $(PROGRAMS:%=plugins/%/main.go) $(GUESTS:%=plugins/%/main.go),$(HANDLERS))
HANDLED  := $(shell find abi sdk/go plugins -type f -not -name '*_test.go') go.mod go.sum

# JavaScript runs in what npm has: it is built in where it could be installed, with the tag npm.
JS = host/module/js/npm
TAGS = $(shell test -f $(JS)/node_modules/.package-lock.json && echo -tags npm)

.PHONY: build plugins run test check cross stage soak bench fuzz picture deb release packages npm js clean

# The first build takes minutes, in which Go says nothing.
build: $(WASM) js
	@says=; build="$(GO) build -trimpath -buildvcs=auto $(TAGS) -o bin/companiond ./cmd/companiond"; echo "$$build"; \
	if [ ! -e bin/companiond ]; then \
	  echo "The first build: Go fetches the libraries and compiles them. That takes minutes, most of them SQLite's."; \
	  (s=0; while sleep 15 >/dev/null 2>&1; do s=$$((s+15)); echo "still building, $$s s"; done) & says=$$!; \
	fi; \
	$$build; code=$$?; [ -z "$$says" ] || kill $$says; exit $$code

js:
	@if command -v npm >/dev/null; then $(MAKE) -s $(JS)/node_modules/.package-lock.json || echo "npm packages could not be installed: this build has no JavaScript"; \
	else echo "npm is not installed: this build has no JavaScript"; fi

# A module is renamed into place, so that a running daemon never reads half of it.
%.wasm: $(SOURCES)
	GOOS=wasip1 GOARCH=wasm $(GO) -C $(@D) build -trimpath -buildvcs=false -buildmode=c-shared -ldflags='-s -w' -o $(@F).tmp .
	mv $@.tmp $@

plugins: $(PROGRAMS:%=$(PLUGINS)/%) $(GUESTS:%=$(PLUGINS)/%.wasm)
	@for f in $(NEITHER); do echo "$$f: its main is neither empty nor process.Main()"; exit 1; done

$(PROGRAMS:%=$(PLUGINS)/%): $(PLUGINS)/%: $(HANDLED)
	@mkdir -p $(@D)
	$(GO) -C plugins/$* build -trimpath -buildvcs=false -ldflags='-s -w' -o $(abspath $@).tmp .
	mv $@.tmp $@

$(GUESTS:%=$(PLUGINS)/%.wasm): $(PLUGINS)/%.wasm: $(HANDLED)
	@mkdir -p $(@D)
	GOOS=wasip1 GOARCH=wasm $(GO) -C plugins/$* build -trimpath -buildvcs=false -buildmode=c-shared -ldflags='-s -w' -o $(abspath $@).tmp .
	mv $@.tmp $@

run: build
	bin/companiond run

# Tests that the race detector skips, and their packages: the second line runs these.
CALM = $(shell grep -rl --include='*_test.go' '	waittest.WithoutRaces(t)' host cmd plugins | xargs awk -F'[ ()]' '/^func Test/ {name = $$2} /^\twaittest.WithoutRaces\(t\)/ {print name}' | sort -u | paste -sd '|' -)
CALM_PACKAGES = $(shell grep -rl --include='*_test.go' '	waittest.WithoutRaces(t)' host cmd plugins | xargs -n1 dirname | sort -u | sed 's|^|./|')

# With the race detector each process sleeps for a second at its end, if it is not told
# otherwise, and tests start hundreds.
test: packages build
	GORACE="atexit_sleep_ms=10 $$GORACE" $(GO) test -race -shuffle=on -timeout 30m $(TAGS) $(TESTFLAGS) ./...
	$(GO) test -shuffle=on -timeout 10m -parallel 4 -run '^($(CALM))$$' $(TAGS) $(TESTFLAGS) $(CALM_PACKAGES)
	$(GO) test -shuffle=on -timeout 10m -p 1 $(TAGS) $(TESTFLAGS) ./host/module/wasm ./characters
	@for d in host/testdata/agents host/testdata/agents7; do if [ -d $$d/node_modules ]; then npm test --silent --prefix $$d || exit 1; fi; done

# What tests use besides Go. Debian packages: wasm-validate, file systems to pull the plug of, what builds the examples in C and
# Rust, what reads manual pages and units, and what handlers are tested against: a voice, a chat, OBS on a screen of its own, and what hears the VMC protocol. From npm: agents
# and judges of the MCP door, a client of VTube Studio, and what JavaScript runs in. ngircd is for tests alone, and does not
# run as a service. Where something cannot be installed, its tests say that they were skipped.
packages: npm
	@$(call install,$(COMMANDS),$(DEBIAN))
	@if [ -d /run/systemd/system ] && [ "$$(id -u)" = 0 ]; then systemctl mask -q ngircd; fi
	@$(call install,$(STAGE_COMMANDS),$(STAGE))

# install, of commands that packages have, installs these where one is missing.
install = if (for c in $(1); do command -v $$c >/dev/null || exit 1; done); then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(2) >/dev/null; } || \
	  echo "$(2) could not be installed: some tests will be skipped"; \
	else echo "not all of $(2) is installed: some tests will be skipped"; fi

COMMANDS = wasm-validate mkfs.ext4 wasm-ld rustc mandoc systemd-analyze
DEBIAN = wabt e2fsprogs clang lld rustc libstd-rust-dev-wasm32 mandoc systemd
STAGE_COMMANDS = espeak-ng oscdump ngircd obs Xvfb chromium
STAGE = espeak-ng liblo-tools ngircd obs-studio obs-plugins xvfb fonts-noto-cjk chromium
NPM = $(JS) host/testdata/agents host/testdata/agents7 host/testdata/spec host/testdata/chat host/testdata/conversations host/door/mcp/testdata/conformance host/door/page/testdata/axe host/model/testdata/aimock host/model/testdata/tokenizers bench sdk/examples/assemblyscript sdk/examples/extism plugins/vts/studiotest/testdata/vtubestudio

npm:
	@if command -v npm >/dev/null; then \
	  $(MAKE) -sk $(NPM:%=%/node_modules/.package-lock.json) || echo "npm packages could not be installed: some tests will be skipped"; \
	else echo "npm is not installed: tests with clients on Node will be skipped"; fi

%/node_modules/.package-lock.json: %/package-lock.json
	npm ci --prefix $* --no-audit --no-fund --loglevel=error
	@touch $@

check:
	@out=$$(gofmt -l abi bench characters cmd dist host plugins sdk); if [ -n "$$out" ]; then echo "gofmt -w $$out"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	GOOS=wasip1 GOARCH=wasm $(GO) build ./abi ./sdk/go/... ./characters/...
	@for p in $(GUESTS); do GOOS=wasip1 GOARCH=wasm $(GO) -C plugins/$$p build -buildmode=c-shared -o /dev/null . || exit 1; done
	$(GO) test ./host ./cmd/companiond -run "Floors|Owners|Pure|PackageComments|Guests|Documents"

# All that is built for others than this system is looked through there, tests included. darwin/amd64 and linux/arm64 have no files
# of their own.
cross:
	GOOS=windows GOARCH=amd64 $(GO) vet $(TAGS) ./...
	GOOS=darwin GOARCH=arm64 $(GO) vet $(TAGS) ./...

stage: packages build bin/share bin/deb/$(shell $(GO) env GOARCH)
	@TAGS="$(TAGS)" GO=$(GO) .ci/stage

soak: build
	@TAGS="$(TAGS)" GO=$(GO) .ci/soak

# What others install. The same commit gives the same bytes: its time is that of all files. A commit without a tag is a version
# before all that have one.
EPOCH    = $(shell git log -1 --format=%ct)
VERSION ?= $(shell git describe --tags --exact-match 2>/dev/null | sed 's/^v//' | grep . || git log -1 --format=0.0.0~%cd.%h --date=format:%Y%m%d%H%M)
DEBS     = amd64 arm64
RELEASES = linux_amd64 linux_arm64 darwin_amd64 darwin_arm64 windows_amd64
FOR      = CGO_ENABLED=0 GOOS=$(word 1,$(subst _, ,$(1))) GOARCH=$(word 2,$(subst _, ,$(1))) $(GO) build -trimpath -buildvcs=false $(TAGS) -ldflags='-s -X github.com/companiond/companiond/cmd/companiond/built.release=$(VERSION)' -o $(2) ./cmd/companiond

# Pages for man and completions, which the program writes itself.
bin/share: FORCE
	@rm -rf $@ && mkdir -p $@/man1 $@/man5
	$(GO) build -trimpath -buildvcs=false $(TAGS) -ldflags='-X github.com/companiond/companiond/cmd/companiond/built.release=$(VERSION)' -o $@/companiond ./cmd/companiond
	SOURCE_DATE_EPOCH=$(EPOCH) $@/companiond man > $@/man1/companiond.1
	SOURCE_DATE_EPOCH=$(EPOCH) $@/companiond man companiond.toml > $@/man5/companiond.toml.5
	for s in bash zsh fish; do $@/companiond completion $$s > $@/companiond.$$s || exit 1; done
	gzip -n9k $@/man1/companiond.1 $@/man5/companiond.toml.5

deb: js bin/share $(DEBS:%=bin/deb/%)

bin/deb/%: FORCE
	@mkdir -p $@
	$(call FOR,linux_$*,$@/companiond)
	SOURCE_DATE_EPOCH=$(EPOCH) ARCH=$* VERSION=$(VERSION) $(GO) tool -modfile=dist/tools/go.mod nfpm package -f dist/deb/nfpm.yaml -p deb -t bin/companiond_$*.deb

release: js bin/share $(RELEASES:%=bin/release/%)
	cd bin && sha256sum companiond_*.tar.gz companiond_*.zip > SHA256SUMS

# Windows has a zip, which Explorer opens; Debian's package zip makes it.
bin/release/%: FORCE | bin/share
	@rm -rf $@ bin/companiond_$*.* && mkdir -p $@/companiond/share $@/companiond/characters
	$(call FOR,$*,$@/companiond/companiond$(if $(findstring windows,$*),.exe))
	@cp -r --parents companiond.toml README.md README.ja.md CHANGELOG.md CONTRIBUTING.md RATIONALE.md LICENSE docs abi/ABI.md $@/companiond
	@cp characters/*.talk.txt $@/companiond/characters
	@$(if $(findstring windows,$*),rmdir $@/companiond/share,cp bin/share/man?/*[15] bin/share/companiond.*sh $@/companiond/share)
	@find $@ -exec touch -h -d @$(EPOCH) {} + && chmod -R u+rwX,go+rX,go-w $@
	$(if $(findstring windows,$*),cd $@ && find companiond | LC_ALL=C sort | TZ=UTC zip -qX@ ../../companiond_$*.zip, \
	  tar --sort=name --owner=0 --group=0 --numeric-owner -C $@ -c companiond | gzip -n > bin/companiond_$*.tar.gz)

FORCE:

bench: build
	@BENCHTIME=$(BENCHTIME) GO=$(GO) bash .ci/bench

# The moving picture of the page in the READMEs, of a talk in a daemon that runs: URL=http://127.0.0.1:3000
picture:
	COMPANIOND_PICTURE=$(or $(URL),http://127.0.0.1:3000) $(GO) test ./host/door/page -run TestPicture -count=1

fuzz:
	@for p in $$($(GO) list ./...); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep ^Fuzz); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
	  done; \
	done

clean:
	rm -rf bin $(WASM)
