# Everything a contributor types. `make help` lists the targets.
#
# Needs Go, make and a POSIX shell. All other tools are Go modules, pinned in test/tools and built into bin/tools.

SHELL = /bin/sh
.DEFAULT_GOAL = help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

GO ?= go
# What the operator reports about itself. Before the first tag, and outside of git, it keeps its own words.
VERSION ?= $(shell git describe --tags --dirty 2>/dev/null)
COMMIT ?= $(shell git rev-parse HEAD 2>/dev/null)
# Packages tested at once, and the limit for each. A suite runs a control plane of its own, so more than two at once
# mostly wait for each other on a small machine.
TEST_PARALLEL ?= 2
TEST_TIMEOUT ?= 20m
# More flags for `go test`, for instance: make test TEST_FLAGS='-run TestReconcile -v'.
TEST_FLAGS ?=
# The race detector needs a C compiler.
RACE = $(shell test "$$($(GO) env CGO_ENABLED)" = 1 && set -- $$($(GO) env CC) && command -v "$$1" >/dev/null && echo -race)

MODULE := mycompany.io/application-operator
MODULES := $(patsubst %/,%,$(dir $(wildcard go.mod test/*/go.mod test/*/*/go.mod)))
# One module only pins the linter; there is no code in it.
CODE := $(filter-out test/tools/lint,$(MODULES))
BIN := $(CURDIR)/bin
TOOLS := $(BIN)/tools

# Suites find the control plane's binaries as envtest does. Whoever sets the variable brings their own.
ifndef KUBEBUILDER_ASSETS
KUBEBUILDER_ASSETS := $(BIN)/controlplane
ASSETS := controlplane
endif
export KUBEBUILDER_ASSETS

# `make run KUBECONFIG=…` uses that cluster instead. From the environment it would be a cluster met by accident.
ifeq ($(origin KUBECONFIG),command line)
export KUBECONFIG
run demo: export USE_EXISTING_CLUSTER = true
endif

##@ Use

.PHONY: run
run: $(TOOLS)/local build controlplane ## Start a cluster, apply the samples and run the operator in the foreground
	@exec $(TOOLS)/local run $(if $(METRICS),--metrics=$(METRICS))

.PHONY: demo
demo: $(TOOLS)/local build controlplane ## Show and check the main job in a fresh cluster, step by step
	@exec $(TOOLS)/local demo

.PHONY: cluster-up
cluster-up: $(TOOLS)/local build controlplane ## Start a full control plane in the background; kubeconfig in .local/kubeconfig
	@exec $(TOOLS)/local up

.PHONY: cluster-down
cluster-down: $(TOOLS)/local ## Stop it
	@exec $(TOOLS)/local down

##@ Build

.PHONY: build
build: ## Build the operator and the kubectl plugin into bin
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(strip -s -w $(stamps))' -o $(BIN)/ ./cmd/application-operator ./cmd/kubectl-application
	@ln -sf kubectl-application $(BIN)/kubectl_complete-application

.PHONY: image
image: ## Build the operator's image as IMAGE:VERSION for PLATFORMS by docker buildx; IMAGE_FLAGS=--push publishes it
	docker buildx build --file deploy/Dockerfile --platform $(PLATFORMS) $(if $(VERSION),--build-arg VERSION=$(VERSION)) \
		$(if $(COMMIT),--build-arg COMMIT=$(COMMIT)) --tag $(IMAGE):$(or $(VERSION),latest) $(IMAGE_FLAGS) .

.PHONY: release
release: $(TOOLS)/kustomize ## Write install.yaml, the plugin's archives and checksums of VERSION=v1.2.3 to dist
	$(GO) run ./test/release --version=$(VERSION) --commit=$(COMMIT) --image=$(IMAGE) --plugin=$(wildcard cmd/kubectl-application)

.PHONY: record-release
record-release: $(ASSETS) ## Store what the operator writes as release VERSION=v1.2.3, for the test of upgrades from it
	@test -n '$(VERSION)' || { echo 'name the release by VERSION=v1.2.3' >&2; exit 1; }
	RECORD_RELEASE=$(VERSION) $(GO) test -count=1 ./test/upgrade -ginkgo.focus='Recording a release'

IMAGE ?= mycompany.io/application-operator
PLATFORMS ?= linux/amd64,linux/arm64

