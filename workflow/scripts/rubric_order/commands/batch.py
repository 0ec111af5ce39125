"""``rubric-order batch``: a judge's requests as a file of the Batch API, and the results of such a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rubric_order.base import files
from rubric_order.base.errors import InputError

if TYPE_CHECKING:
    from rubric_order.settings.judges.endpoint import Endpoint

app = typer.Typer(no_args_is_help=True, help="Ask a judge by files, also on a machine without a network.")

Requests = Annotated[Path, typer.Argument(help="Requests of a judge: results/requests/STUDY/JUDGE.parquet.")]
Config = Annotated[list[Path], typer.Option(help="Config of the study; given again, later files go over earlier ones.")]
JudgeId = Annotated[str | None, typer.Option(help="Id of the judge in config; by default the name of the file.")]
Project = Annotated[Path, typer.Option(help="Folder of the project; the response store is in its results.")]


@app.callback()
def common() -> None:
    """Ask a judge by files, also on a machine without a network."""


@app.command("export")
def export(
    requests: Requests,
    config: Config,
    output: Annotated[Path, typer.Option("--output", "-o", help="File of JSON lines to write.")],
    judge: JudgeId = None,
    project: Project = Path(),
) -> None:
    """Write requests without an answer as JSON lines, in the form that Batch APIs and [green]vllm run-batch[/] read.

    Example: [green]rubric-order batch export results/requests/s/j.parquet --config my.yaml -o open.jsonl[/]
    """
    from rubric_order.judging import batch_exchange
    from rubric_order.judging.engines.batches.files import MAX_BYTES, MAX_REQUESTS
    from rubric_order.judging.store import Store

    settings, name = _judge(requests, config, judge, project)
    count = batch_exchange.export(requests, settings, Store(project / "results/store" / name), output)
    typer.echo(f"{count} requests are written to {output}")
    if count > MAX_REQUESTS or output.stat().st_size > MAX_BYTES:
        typer.echo(f"OpenAI takes {MAX_REQUESTS} requests and {MAX_BYTES} bytes per file; batch: true sends several")


@app.command("import")
def read_in(
    requests: Requests,
    results: Annotated[Path, typer.Argument(help="JSON lines with the results.")],
    config: Config,
    judge: JudgeId = None,
    project: Project = Path(),
) -> None:
    """Store the results of a file that export wrote. A run of the study takes the answers from the store.

    Example: [green]rubric-order batch import results/requests/s/j.parquet done.jsonl --config my.yaml[/]
    """
    from rubric_order.judging import batch_exchange
    from rubric_order.judging.store import Store

    settings, name = _judge(requests, config, judge, project)
    counts = batch_exchange.read_in(requests, results, settings, Store(project / "results/store" / name))
    typer.echo(", ".join(f"{count} {what}" for what, count in sorted(counts.items()) if count))


def _judge(requests: Path, config: list[Path], judge: str | None, project: Path) -> tuple[Endpoint, str]:
    """Settings and id of a judge that is asked over the chat completions protocol."""
    from rubric_order.run import loading
    from rubric_order.settings.base import parse
    from rubric_order.settings.judges.endpoint import Endpoint

    if not requests.is_file():
        raise InputError(f"{requests}: no such file; expected requests, as results/requests/STUDY/JUDGE.parquet")
    name = judge or requests.stem
    written: dict[str, object] = {}
    for path in config:
        block = parse(files.read_text(path))
        if not isinstance(block, dict):
            raise InputError(f"{path}: expected a config")
        loading.merge(written, block)
    judges = loading.complete(written, folder=project).judges
    if name not in judges:
        raise InputError(f"{', '.join(map(str, config))}: no judge {name!r:.60}; found {', '.join(judges) or 'none'}")
    settings = judges[name]
    if not isinstance(settings, Endpoint) or settings.dialect != "openai":
        raise InputError(f"judge {name}: expected engine openai with base_url and dialect openai")
    return settings, name
