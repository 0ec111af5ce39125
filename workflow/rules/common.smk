"""The run: its config, wildcard constraints, and the functions that give rules their input and params."""

import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

PROJECT = project_folder()
sys.path.insert(0, str(PROJECT / "workflow" / "scripts"))

from rubric_order import registry
from rubric_order.base import command_line, of_cards
from rubric_order.base.errors import InputError
from rubric_order.planning.references import PROBE as REFERENCE_PROBE
from rubric_order.run import jobs, rehearsal, scheduling
from rubric_order.run.core import Run
from rubric_order.run.pages import Pages
from rubric_order.run.references import References, Status
from rubric_order.run.results import Shown, Statistics, one_of
from rubric_order.run.stages import Datasets, Judging, Models, Planning, Records, Scores
from rubric_order.settings import reading

# Commands find the Python that runs Snakemake, also where its environment is not activated; with --sdm conda the
# environment of a rule comes before it.
os.environ.update(PATH=os.pathsep.join([str(Path(sys.executable).parent), *os.get_exec_path()]))
scheduling.keep_one_timer(scheduling.scheduler_class())


def cores():
    """Cores that Snakemake may use; an error on a cluster, where it has none itself."""
    return workflow.cores


try:
    if (
        Path(workflow.main_snakefile).resolve() == (PROJECT / "Snakefile").resolve()
    ):  # not where it is a module of another
        reading.check(workflow.overwrite_configfiles)
    run = Run.load(
        config,
        PROJECT,
        refuse=WorkflowError,
        dry=workflow.dryrun and jobs.WRITES_SETTINGS not in os.environ,
        cores=cores,
        # Snakemake reads the rules before it tells them their targets.
        tells_costs=command_line.is_asked_for(
            r"(\w+_)?plan_cost|(.*/)?status/plan_cost\.\w+", "RUBRIC_ORDER_TELLS_COSTS"
        ),
    )
    run.check_paths()
    scheduling.check_room()
except InputError as error:
    sys.exit(f"error: {error}")
except SystemExit as end:  # else Snakemake would end as if all were done
    sys.exit(end.code or "error: config: code of another package has called sys.exit")
asked = {word.partition("=")[0] for word in sys.argv}
if not (any((run.config.studies, run.config.figures, run.config.tables)) or asked & {"--lint", "--containerize"}):
    sys.exit("error: config: no study is named; expected studies, figures or tables, such as those of config/demo.yaml")

# A rehearsal has a working directory of its own, so that it cannot touch results and response stores. The directive
# `workdir` would not do: Snakemake ignores it where --directory is given.
if run.config.rehearse:
    os.makedirs(rehearsal.FOLDER, exist_ok=True)
    os.chdir(rehearsal.FOLDER)
    print(f"{rehearsal.note(run.config)} Its results: {rehearsal.FOLDER}/{run.results}/", file=sys.stderr)

ID = "[a-z0-9]+(_[a-z0-9]+)*"


pathvars:
    results=run.results,


wildcard_constraints:
    dataset=ID,
    judge=ID,
    study=ID,
    model=ID,
    shard="[0-9]+",
    file="[a-z0-9_]+",


datasets, models, planning = Datasets(run), Models(run), Planning(run)
judging = Judging(run, containerizes="--containerize" in asked)
records, scores, references, status = Records(run), Scores(run), References(run), Status(run)
statistics, tables, figures, pages = Statistics(run), Shown(run, "tables"), Shown(run, "figures"), Pages(run)


# The front page of the report begins with what was found.
if "--report" in asked and Path(run.results, "summary.json").exists():
    from rubric_order.cards import first_lines  # imports pandas, for which other runs need not wait

    lines = first_lines.first_lines(Path(run.results, "summary.json"))
    config.update(first_lines=[line._asdict() for line in lines])