stamps = $(if $(VERSION),-X main.version=$(VERSION)) $(if $(COMMIT),-X main.commit=$(COMMIT))

.PHONY: krew
krew: ## Build the plugin for all platforms, and its krew manifest, into bin/krew; needs VERSION, URL and HOMEPAGE
	@VERSION='$(VERSION)' COMMIT='$(COMMIT)' URL='$(URL)' HOMEPAGE='$(HOMEPAGE)' deploy/krew/package.sh

.PHONY: controlplane
controlplane: ## Build etcd, the Kubernetes control plane, kubectl and kwok into bin/controlplane
	@$(GO) -C test/controlplane run ./build

# Built rather than started by `go run`, which would not pass on a SIGTERM.
.PHONY: $(TOOLS)/local
$(TOOLS)/local:
	@$(GO) build -o $@ ./test/local

.PHONY: clean
clean: ## Remove everything that was built; a running cluster must be stopped before
	rm -rf $(BIN)

##@ Test

.PHONY: test
test: $(ASSETS) ## Run all tests: unit, suites on a real API server, end to end
	$(call go-test,-C test/controlplane,./build/...)
	$(call go-test,-C test/monitoring,./...)
	$(call go-test,-C test/tools,./crdcompat)
	$(call go-test,,./...)

.PHONY: test-unit
test-unit: ## Run the tests that need no API server
	$(call go-test,-C test/controlplane,./build/...)
	$(call go-test,-C test/tools,./crdcompat)
	$(call go-test,,-short $$($(GO) list ./... | grep -v '^$(MODULE)/test/'))

.PHONY: test-suites
test-suites: $(ASSETS) ## Run the suites on a real API server and the end-to-end suite
	$(call go-test,,./test/...)

.PHONY: test-oracle
test-oracle: $(ASSETS) ## Play ORACLE_PROGRAMS (500) random programs of ORACLE_STEPS (30) steps against a real API server; takes hours
	ORACLE_PROGRAMS=$(or $(ORACLE_PROGRAMS),500) ORACLE_STEPS=$(or $(ORACLE_STEPS),30) \
		$(GO) test $(RACE) -count=1 -timeout 12h -v $(TEST_FLAGS) ./test/oracle

# Go's test cache does not see the control plane, hence -count.
go-test = $(strip $(GO) $(1) test $(RACE) -count=1 -p $(TEST_PARALLEL) -timeout $(TEST_TIMEOUT) $(TEST_FLAGS) $(2))

##@ Change

