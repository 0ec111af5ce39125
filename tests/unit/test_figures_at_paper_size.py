"""Figures with as many judges, datasets and tasks as the papers have, at the widths of a page and a column.

Nothing is cut off, and no text stands on another. The tables hold made-up numbers; labels are as long as the ready-made
judges have them.
"""

import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from rubric_order.analyses.agreement.strategy_forest import figure as strategy_forest
from rubric_order.analyses.comparisons.judge_agreement import figure as judge_agreement
from rubric_order.analyses.comparisons.judges_compared import figure as judges_compared
from rubric_order.analyses.comparisons.position_consistency import figure as position_consistency
from rubric_order.analyses.comparisons.quality_gap import figure as quality_gap
from rubric_order.analyses.criteria.criterion_order import figure as criterion_order
from rubric_order.analyses.position.position_selection import figure as position_selection
from rubric_order.analyses.position.position_selection_by_dataset import figure as position_selection_by_dataset
from rubric_order.analyses.position.score_effects import figure as score_effects
from rubric_order.analyses.position.score_position import figure as score_position
from rubric_order.analyses.scoring.scoring_accuracy import figure as scoring_accuracy
from rubric_order.analyses.scoring.scoring_tendency import figure as scoring_tendency
from rubric_order.base.labels import Labels
from rubric_order.figures import output, presets, view
from rubric_order.settings import results

XU = ("GPT-OSS-20B", "GPT-OSS-120B", "Qwen3.5-9B", "Qwen3.5-27B", "Gemma-3-12B", "Gemma-3-27B")
XU_V1 = ("GPT-4.1 mini", "GPT-4.1", "Qwen3-8B", "Qwen3-8B, think", "Qwen3-32B", "Qwen3-32B, think", "GPT-OSS-120B")
LI = ("GPT-4o", "DeepSeek-V3", "Qwen3-32B", "Qwen3-8B", "Mistral-Small-24B")
SHI = ("Claude-3.5-Sonnet", "Claude-3-Opus", "Claude-3-Sonnet", "Claude-3-Haiku", "Gemini-1.5-Pro", "Gemini-1.0-Pro")
SHI += ("Gemini-1.5-Flash", "GPT-4", "GPT-4-Turbo", "GPT-4o (2024-05-13)", "GPT-3.5-Turbo", "o1-mini", "Llama-3.3-70B")
SHI += ("Llama-3.1-405B", "Llama-3.1-8B")
DATASETS = {"mt_bench": "MT-Bench", "vicuna": "Vicuna Bench", "hanna": "HANNA", "summeval": "SummEval"}
PAIRS = {"MTBench": "MT-Bench, pairs", "DevBench": "DevBench, pairs"}
TASKS = {
    "MTBench": ("coding", "extraction", "humanities", "math", "reasoning", "roleplay", "stem", "writing"),
    "DevBench": tuple(
        f"{part}_{task}"
        for part, tasks in {
            "uml_class": ("cohesion_and_decoupling", "complexity", "faithfulness", "practicability"),
            "uml_sequence": (
                *("cohesion_and_decoupling", "faithfulness", "interaction_complexity", "practicability"),
                "uniformity_and_integration",
            ),
            "architecture_design": (
                *("conformance", "design_and_coding", "faithfulness", "practicability", "uniformity_and_integration"),
            ),
        }.items()
        for task in tasks
    ),
}
KEYS = {"study": "s", "profile": "default", "condition": "baseline", "strategy": "balanced", "n": 5, "cluster": "group"}
RNG = np.random.default_rng


def interval(value, half=0.04):
    return {"estimate": value, "ci_low": value - half, "ci_high": value + half}


def selections(judges):
    rng, rows = RNG(1), []
    for judge, dataset in itertools.product(judges, DATASETS):
        about = {**KEYS, "judge": judge, "dataset": dataset, "readout": "hard", "n_clusters": 1100, "saturated": False}
        for position, share in enumerate(rng.dirichlet(np.full(5, 40)), start=1):
            rows.append(about | interval(share, 0.03) | {"quantity": "share", "position": position})
        rows.append(about | {"quantity": "cramers_v", "estimate": 0.12, "ci_low": 0.09, "ci_high": 0.16})
    return pd.DataFrame(rows)


