"""Speed of a judge job, as ratios of one run: against vLLM alone, without prefix caching, and in another order.

    python tests/benchmarks/judge_speed.py --mirror PATH

24 items of MT-Bench in 10 orderings, answer format `score`, by the demo's judge. An engine is warmed up with a few
requests, and its prefix cache is empty before each pass. The job and vLLM alone (`LLM.generate`) take turns on one
engine, since two engines of one process can differ by more than these two do; the ratio is the median over the turns.
The other arms have an engine of their own and one pass each: they take minutes, and their ratios are far from 1. Of the
first two it also says what share of its time the thread that drives the engine spends outside of the engine's steps.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pandas as pd
import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))

STUDY = {
    "datasets": {"mt_bench": {"limit": 6}},  # 6 prompts, 4 models each
    "studies": {"position_bias": {"datasets": ["mt_bench"], "judges": ["smollm2_135m"], "strategies": ["balanced"]}},
}
WARM_UP = 24  # requests
SMALL = 320  # blocks of 32 tokens: about half of what 64 prompts of the benchmark hold
ARMS = {
    ("job", "bare"): {},
    ("job, no prefix caching",): {"enable_prefix_caching": False},
    ("job, small cache, item-major",): {"num_gpu_blocks_override": SMALL},
    ("job, small cache, ordering-major",): {"num_gpu_blocks_override": SMALL},
}  # the runs that take turns on one engine, and arguments of that engine
RATIOS = (  # arm, baseline, what is asked of it
    ("job", "bare", "at least 1.0"),
    ("job", "job, no prefix caching", "at least 2.5"),
    ("job, small cache, item-major", "job, small cache, ordering-major", "above 1"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mirror", default="", help="folder with the datasets' files, read instead of the network")
    parser.add_argument("--passes", type=int, default=3, help="turns of the job and of vLLM alone")
    parser.add_argument("--folder", type=Path, help="where to work; by default a temporary folder")
    parser.add_argument("--engines", type=int, default=len(ARMS), help="how many engines, in their order; at least 1")
    parser.add_argument("--arms", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.arms is not None:
        print(json.dumps(measure([*ARMS][options.arms], options.folder, options.passes)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        prepare(folder, options.mirror)
        results = {}
        for index, arms in enumerate([*ARMS][: options.engines]):
            passes = options.passes if len(arms) > 1 else 1
            command = [sys.executable, __file__, "--arms", str(index), "--folder", str(folder), "--passes", str(passes)]
            output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
            measured = json.loads(output.splitlines()[-1])
            for arm, result in measured.items():
                beside = f"{result['beside']:.1%} of the time beside step()" if len(arms) > 1 else ""
                rate = f"{statistics.median(result['passes']):6.2f} prompts per second"
                print(f"{arm:34} {rate}  {result['passes']}  {beside}", flush=True)
            results |= measured
        print(f"\nprompt tokens {results['job']['prompt_tokens']:,}, cached {results['job']['cached_share']:.1%}")
        tokens, share = planned(folder)
        apart = share / results["job"]["cached_share"] - 1
        print(f"planned before: {tokens:,.0f}, cached {share:.1%}, {apart:+.1%} (within 10% asked)")
        for arm, baseline, asked in RATIOS:
            if not {arm, baseline} <= {*results}:
                continue
            rates, others = results[arm]["passes"], results[baseline]["passes"]
            if len(others) == len(rates):  # turn by turn
                ratio = statistics.median(one / other for one, other in zip(rates, others, strict=True))
            else:
                ratio = statistics.median(rates) / statistics.median(others)
            print(f"{arm} / {baseline}: {ratio:.3f} ({asked})")


def prepare(folder: Path, mirror: str) -> None:
    """Make the requests and the judge's weights in the working directory `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "study.yaml").write_text(yaml.safe_dump(STUDY | {"dataset_mirror": mirror}))
    targets = ["results/requests/position_bias/smollm2_135m.parquet", "results/models/smollm2_135m_instruct_float32"]
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder)]
    command += ["--cores", "all", "--quiet", "all", "--configfile", str(folder / "study.yaml"), "--", *targets]
    subprocess.run(command, check=True, stdout=sys.stderr)


