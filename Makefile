# SPDX-FileCopyrightText: The Fairway Authors
# SPDX-License-Identifier: Apache-2.0

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Where the programs of the test control plane are built and kept; see test/cluster/README.md.
export BIN ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/fairway/cluster

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -X main.version=$(VERSION)

# Packages whose tests need neither network nor privileges, and those whose tests drive real programs.
UNIT := ./cmd/... ./internal/... ./hack/... ./test/freeport
E2E = $(shell go list ./test/e2e/... 2>/dev/null | grep -v /test/e2e/cluster)

# More flags for the demo, such as --http-port 8081; `bin/demo -h` lists them.
DEMO ?=

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

# say prints what begins now and how long the target has run.
START := $(shell date +%s)
say = @printf '\n== %s [%ss]\n' "$(1)" "$$(( $$(date +%s) - $(START) ))"

# step says so too and runs a command; if it fails, what is printed ends with the step's name and the tests that failed.
step = $(say)$(newline)	@bin/step "$(1)" $(2)
define newline


endef

# check_format fails and lists the files that gofmt would change.
define check_format
unformatted="$$(git ls-files -co --exclude-standard '*.go' | while read -r f; do [ ! -e "$$f" ] || gofmt -l "$$f"; done)"; \
	if [ -n "$$unformatted" ]; then echo "not formatted (run gofmt -w):"; echo "$$unformatted"; exit 1; fi
endef

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/fairway.
	@mkdir -p bin
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/fairway ./cmd/fairway

IMAGE ?= fairway-ingress/fairway:$(VERSION)

.PHONY: image
image: ## Build the image IMAGE with docker.
	docker build --build-arg VERSION=$(VERSION) --tag $(IMAGE) .

.PHONY: demo
demo: runtime-packages build ## Try Fairway on this machine: nginx, sample backends and the manifests of examples/demo.
	@go build -o bin/demo ./hack/demo
	@exec bin/demo $(DEMO)

.PHONY: demo-cluster
demo-cluster: test-packages build cluster-programs ## The same with a real Kubernetes API server and kubectl. Needs root.
	@go build -o bin/demo ./hack/demo
	@exec bin/demo --cluster "$(BIN)" $(DEMO)

.PHONY: unit
unit: ## Fast tests for the inner loop: pure, no network, under a minute.
	go test -short $(UNIT)

.PHONY: test
test: test-packages ## Everything, as CI runs it. The control plane tests need root.
	@if [ "$$(id -u)" != 0 ]; then echo "note: not root; tests on the control plane need network namespaces and will be skipped"; fi
	@go build -o bin/step ./hack/step
	$(call say,format)
	@$(check_format)
	$(call step,go vet,go vet ./...)
	$(call step,staticcheck,go run $(STATICCHECK) ./...)
	$(call step,luacheck,luacheck --quiet internal/nginx/lua)
	$(call step,unit tests with golden cases and fuzz seeds under the race detector,go test -race -timeout 10m $(UNIT))
	$(call step,end to end through real nginx,go test -v -count=1 -timeout 20m $(E2E))
	$(call step,programs of the test control plane,test/cluster/build.sh)
	$(call step,vet of the test control plane,go vet -C test/cluster ./...)
	$(call step,tests of the test control plane,go test -C test/cluster -count=1 -timeout 10m ./...)
	$(call step,vet of the chart's tests,go vet -C test/chart ./...)
	$(call step,the chart and the image,go test -C test/chart -count=1 -timeout 10m ./...)
	$(call step,vet of the rules' tests,go vet -C test/rules ./...)
	$(call step,dashboard and alerts,go test -C test/rules -count=1 ./...)
	$(call step,end to end on a real control plane,go test -v -count=1 -p 1 -timeout 15m ./test/e2e/cluster/...)
	$(call say,all passed)

.PHONY: lint
lint: test-packages ## Static checks: gofmt, vet, staticcheck, luacheck, and golangci-lint where it is installed.
	@$(check_format)
	go vet ./...
	cd test/cluster && go vet ./...
	cd test/chart && go vet ./...
	go run $(STATICCHECK) ./...
	luacheck --quiet internal/nginx/lua
	@if command -v golangci-lint >/dev/null; then golangci-lint run ./...; else echo "golangci-lint is not installed, skipped"; fi

.PHONY: generate
generate: ## Write the reference docs and whatever else is generated.
	go generate ./...
	cd test/chart && go generate ./...

.PHONY: golden
golden: ## Rewrite the golden files; read the diff before you commit it.
	@packages="$$(git ls-files -co --exclude-standard 'cmd/*_test.go' 'internal/*_test.go' 'test/e2e/*_test.go' | \
			xargs grep -l 'flag.Bool("update"' | xargs -n1 dirname | sort -u | sed 's|^|./|')"; \
		echo $$packages; for p in $$packages; do go test -count=1 "$$p" -update; done
	@git --no-pager diff --stat

.PHONY: verify
verify: generate ## Generate, then demand that nothing changed.
	git diff --exit-code
	@new="$$(git ls-files -o --exclude-standard)"; if [ -n "$$new" ]; then echo "generated but not committed:"; echo "$$new"; exit 1; fi

.PHONY: bench
bench: bench-packages build cluster-programs ## All benchmarks; prints a table and writes JSON. Needs root.
	go run ./test/bench

.PHONY: bench-quick
bench-quick: bench-packages build cluster-programs ## The benchmarks in some 3 minutes.
	go run ./test/bench --quick

.PHONY: clean
clean: ## Remove what was built in this folder.
	rm -rf bin examples/demo/generated-*.yaml

# Not listed: they make sure that something is there, and cost nothing when it is.

.PHONY: runtime-packages test-packages bench-packages cluster-programs
runtime-packages:
	@hack/install-packages.sh --check runtime 2>/dev/null || hack/install-packages.sh runtime
test-packages:
	@hack/install-packages.sh --check runtime test 2>/dev/null || hack/install-packages.sh runtime test
bench-packages:
	@hack/install-packages.sh --check runtime test bench 2>/dev/null || hack/install-packages.sh runtime test bench
cluster-programs:
	@test/cluster/build.sh