def agreements(judges):
    rng, rows = RNG(2), []
    strategies = ("balanced", "random", "fixed", "single")
    for judge, dataset, strategy in itertools.product(judges, ("hanna", "summeval"), strategies):
        value = rng.uniform(0.25, 0.5)
        for cluster in ("group", "item"):
            row = {**KEYS, "judge": judge, "dataset": dataset, "readout": "hard", "criterion": "all"} | interval(value)
            row |= {"strategy": strategy, "cluster": cluster, "quantity": "pearson", "n_items": 576}
            rows.append(row | {"bca_low": row["ci_low"], "bca_high": row["ci_high"]})
    return pd.DataFrame(rows)


def shifts_of_orders(judges):
    rng, rows = RNG(3), []
    rotations = [tuple(np.roll(np.arange(1, 6), -k)) for k in range(5)]
    for judge, ordering in itertools.product(judges, [*rotations, *(row[::-1] for row in rotations)]):
        row = {**KEYS, "judge": judge, "dataset": "all", "readout": "hard", "quantity": "ordering", "flag": ""}
        rows.append(row | {"ordering": "".join(map(str, ordering))} | interval(rng.normal(0, 0.1), 0.05))
    return pd.DataFrame(rows)


def cells_of_scores(judges):
    rng, rows = RNG(4), []
    for judge, score in itertools.product(judges, range(1, 6)):
        for position, share in enumerate(rng.dirichlet(np.full(5, 30)), start=1):
            row = {**KEYS, "judge": judge, "dataset": "all", "readout": "hard", "quantity": "share"}
            rows.append(row | {"score": score, "position": position} | interval(share, 0.02))
    return pd.DataFrame(rows)


def shifts_of_criteria(judges):
    rng, rows = RNG(5), []
    criteria = {
        "hanna": ("relevance", "coherence", "empathy", "surprise", "engagement", "complexity"),
        "summeval": ("coherence", "consistency", "fluency", "relevance"),
    }
    for dataset, judge in itertools.product(criteria, judges):
        for criterion in criteria[dataset]:
            about = {**KEYS, "judge": judge, "dataset": dataset, "readout": "hard", "criterion": criterion}
            rows.append(about | {"quantity": "position_test", "p_cluster_holm": 0.001, "p_holm": 0.001})
            for position in range(1, len(criteria[dataset]) + 1):
                rows.append(about | interval(rng.normal(0, 0.2)) | {"quantity": "shift", "position": position})
    return pd.DataFrame(rows)


VARIED = ("reference_none", "letter+reference_none", "roman+reference_none")
VARIED += tuple(f"reference_{score}" for score in range(1, 6))
ORDERS = (*((varied, "single") for varied in VARIED), ("reference_none", "descending"), ("reference_none", "random"))


def tendencies(judges):
    rng, rows = RNG(6), []
    for judge, (varied, order) in itertools.product(judges, [("human", ""), *ORDERS]):
        counts = rng.multinomial(2001, rng.dirichlet(np.full(5, 4)))
        for score, count in zip((-1, *range(1, 6)), (int(varied != "human"), *counts), strict=True):
            row = {**KEYS, "judge": judge, "dataset": "flask_human", "varied": varied, "order": order}
            rows.append(row | {"score": score, "n_scores": count})
    return pd.DataFrame(rows)


def accuracies(judges):
    rng, rows = RNG(7), []
    for judge, (varied, order) in itertools.product(judges, ORDERS):
        value, base = rng.uniform(0.45, 0.6), (varied, order) == ORDERS[0]
        row = {**KEYS, "judge": judge, "dataset": "flask_human", "varied": varied, "order": order, "golden": "human"}
        row |= {"readout": "hard", "quantity": "spearman", "kind": "base" if base else "change"} | interval(value, 0.02)
        ends = (np.nan,) * 3 if base else (value - 0.55, value - 0.57, value - 0.53)
        rows.append(row | dict(zip(("difference", "difference_low", "difference_high"), ends, strict=True)))
    return pd.DataFrame(rows)