.PHONY: generate
generate: $(TOOLS)/controller-gen $(TOOLS)/applyconfiguration-gen $(TOOLS)/crdpartial $(TOOLS)/crdschema ## Generate deep copies, CRD, RBAC, apply configurations and the table of metrics
	rm -f apis/*/*/zz_generated.*.go deploy/crd/application.mycompany.io_*.yaml
	$(TOOLS)/controller-gen object paths=./apis/...
	$(TOOLS)/controller-gen crd paths=./apis/... output:crd:dir=deploy/crd
	$(TOOLS)/crdpartial deploy/crd/application.mycompany.io_applications.yaml apis/application/v1alpha1/partial_schemas.yaml
	$(TOOLS)/controller-gen rbac:roleName=application-operator paths=./controllers/... output:rbac:dir=deploy/rbac
	$(TOOLS)/controller-gen rbac:roleName=application-operator-cluster,fileName=cluster_role.yaml paths=./cmd/application-operator/... output:rbac:dir=deploy/rbac
	$(GO) run ./test/metricstable > deploy/components/monitoring/metrics.md
	rm -rf $(GENERATED) && mkdir -p $(GENERATED)/applyconfigs
	$(TOOLS)/crdschema deploy/crd/application.mycompany.io_applications.yaml $(API) > $(GENERATED)/schema.json
	$(TOOLS)/applyconfiguration-gen --go-header-file /dev/null --openapi-schema $(GENERATED)/schema.json \
		--output-dir $(GENERATED)/applyconfigs --output-pkg $(MODULE)/applyconfigs \
		--external-applyconfigurations $(subst $(space),$(comma),$(strip $(borrowed-applyconfigs))) $(API)
	rm -rf applyconfigs/utils.go applyconfigs/internal applyconfigs/application
	mv $(GENERATED)/applyconfigs/* applyconfigs/

API := $(MODULE)/apis/application/v1alpha1
GENERATED := $(BIN)/generated
# Types of the spec and status whose apply configurations client-go has.
borrowed-applyconfigs := \
	$(foreach type,DeploymentStatus,k8s.io/api/apps/v1.$(type):k8s.io/client-go/applyconfigurations/apps/v1) \
	$(foreach type,EnvFromSource EnvVar Probe ResourceRequirements ServiceStatus,k8s.io/api/core/v1.$(type):k8s.io/client-go/applyconfigurations/core/v1)
comma := ,
empty :=
space := $(empty) $(empty)

.PHONY: fmt
fmt: $(TOOLS)/golangci-lint ## Format the Go code
	@for module in $(CODE); do (cd $$module && $(TOOLS)/golangci-lint fmt --config $(CURDIR)/.golangci.yml) || exit; done

.PHONY: tidy
tidy: ## Tidy go.mod and go.sum of every module
	@for module in $(MODULES); do $(GO) -C $$module mod tidy || exit; done

##@ Check

.PHONY: lint
lint: $(TOOLS)/golangci-lint ## Run the linters
	@test/verify/lint.sh $(CODE)

.PHONY: verify
verify: verify-generate verify-tidy verify-deploy verify-crd verify-scripts vet lint verify-lint ## Check everything that needs no test run

.PHONY: vet
vet: ## Run go vet
	@for module in $(CODE); do echo "vet: $$module"; $(GO) -C $$module vet ./... || exit; done

.PHONY: verify-generate
verify-generate: $(TOOLS)/controller-gen $(TOOLS)/applyconfiguration-gen $(TOOLS)/crdpartial $(TOOLS)/crdschema
	@MAKE="$(MAKE)" test/verify/generate.sh

.PHONY: verify-tidy
verify-tidy:
	@test/verify/tidy.sh $(MODULES)

.PHONY: verify-deploy
verify-deploy: $(TOOLS)/kustomize
	@test/verify/deploy.sh

# What an upgrade of the CRD would break, compared with the last release.
.PHONY: verify-crd
verify-crd: $(TOOLS)/crdcompat
	@$(TOOLS)/crdcompat test/upgrade/testdata deploy/crd/application.mycompany.io_applications.yaml test/upgrade/testdata/accepted-changes.txt

.PHONY: verify-scripts
verify-scripts:
	@test/verify/scripts.sh

# Proves that the linter finds what the rules of this project forbid.
.PHONY: verify-lint
verify-lint: $(TOOLS)/golangci-lint
	@echo "lint: the rules themselves"
	@GOLANGCI_LINT=$(TOOLS)/golangci-lint $(GO) test -count=1 ./test/verify

.PHONY: help
help: ## List the targets
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Tools

# A tool is built again when its module changed. `go install` leaves an unchanged binary's time alone, hence touch.
tools-inputs := test/tools/go.mod test/tools/go.sum
$(TOOLS)/controller-gen: $(tools-inputs)
	$(call install-tool,test/tools,sigs.k8s.io/controller-tools/cmd/controller-gen)
$(TOOLS)/applyconfiguration-gen: $(tools-inputs)
	$(call install-tool,test/tools,k8s.io/code-generator/cmd/applyconfiguration-gen)
$(TOOLS)/kustomize: $(tools-inputs)
	$(call install-tool,test/tools,sigs.k8s.io/kustomize/kustomize/v5)
$(TOOLS)/crdschema: $(tools-inputs) $(wildcard test/tools/crdschema/*.go)
	$(call install-tool,test/tools,./crdschema)
$(TOOLS)/crdpartial: $(tools-inputs) $(wildcard test/tools/crdpartial/*.go)
	$(call install-tool,test/tools,./crdpartial)
$(TOOLS)/crdcompat: $(tools-inputs) $(wildcard test/tools/crdcompat/*.go)
	$(call install-tool,test/tools,./crdcompat)
# On its own: the linter's hundreds of dependencies must not choose the generators' ones.
$(TOOLS)/golangci-lint: test/tools/lint/go.mod test/tools/lint/go.sum
	$(call install-tool,test/tools/lint,github.com/golangci/golangci-lint/v2/cmd/golangci-lint)

define install-tool
	@echo "building $(@F)"
	@GOBIN=$(TOOLS) $(GO) -C $(1) install $(2) && touch $@
endef