def planned(folder: Path) -> tuple[float, float]:
    """Prompt tokens of all requests and the share of them that comes from the cache, as `plan_cost` reckons."""
    from rubric_order.judging import costs

    judge, model = demo_judge(), folder / "results/models/smollm2_135m_instruct_float32"
    requests = folder / "results/requests/position_bias/smollm2_135m.parquet"
    tokens, cached = costs.prompt_tokens(requests, judge, costs.encoder(judge, model))
    return tokens, cached / tokens


def measure(arms: tuple[str, ...], folder: Path, passes: int) -> dict[str, dict]:
    """Rates in prompts per second of runs that take turns on one engine, once it is ready."""
    import logging

    from rubric_order.judging import engines

    logging.basicConfig(level=logging.WARNING)
    os.environ["VLLM_CPU_KVCACHE_SPACE"] = "2"
    requests = pd.read_parquet(folder / "results/requests/position_bias/smollm2_135m.parquet")
    if arms[0].endswith("ordering-major"):
        shown = requests["ordering"].map(tuple)
        requests = requests.assign(shown=shown).sort_values(["shown", "unit_id"]).drop(columns="shown")
    model = folder / "results/models/smollm2_135m_instruct_float32"
    engine = engines.load(demo_judge(**ARMS[arms]), engines.Resources(model_folder=model))
    runs = {arm: bare(engine) if arm == "bare" else job(engine) for arm in arms}
    stepping = timed_steps(engine.engine)
    found = {arm: {"passes": [], "shares": []} for arm in arms}
    for arm in arms:
        runs[arm](requests.head(WARM_UP))
    for turn in range(passes):
        for arm in arms if turn % 2 == 0 else arms[::-1]:
            if ARMS[arms].get("enable_prefix_caching", True):
                engine.engine.reset_prefix_cache()
            begun, before = time.perf_counter(), sum(stepping)
            hits, tokens = runs[arm](requests)
            seconds = time.perf_counter() - begun
            found[arm]["passes"].append(round(len(requests) / seconds, 3))
            found[arm]["shares"].append(1 - (sum(stepping) - before) / seconds)
            found[arm] |= {"prompt_tokens": tokens, "cached_share": hits / tokens}
    return {arm: {**result, "beside": statistics.median(result.pop("shares"))} for arm, result in found.items()}


def timed_steps(engine) -> list[float]:
    """The seconds of each step of vLLM's engine, which this list collects from now on."""
    seconds: list[float] = []
    step = engine.step

    def timed():
        begun = time.perf_counter()
        done = step()
        seconds.append(time.perf_counter() - begun)
        return done

    engine.step = timed
    return seconds


def job(engine) -> Callable[[pd.DataFrame], tuple[int, int]]:
    """A shard's job on a ready engine, with a new store each time. It returns cached and all prompt tokens."""
    from rubric_order.judging import shard
    from rubric_order.judging.store import Store

    def run(requests: pd.DataFrame) -> tuple[int, int]:
        with tempfile.TemporaryDirectory() as store:
            shard.judge(requests, Store(store), lambda: engine)
            done = Store(store).read(requests["request_id"])
            return int(done["cached_tokens"].sum()), int(done["prompt_tokens"].sum())

    return run


def bare(engine) -> Callable[[pd.DataFrame], tuple[int, int]]:
    """The same prompts, in the same order, through ``LLM.generate`` at once, on the same engine of vLLM."""
    from vllm import LLM
    from vllm.v1.engine.llm_engine import LLMEngine

    from rubric_order.judging.shard import as_requests

    with mock.patch.object(LLMEngine, "from_engine_args", return_value=engine.engine):
        llm = LLM(**engine.arguments)

    def run(requests: pd.DataFrame) -> tuple[int, int]:
        tokens = [{"prompt_token_ids": engine.encode(request.prompt)} for request in as_requests(requests)]
        sampling = [engine._sampling(request) for request in as_requests(requests)]
        done = llm.generate(tokens, sampling, use_tqdm=False)
        return sum(each.num_cached_tokens for each in done), sum(len(each.prompt_token_ids) for each in done)

    return run


def demo_judge(**engine_args):
    """The demo's judge, with some arguments of the engine."""
    from rubric_order.settings import judges

    config = yaml.safe_load((ROOT / "config/judges/smollm2_135m.yaml").read_text())
    judge = judges.read(config["judges"]["smollm2_135m"])
    return judge.changed(engine_args=judge.engine_args | engine_args)


if __name__ == "__main__":  # vLLM can start processes that import this file
    main()