def consistencies(judges):
    rng, rows = RNG(8), []
    for benchmark, judge in itertools.product(TASKS, judges):
        for task in ("all", *TASKS[benchmark]):
            about = {**KEYS, "judge": judge, "benchmark": benchmark, "dataset": benchmark, "task": task, "p": 0.01}
            about |= {"strategy": "swap", "n": 2, "n_values": 300, "n_clusters": 80, "p_holm": 0.01}
            for quantity in ("position_consistency", "preference_fairness", "first_last"):
                rows.append(about | interval(rng.uniform(0.5, 0.9), 0.06) | {"quantity": quantity})
    return pd.DataFrame(rows)


def against_one(judges):
    rng, rows = RNG(11), []
    for benchmark, judge in itertools.product(TASKS, judges[1:]):
        for task in ("all", *TASKS[benchmark]):
            about = {**KEYS, "judge": judge, "other": judges[0], "benchmark": benchmark, "dataset": benchmark}
            about |= {"task": task, "quantity": "position_consistency"}
            rows.append(about | interval(rng.normal(0, 0.1), 0.1))
    return pd.DataFrame(rows)


def agreeing(judges):
    rng, rows = RNG(9), []
    for benchmark in TASKS:
        about = {**KEYS, "benchmark": benchmark, "dataset": benchmark, "strategy": "swap", "n": 2}
        for (judge, other), quantity in itertools.product(
            itertools.combinations(judges, 2), ("agreement", "agreement_decided", "kappa")
        ):
            row = about | {"judge": judge, "other": other, "quantity": quantity}
            rows.append(row | interval(rng.uniform(0.4, 0.9)))
        for level in range(11):
            row = about | {"judge": "all", "other": "", "quantity": "at_most", "level": str(level)}
            rows.append(row | interval(1 - 0.6 ** (level + 1), 0.01))
    return pd.DataFrame(rows)


def qualities(judges):
    rng, cells, slopes = RNG(10), [], []
    for benchmark, judge in itertools.product(TASKS, judges):
        about = {**KEYS, "judge": judge, "benchmark": benchmark, "dataset": benchmark, "strategy": "swap", "n": 2}
        for kind, place in itertools.product(("own", "crossed", "others", "implied"), range(40)):
            rate = place / 39
            row = {"kind": kind, "win_rate": rate, "position_consistency": 1 - 2 * rate * (1 - rate)}
            cells.append(about | row | {"preference_fairness": rng.uniform(-0.2, 0.2)})
        for gap in (0.05, 0.15, 0.25, 0.35):
            row = about | {"quantity": "first_last", "kind": "crossed", "gap": gap}
            slopes.append(row | interval(rng.normal(0, 0.5), 0.3))
    return pd.DataFrame(cells), pd.DataFrame(slopes)


ABOUT = {"study": "s", "profile": "default"}
SCORES = ABOUT | {"strategy": "balanced", "n": 5}
FLASK = ABOUT | {"dataset": "all", "n": 5}


def qualities_drawn(judges, **sizes):
    cells, slopes = qualities(judges)
    return view.draw(quality_gap, cells, slopes, **ABOUT, **sizes)


