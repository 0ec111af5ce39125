# rubric-order: how the order of things in a prompt moves the scores of an LLM judge.
#
#   datasets -> items -> plan -> requests -> responses -> scores -> statistics -> figures, tables, report
#
# Results depend on config and inputs alone; where jobs run is said by profiles.
from snakemake.utils import min_version

min_version("9.25")


# The demo where no config is named; it is no part of a config that is.
configfile: f"{workflow.current_basedir}/config/{'config' if workflow.overwrite_configfiles else 'demo'}.yaml"


include: "workflow/rules/project.smk"
include: "workflow/rules/common.smk"
include: "workflow/rules/slurm.smk"


report: "workflow/report/workflow.rst"


include: "workflow/rules/datasets.smk"
include: "workflow/rules/models.smk"
include: "workflow/rules/references.smk"
include: "workflow/rules/plan.smk"
include: "workflow/rules/status.smk"
include: "workflow/rules/judging.smk"
include: "workflow/rules/recorded.smk"
include: "workflow/rules/scores.smk"
include: "workflow/rules/statistics.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/summary.smk"


rule all:
    default_target: True
    input:
        pages.named_results,
