# rubric-order: set-up and the everyday commands. `make help` lists them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
REQUIREMENTS := requirements/$(if $(shell command -v nvidia-smi),cuda,cpu).txt
INSTALLED := $(VENV)/.installed
# Four processes of tests, each with whole files: what a file makes once is made once. Each computes on one core, models
# too. Many tests wait for servers and jobs, so that two cores have work for four.
TEST := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest --dist loadfile --no-loadscope-reorder

# Each job of a study starts Python: compiled modules are kept, also where the image of the machine says no.
unexport PYTHONDONTWRITEBYTECODE

RESULTS := all render_summary describe_methods
DEMO := config/demo.yaml
DRY = $(filter -n% --dry%,$(ARGS))
NAMED = $(if $(CONFIG),$(CONFIG),$(error CONFIG=FILE is missing))

.DEFAULT_GOAL := help
.PHONY: help env demo run report plan-cost pilot unlock judge-status test test-slow test-all test-cluster mutants lint docs docs-links config-reference contracts-page rule-graph clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "make %-16s %s\n", $$1, $$2}'

env: $(INSTALLED) ## set up .venv with exactly pinned versions (vLLM for CUDA where there is an NVIDIA GPU, else for the CPU)

demo: env ## judge the demo, draw figures and tables, write results/summary.html and report.html, print the finding
	$(BIN)/snakemake $(RESULTS) --cores all --configfile $(DEMO)
	$(BIN)/snakemake $(RESULTS) --report report.html --configfile $(DEMO)
	@$(BIN)/snakemake show_cards --cores 1 --quiet all --configfile $(DEMO)
	@echo "How it was made: report.html"

run: env ## the same for a study of your own: CONFIG=FILE; ARGS: more options of Snakemake
	$(BIN)/snakemake $(RESULTS) --cores all --configfile $(NAMED) $(ARGS)
	@$(if $(DRY),,$(BIN)/snakemake show_cards --cores 1 --quiet all --configfile $(NAMED) $(ARGS))

report: env ## write report.html, how the results of CONFIG=FILE were made
	$(BIN)/snakemake $(RESULTS) --report report.html --configfile $(NAMED) $(ARGS)

plan-cost: env ## say what judging will take; CONFIG=FILE for another study than the demo
	@$(BIN)/snakemake plan_cost --cores all --quiet all --configfile $(or $(CONFIG),$(DEMO)) $(ARGS)

pilot: env ## ask some 200 of the requests of CONFIG=FILE, and say what the rest will take; answers stay
	$(BIN)/snakemake pilot --cores all --configfile $(NAMED) $(ARGS)
	@$(BIN)/snakemake plan_cost --cores all --quiet all --configfile $(NAMED) $(ARGS)

unlock: env ## after a run was killed: let Snakemake work again on the results of CONFIG=FILE
	$(BIN)/snakemake --unlock --configfile $(or $(CONFIG),$(DEMO)) $(ARGS)

judge-status: env ## say how far the judges are, also while they run; ARGS as above
	@$(BIN)/snakemake judge_status --cores 1 --quiet all --nolock --configfile $(or $(CONFIG),$(DEMO)) $(ARGS)

test: env ## run the tests, without those that take long
	$(TEST) -n 4 -m "not slow"

test-slow: env ## run the tests that take long
	$(TEST) -n 4 -m slow

test-all: env ## run both in one go: all tests but those on a cluster
	$(TEST) -n 4

test-cluster: env ## install SLURM, start it on this machine and run studies on it; needs root, takes minutes
	$(BIN)/pytest tests/cluster

mutants: $(VENV)/.mutants ## plant 400 mistakes in code and 200 in regular expressions, and say how many the tests find; ARGS: options
	$(BIN)/python tests/mutants.py $(ARGS)

lint: env ## check layout, style, types (mypy --strict, the whole library), which package may import which, and size
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=workflow/scripts $(BIN)/lint-imports --no-cache --no-logo
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint
	$(BIN)/python tests/counts.py

docs: $(VENV)/.docs ## build the documentation into docs/_build/html; a warning is an error. DOCS_ONLINE=1 links other projects' names
	$(BIN)/sphinx-build --quiet --fresh-env --fail-on-warning --keep-going docs docs/_build/html
	@echo "Done: docs/_build/html/index.html"

docs-links: $(VENV)/.docs ## ask for every page of other sites that the documentation links to; needs a network
	$(BIN)/sphinx-build --quiet --builder linkcheck docs docs/_build/links

config-reference: env ## write docs/config.md, the lists of results in docs/, and the schema for editors
	PYTHONPATH=workflow/scripts $(BIN)/python -m rubric_order.settings.reference > docs/config.md
	PYTHONPATH=workflow/scripts $(BIN)/python -m rubric_order.settings.listings docs/statistics.md docs/results.md
	PYTHONPATH=workflow/scripts $(BIN)/python -m rubric_order.settings.schema > workflow/schemas/config.schema.json

contracts-page: env ## write docs/contracts.md, the columns of the files that stages hand on
	$(BIN)/python -m rubric_order.contracts > docs/contracts.md

rule-graph: env ## draw docs/images/rule_graph.svg, the picture of the rules; needs dot of graphviz
	graph=$$($(BIN)/snakemake --rulegraph --quiet all --nolock --configfile config/papers/position_bias_small.yaml) \
	  && echo "$$graph" | dot -Tsvg -o docs/images/rule_graph.svg

clean: ## remove all results; keeps .venv and the response store
	find results -mindepth 1 -maxdepth 1 ! -name README.md ! -name store -exec rm -rf {} +
	rm -rf report.html rehearsal .snakemake

$(VENV)/.docs $(VENV)/.mutants: $(VENV)/.%: $(INSTALLED) requirements/%.txt requirements/%.lock
	requirements/install.sh $(PYTHON) $(VENV) requirements/$*.txt
	@touch $@

$(INSTALLED): $(REQUIREMENTS) $(REQUIREMENTS:.txt=.lock) requirements/uv.lock requirements/install.sh pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14) and "rubric-order needs Python 3.11, 3.12 or 3.13 (make PYTHON=...), found " + sys.version)'
	requirements/install.sh $(PYTHON) $(VENV) $(REQUIREMENTS)
	@touch $@