# By name of the figure's block of config: paper and figure, its judges, and the drawing.
DRAWN = {
    "position_selection": (
        *("xu2026 Figure 4", XU),
        lambda j, **sizes: view.draw(position_selection, selections(j), **SCORES, readouts=["hard"], **sizes),
    ),
    "strategy_forest": (
        *("xu2026 Figure 8", XU),
        lambda j, **sizes: view.draw(
            strategy_forest,
            agreements(j),
            **ABOUT,
            n=5,
            quantity="pearson",
            cluster="group",
            readouts=["hard"],
            **sizes,
        ),
    ),
    "score_effects": (
        *("ours", XU),
        lambda j, **sizes: view.draw(
            score_effects, shifts_of_orders(j), **SCORES, dataset="all", readouts=["hard", "soft"], **sizes
        ),
    ),
    "criterion_order": (
        *("xu2026 Figures 10 and 11", XU),
        lambda j, **sizes: view.draw(
            criterion_order, shifts_of_criteria(j), **SCORES, readout="hard", datasets=None, names={}, **sizes
        ),
    ),
    "position_selection_by_dataset": (
        *("xu2026_v1 Figure 5", XU_V1),
        lambda j, **sizes: view.draw(position_selection_by_dataset, selections(j), **SCORES, readout="hard", **sizes),
    ),
    "score_position": (
        *("xu2026_v1 Table 5", XU_V1),
        lambda j, **sizes: view.draw(
            score_position, cells_of_scores(j), **SCORES, dataset="all", readout="hard", **sizes
        ),
    ),
    "scoring_accuracy": (
        *("li2025 Figure 5", LI),
        lambda j, **sizes: view.draw(
            scoring_accuracy, accuracies(j), **FLASK, golden="human", quantity="spearman", readout="hard", **sizes
        ),
    ),
    "scoring_tendency": (
        *("li2025 Figure 6", LI),
        lambda j, **sizes: view.draw(scoring_tendency, tendencies(j), **FLASK, **sizes),
    ),
    "position_consistency": (
        *("shi2025 Figures 2 (a), (b) and 6", SHI),
        lambda j, **sizes: view.draw(
            position_consistency, consistencies(j), **ABOUT, cluster="group", least_comparisons=10, **sizes
        ),
    ),
    "judges_compared": (
        *("shi2025 Figure 6", SHI),
        lambda j, **sizes: view.draw(
            judges_compared, against_one(j), consistencies(j), **ABOUT, reference=j[0], **sizes
        ),
    ),
    "judge_agreement": (
        *("shi2025 Figures 3 and 4", SHI),
        lambda j, **sizes: view.draw(judge_agreement, agreeing(j), **ABOUT, **sizes),
    ),
    "quality_gap": (*("shi2025 Figures 2 (c) to (f) and 5", SHI), qualities_drawn),
}


pytestmark = pytest.mark.usefixtures("house_style")


def sizes_of(name, preset):
    """The lengths and columns that a preset gives a figure."""
    block = {}
    presets.fill(block, results.defaults("figures", name), preset)
    return {key: value for key, value in block.items() if key != "preset"}


def drawn(name, preset, root, **more):
    """The figure as the workflow draws it for a page or a column."""
    output.use_style(root / "resources/rubric_order.mplstyle", preset)
    _, judges, draw = DRAWN[name]
    sizes = sizes_of(name, preset)
    labels = Labels({judge: judge for judge in judges}, DATASETS | PAIRS | {"flask_human": "FLASK"})
    return draw(judges, labels=labels, **sizes | more)


def written(figure):
    """Texts of a figure, and their places."""
    figure.draw_without_rendering()
    hidden = {text for axis in figure.axes if not axis.get_visible() for text in axis.findobj(Text)}
    for axis in figure.axes:
        for side, (low, high) in ((axis.xaxis, sorted(axis.get_xlim())), (axis.yaxis, sorted(axis.get_ylim()))):
            ticks = [*side.get_major_ticks(), *side.get_minor_ticks()]
            beyond = [tick for tick in ticks if not low - 1e-9 <= tick.get_loc() <= high + 1e-9]
            hidden |= {label for tick in beyond for label in (tick.label1, tick.label2)}
    shown = [text for text in figure.findobj(Text) if text not in hidden and text.get_visible() and text.get_text()]
    return [(text.get_text(), text.get_window_extent()) for text in shown]


def gaps(found):
    """For every two texts how many pixels they are apart, below 0 where their boxes overlap; and which two."""
    ends = np.array([[box.x0, box.y0, box.x1, box.y1] for _, box in found])
    apart = np.maximum(
        np.maximum(ends[:, None, 0] - ends[None, :, 2], ends[None, :, 0] - ends[:, None, 2]),
        np.maximum(ends[:, None, 1] - ends[None, :, 3], ends[None, :, 1] - ends[:, None, 3]),
    )
    return apart[np.triu_indices(len(found), 1)], np.triu_indices(len(found), 1)


