"""``rubric-order certify``: make the bias card of a judge, without Snakemake."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rubric_order import commands
from rubric_order.commands import options

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from rubric_order.cards.card import Card
    from rubric_order.library.certify.study import Certification


def certify(
    judge: Annotated[
        str,
        typer.Argument(
            help="openai:MODEL; the address of an OpenAI-compatible endpoint, with --model; decisions:MODEL; a "
            "function as module:name; or a YAML file with the block of a judge."
        ),
    ],
    model: options.ModelOrNone = None,
    items: Annotated[
        Path | None,
        typer.Option(
            help="Table of texts (CSV, JSON Lines or Parquet) with columns item_id, instruction, response; without it "
            "a sample of 80 texts that comes with the package."
        ),
    ] = None,
    rubric: Annotated[
        Path | None, typer.Option(help="YAML file with question and levels, where the table has no rubric.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Answers and results go there, and the same command goes on there. By default"
            " certify/judge_MODEL, and certify/judge_MODEL_FILE with --items FILE."
        ),
    ] = None,
    groups: Annotated[int | None, typer.Option(min=1, help="Judge the first so many groups of texts.")] = None,
    pilot: Annotated[
        bool, typer.Option("--pilot", help="Ask some 200 requests, say what the others will take, and stop.")
    ] = False,
    budget: Annotated[
        str | None, typer.Option(help="Money, or calls or tokens as 500calls, that all runs together may use.")
    ] = None,
    prices: Annotated[
        str | None, typer.Option(help="Of a million tokens of prompts and of answers, such as 0.4,1.6.")
    ] = None,
    api_key_env: options.ApiKeyEnv = None,
    key_over_http: options.KeyOverHttp = False,
    answer_format: Annotated[str | None, typer.Option(help="feedback and then the score, or score alone.")] = None,
    template: Annotated[
        Path | None, typer.Option(help="A prompt of your own: a Jinja file, or a YAML file with a list of messages.")
    ] = None,
    change: Annotated[
        list[str] | None, typer.Option("--set", help="Another setting of the judge, such as sampling/temperature=0.7.")
    ] = None,
    go_on: options.GoOn = False,
    adaptive: Annotated[
        bool, typer.Option("--adaptive", help="Read each text only until its score is known well enough.")
    ] = False,
    target_width: Annotated[
        float | None,
        typer.Option(
            help="With --adaptive: width in points at which the interval of a text's score is narrow enough; 1 by"
            " default."
        ),
    ] = None,
    probe_groups: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="With --adaptive: groups that are read in all orderings, for the card and the rule; 40 by default, 0"
            " for confidence sequences, which need none.",
        ),
    ] = None,
    places: Annotated[
        bool, typer.Option("--places", help="With --adaptive: stop also where a text's place in its group is settled.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list with the card, as audit does.")] = False,
) -> None:
    """Judge texts with the score levels in all balanced orderings, and say whether the order moves the scores.

    Requests and answers stay in the folder. Start a run that was stopped again, and it asks only what is missing.
    The status is 0 for every verdict, and 1 if something cannot be read or asked.

    Examples: [green]rubric-order certify openai:gpt-4.1-mini --pilot[/],
    [green]rubric-order certify http://localhost:8000/v1 --model m --items texts.csv --rubric rubric.yaml[/]
    """
    from rich.console import Console

    from rubric_order.commands import watching
    from rubric_order.library.certify import folders, inputs, judges, study

    console = Console(stderr=True)
    changes = (*(change or ()), *(["accept_unread=true"] if go_on else []))
    settings = judges.Options(model, api_key_env, key_over_http, answer_format, template, prices, budget, changes)
    rounds = _adaptive(adaptive, target_width, probe_groups, places, pilot=pilot)
    block = judges.block(judge, settings)
    texts = inputs.read(items, rubric, groups=groups)
    chosen = folder or folders.default(block, judges.block(judge, judges.Options(model)), texts)
    with study.prepare(chosen, block, texts, in_rounds=adaptive) as run:
        run.plan()
        most = [] if rounds is None else ["That is the most: texts are read until they are known well enough."]
        _say(console, *_plan(run), *most, *run.notes)
        watch = watching.watch(run.judge, console)
        if pilot:
            asked, readable = run.pilot(watch)
            _say(
                console, f"The pilot's {asked:,} requests are answered, and the answers stay: {readable}.", *_plan(run)
            )
            return
        if rounds is None:
            run.ask(watch)
        else:
            _say(console, *rounds.sentences(rounds.ask(run, watch)))
        cards = run.cards() if rounds is None or rounds.probe_groups else []
        if as_json:
            typer.echo("[\n" + ",\n".join(commands.as_json(card.to_dict()) for card in cards) + "\n]")
        elif cards:
            _print(cards, run.judge.label or run.name)
        _say(console, f"In {chosen}: {', '.join(run.written())}")


def _adaptive(chosen: bool, target: float | None, probe_groups: int | None, places: bool, *, pilot: bool) -> Any:
    """Settings of asking in rounds; None without ``--adaptive``, which they all need."""
    from rubric_order.base import plugins
    from rubric_order.base.errors import InputError

    options = {"--target-width": target is not None, "--probe-groups": probe_groups is not None, "--places": places}
    if not chosen:
        for name, is_given in options.items():
            if is_given:
                raise InputError(f"{name}: it is for asking in rounds; expected --adaptive with it")
        return None
    if pilot:
        raise InputError("--pilot: it asks reads that --adaptive may spare; expected one of them")
    adaptive = plugins.ours(plugins.EXTRAS)["adaptive"].load()
    setting = adaptive(1.0 if target is None else target, 40 if probe_groups is None else probe_groups, places)
    setting.check()
    return setting


def _say(console: "Console", *sentences: str) -> None:
    for sentence in sentences:
        console.print(commands.text(sentence), soft_wrap=True)


def _plan(made: "Certification") -> list[str]:
    cost, texts = made.cost(), made.inputs.tables.items
    counts = (len(texts), "text"), (texts["group_id"].nunique(), "group"), (cost["requests"], "request")
    items, groups, requests = (f"{number:,} {word}{'' if number == 1 else 's'}" for number, word in counts)
    sentences = [f"{items} in {groups}: {requests}, {cost['answered']:,} answered, {cost['to_ask']:,} to ask."]
    return sentences + ([_takes(made, cost)] if cost["to_ask"] else [])


def _takes(made: "Certification", cost: "pd.Series") -> str:
    import pandas as pd

    parts = []
    if not pd.isna(cost["prompt_tokens"]):
        parts.append(f"about {cost['prompt_tokens']:,} tokens of prompts")
    if not pd.isna(cost["output_tokens"]) and cost["output_tokens"]:
        bound = "at most" if cost["output_tokens_from"] == "max_tokens" else "about"
        parts.append(f"{bound} {cost['output_tokens']:,} of answers")
    if not pd.isna(cost["cost"]):
        ends = f" [{cost['cost_low']:.2f}, {cost['cost_high']:.2f}]" if not pd.isna(cost["cost_low"]) else ""
        parts.append(f"{cost['cost']:.2f}{ends} {made.judge.currency}")
    if not pd.isna(cost["hours"]):
        parts.append(f"{60 * cost['hours']:.1f} minutes")
    return f"These take {', '.join(parts)}."


def _print(cards: "list[Card]", label: str) -> None:
    import dataclasses

    from rubric_order.commands import audit
    from rubric_order.library.results import BiasCards

    keys = [{**card.evidence.keys, "judge": label} for card in cards]
    labelled = [
        dataclasses.replace(card, evidence=dataclasses.replace(card.evidence, keys=named))
        for card, named in zip(cards, keys, strict=True)
    ]
    audit.print_cards(BiasCards(tuple(labelled), {}))