# What configs of papers set beside the sizes of a preset.
SET = {("position_selection", "page"): {"columns": 3}, ("scoring_accuracy", "page"): {"shown": "correlation"}}
LEAST = 1.0  # pixels between two texts, of which a figure has 100 an inch
DRAWINGS = [(name, preset, {}) for name in DRAWN for preset in ("page", "column")]
DRAWINGS += [(name, "slide", {}) for name in ("position_selection", "score_position", "criterion_order")]
DRAWINGS += [(*key, more) for key, more in SET.items()]


@pytest.mark.parametrize(("name", "preset", "more"), DRAWINGS, ids=str)
def test_at_the_size_of_the_paper_nothing_is_cut_off_and_no_text_touches_another(name, preset, more, root):
    figure = drawn(name, preset, root, **more)
    found = written(figure)
    assert len(found) > 20
    for text, box in found:
        inside = box.x0 > -1 and box.y0 > -1 and box.x1 < figure.bbox.x1 + 1 and box.y1 < figure.bbox.y1 + 1
        assert inside, f"cut off: {text!r}"
    apart, (first, second) = gaps(found)
    near = [(found[a][0], found[b][0], round(d, 1)) for d, a, b in zip(apart, first, second, strict=True) if d < LEAST]
    assert not near


def test_four_notes_a_panel_stay_within_it_and_what_they_leave_out_is_in_the_legend(root):
    figure = drawn("position_selection", "page", root, columns=3)
    figure.draw_without_rendering()
    panels = [axis for axis in figure.axes if axis.get_visible()]
    for axis in panels:
        (note,) = axis.texts
        box, panel = note.get_window_extent(), axis.get_window_extent()
        assert panel.x0 <= box.x0 < box.x1 <= panel.x1
        shares = selections(XU).query("quantity == 'share'")
        assert box.y0 > axis.transData.transform((1, 100 * shares["ci_high"].max()))[1]
        assert note.get_text().splitlines()[0] == "MT-Bench: V 0.12 [0.09, 0.16]"
    entries = {text.get_text() for legend in figure.legends for text in legend.get_texts()}
    assert {f"{label} (1100 groups)" for label in DATASETS.values()} < entries


def test_names_beside_a_map_of_fifteen_judges_can_be_read(root):
    for preset in ("page", "column"):
        figure = drawn("judge_agreement", preset, root)
        maps = [axis for axis in figure.axes if axis.images]
        sizes = {label.get_fontsize() for axis in maps for label in axis.get_xticklabels()}
        assert min(sizes) >= judge_agreement.LEAST_NAME
        numbers = {text.get_fontsize() for axis in maps for text in axis.texts}
        assert min(numbers) >= judge_agreement.LEAST_LETTERS


def test_figure_6_marks_what_its_tests_tell_from_0_and_from_the_reference(root):
    output.use_style(root / "resources/rubric_order.mplstyle")
    table = against_one(SHI)
    figure = view.draw(
        judges_compared,
        table,
        consistencies(SHI),
        **ABOUT,
        reference=SHI[0],
        width_in=6.5,
        row_height_in=0.13,
        labels=Labels({name: name for name in SHI}, PAIRS),
    )
    maps = [axis for axis in figure.axes if axis.get_visible()]
    assert [axis.get_title() for axis in maps[:2]] == [
        f"MT-Bench, pairs\nConsistency less that of {SHI[0]}",
        "MT-Bench, pairs\nPreference fairness",
    ]
    of_first = table[table["benchmark"] == "MTBench"]
    told = (of_first["ci_low"] > 0) | (of_first["ci_high"] < 0)
    assert sum(text.get_text().endswith("*") for text in maps[0].texts) == told.sum() > 5
    assert len(maps[0].texts) == len(of_first)
    assert SHI[0] not in [label.get_text() for label in maps[0].get_yticklabels()]
    assert SHI[0] in [label.get_text() for label in maps[1].get_yticklabels()]
