"""vLLM in the process of the job. The engine always has requests waiting, and answers are yielded as they finish."""

import contextlib
import copy
import dataclasses
import difflib
import functools
import importlib.metadata
import itertools
import logging
import math
import os
import warnings
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from rubric_order.base.errors import InputError
from rubric_order.base.keys import DEFAULT_PROFILE
from rubric_order.judging import chat, weights
from rubric_order.judging.engines import (
    CUT_SHORT,
    Engine,
    Request,
    Resources,
    Response,
    given,
    label_places,
    label_tokens,
)
from rubric_order.parsing.choices import are_numbers
from rubric_order.probes import Question
from rubric_order.settings.judges.judge import is_local
from rubric_order.settings.judges.loaded import Loaded
from rubric_order.settings.judges.vllm import Vllm

log = logging.getLogger("rubric_order")
ENCODED_AT_ONCE = 64  # prompts that are encoded in one call, while the engine computes
DEPRECATED = ("fbgemm_fp8", "fp_quant")  # methods of quantization that vLLM takes only if they are allowed
QUEUED_PER_RUNNING = 4  # requests in the queue per running request, so that the scheduler never idles


def environment(judge: Loaded) -> dict[str, str]:
    ours = {"VLLM_LOGGING_LEVEL": "ERROR", "VLLM_NO_USAGE_STATS": "1", "TQDM_DISABLE": "1"}
    if is_cpu_build():
        ours["VLLM_CPU_KVCACHE_SPACE"] = "4"
    chosen = {name: os.environ.get(name, value) for name, value in ours.items()}
    return chosen | ({"VLLM_BATCH_INVARIANT": "1"} if judge.batch_invariant else {})


def installed() -> str | None:
    for name in ("vllm-cpu", "vllm"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            return f"{name} {importlib.metadata.version(name)}"
    return None


def is_cpu_build() -> bool:
    return "cpu" in (installed() or "")


def gpus_to_claim(gpus: int) -> int:
    """GPUs of a job if config gives it `gpus`: at least one for the CUDA build of vLLM, none for the CPU build."""
    if gpus and is_cpu_build():
        raise InputError(
            f"gpu: the judge asks for {gpus}, but {installed()} computes on the CPU; set up again with"
            " `make env REQUIREMENTS=requirements/cuda.txt`, or give the judge gpu: 0"
        )
    return max(gpus, 1) if installed() and not is_cpu_build() else gpus


def engine_arguments(judge: Loaded, resources: Resources) -> dict[str, Any]:
    arguments = {
        "model": str(resources.model_folder or os.path.expanduser(judge.model)),
        "revision": judge.revision,
        "dtype": judge.dtype,
        "quantization": judge.quantization,
        "allow_deprecated_quantization": True if judge.quantization in DEPRECATED else None,
        "max_model_len": judge.max_model_len,
        "tensor_parallel_size": tensor_parallel_size(judge, resources.gpus),
        "seed": judge.sampling.seed,
        "enable_prefix_caching": True,
        "disable_log_stats": True,
        # The CPU build cannot read a prompt in pieces if answers are drawn with a seed: its random generators have no
        # offset that vLLM could set back ("CPU Generator does not use offset").
        "enable_chunked_prefill": False if is_cpu_build() and _draws(judge) else None,
        **judge.engine_args,
    }
    return {key: value for key, value in arguments.items() if value is not None}


def _draws(judge: Loaded) -> bool:
    variants = (judge.under(name) for name in (DEFAULT_PROFILE, *judge.profiles))
    return any(given(variant.sampling.temperature) > 0 for variant in variants)


def describe_model(judge: Loaded, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments (without the path of a local model), the model's commit, and the digest of its weights."""
    model, revision = arguments["model"], arguments.get("revision")
    return {
        "engine_args": {**arguments, "model": Path(model).name if is_local(model) else model},
        "model_revision": weights.commit(model, revision),
        "weights": judge.weights or (judge.gguf.sha256 if judge.gguf else None),
    }


class VllmEngine(Engine[Vllm]):
    """A model under fixed settings in vLLM's engine."""

    JUDGE = Vllm

    @staticmethod
    def gpus_to_claim(gpus: int) -> int:
        return gpus_to_claim(gpus)

    def start(self) -> None:
        warnings.filterwarnings("ignore", category=FutureWarning, module="vllm")
        os.environ.update(environment(self.judge))
        if is_cpu_build():
            # One process: a second process would take a core away from the computation. The process runs on the cores
            # that the job may use, in OMP_NUM_THREADS threads. Snakemake sets this to the threads of the job.
            os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
        from vllm.engine.arg_utils import EngineArgs
        from vllm.usage.usage_lib import UsageContext
        from vllm.v1.engine.llm_engine import LLMEngine

        self.arguments = engine_arguments(self.judge, self.resources)
        accepted = {field.name for field in dataclasses.fields(EngineArgs)}
        for name in self.judge.engine_args:
            if name not in accepted:
                near = ", ".join(difflib.get_close_matches(name, accepted)) or "see vLLM's engine arguments"
                raise InputError(f"judge: engine_args: vLLM has no argument {name!r}; expected {near}")
        try:
            # The context gives the defaults of class `LLM`. Without it, vLLM's batch on a large GPU is an eighth as
            # large.
            self.engine = LLMEngine.from_engine_args(EngineArgs(**self.arguments), UsageContext.LLM_CLASS)
        except (OSError, ValueError) as error:
            raise InputError(
                f"judge: vLLM cannot load model {self.arguments['model']!r}: {' '.join(str(error).split())}"
            ) from error
        self.tokenizer: Any = self.engine.get_tokenizer()
        self.max_model_len = self.engine.vllm_config.model_config.max_model_len
        scheduler = self.engine.vllm_config.scheduler_config
        self.batch = {name: getattr(scheduler, name) for name in ("max_num_batched_tokens", "max_num_seqs")}
        self.queue = QUEUED_PER_RUNNING * scheduler.max_num_seqs

    def describe(self) -> dict[str, Any]:
        import vllm

        description = describe_model(self.judge, self.arguments)
        return {"engine": "vllm", "engine_version": vllm.__version__, "batch": self.batch, **description}

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        running: dict[str, Request] = {}
        exhausted = False
        with contextlib.closing(self._encoded(requests)) as waiting:
            while running or not exhausted:
                # One batch of prompts per step: the first step does not wait for later batches. And the time that
                # encoding takes does not change which requests are computed together.
                for _ in range(ENCODED_AT_ONCE):
                    if exhausted or len(running) >= self.queue:
                        break
                    request, tokens = next(waiting, (None, []))
                    if request is None:
                        exhausted = True
                    elif (failure := self._start(request, tokens)) is not None:
                        yield failure
                    else:
                        running[request.request_id] = request
                if running:
                    for output in self.engine.step():
                        if output.finished:
                            yield self._response(running.pop(output.request_id), output)

    def _encoded(self, requests: Iterable[Request]) -> Generator[tuple[Request, list[int]]]:
        """Requests with their tokens. A thread encodes prompts ahead, so that the engine does not wait for tokens."""
        source, tokenizer = iter(requests), copy.deepcopy(self.tokenizer)  # a tokenizer serves one thread

        def some() -> list[tuple[Request, list[int]]]:
            batch = list(itertools.islice(source, ENCODED_AT_ONCE))
            # Only the answer to a single question begins with the prefix.
            begun = ("" if request.names else request.begun for request in batch)
            prompts = [
                chat.Prompt(self.under(request.profile), request.prompt, start)
                for request, start in zip(batch, begun, strict=True)
            ]
            return list(zip(batch, chat.encode_all(tokenizer, prompts), strict=True))

        with ThreadPoolExecutor(max_workers=1) as thread:
            coming = thread.submit(some)
            while ready := coming.result():
                coming = thread.submit(some)
                yield from ready

    def _start(self, request: Request, tokens: list[int]) -> Response | None:
        """Give a request to the engine. Returns a failure where the prompt is too long, else None."""
        if len(tokens) >= self.max_model_len:
            error = f"prompt_too_long: {len(tokens)} tokens, the model takes {self.max_model_len}"
            return Response(request.request_id, error=error, prompt_tokens=len(tokens))
        self.engine.add_request(request.request_id, {"prompt_token_ids": tokens}, self._sampling(request))
        return None

    @functools.cache  # noqa: B019 - one engine lives as long as the job
    def under(self, profile: str) -> Vllm:
        return self.judge.under(profile)

    def encode(self, prompt: str, profile: str = DEFAULT_PROFILE, *, begun: str | None = None) -> list[int]:
        return chat.encode(self.tokenizer, self.under(profile), prompt, begun=begun)

    @functools.cache  # noqa: B019 - one engine lives as long as the job
    def spellings(self, labels: tuple[str, ...]) -> list[list[list[int]]]:
        """The tokens of each label, alone and after a space."""
        texts = ((label, f" {label}") for label in labels)
        return [[self.tokenizer.encode(text, add_special_tokens=False) for text in pair] for pair in texts]

    @functools.cache  # noqa: B019 - one engine lives as long as the job
    def label_tokens(self, labels: tuple[str, ...]) -> list[list[int]]:
        return label_tokens.single_tokens(self.spellings(labels))

    @functools.cache  # noqa: B019 - one engine lives as long as the job
    def readable(self, labels: tuple[str, ...], *, several: bool) -> bool:
        """Tell whether the log-probabilities of labels are asked for; for one question, log once why they are not, and
        refuse numbers.
        """
        reason = label_tokens.problem(labels, self.spellings(labels))
        if reason and not several:
            if are_numbers(labels):
                raise InputError(f"judge: {reason}; use answer_format: feedback")
            log.warning("no option probabilities for scores %s: %s", ", ".join(labels), reason)
        return reason is None

    def _sampling(self, request: Request) -> Any:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

        judge = self.under(request.profile)
        sampling, temperature = judge.sampling, given(judge.sampling.temperature)
        seed = given(sampling.seed) + request.repeat
        if request.begun is not None:
            return SamplingParams(
                temperature=temperature,
                max_tokens=8,
                seed=seed,
                structured_outputs=StructuredOutputsParams(choice=list(request.labels)),
                output_kind=RequestOutputKind.FINAL_ONLY,  # otherwise each step describes all partial answers
            )
        ids = lines = None
        if request.names and judge.criteria_format == "lines":
            lines = StructuredOutputsParams(regex=label_places.lines_pattern(request.questions))
        wanted = bool(request.names) or judge.answer_format == "score"
        if wanted and self.readable(request.labels, several=bool(request.names)):
            ids = sorted({token for tokens in self.label_tokens(request.labels) for token in tokens})
        return SamplingParams(
            temperature=temperature,
            top_p=given(sampling.top_p),
            max_tokens=sampling.max_tokens,
            stop=sampling.stop or None,
            seed=seed,
            logprob_token_ids=ids,
            flat_logprobs=True,  # lists of numbers instead of one object per token and place
            structured_outputs=lines,
            output_kind=RequestOutputKind.FINAL_ONLY,
            # The mark that ends the reasoning can be a special token.
            skip_special_tokens=not judge.reasoning_end,
        )

    def _response(self, request: Request, output: Any) -> Response:
        completion = output.outputs[0]
        if completion.finish_reason in CUT_SHORT:
            error = f"server_error: the answer ended with {completion.finish_reason}"
            return Response(request.request_id, error=error, prompt_tokens=len(output.prompt_token_ids))
        text, reasoning = completion.text, None
        start: int | None = 0
        if self.judge.reasoning_end and request.begun is None:
            reasoning, text = split_reasoning(text, self.judge.reasoning_end, self.tokenizer.all_special_tokens)
            mark = self.tokenizer.encode(self.judge.reasoning_end, add_special_tokens=False)
            start = end_of(list(completion.token_ids), mark)
        logprobs, token = None, None
        if completion.logprobs and start is not None and start < len(completion.token_ids):
            answer = completion.token_ids[start:]
            generated = (answer, completion.logprobs[start:], self.label_tokens(request.labels))
            if request.names:
                pieces = self.tokenizer.batch_decode([[token] for token in answer])
                logprobs = read_several(*generated, pieces, request.questions)
            else:
                logprobs, token = read_options(*generated)
                token += start
        return Response(
            request.request_id,
            text=text,
            reasoning=reasoning,
            finish_reason=completion.finish_reason,
            prompt_tokens=len(output.prompt_token_ids),
            completion_tokens=len(completion.token_ids),
            cached_tokens=output.num_cached_tokens,
            option_logprobs=logprobs,
            option_token=token,
        )


def tensor_parallel_size(judge: Loaded, gpus: int) -> int:
    """Number of GPUs that share a layer: the job's, divided by the model's copies and its pipeline stages."""
    gpus = max(gpus, 1)
    copies, stages = (int(judge.engine_args.get(f"{kind}_parallel_size", 1)) for kind in ("data", "pipeline"))
    if gpus % (copies * stages):
        among = f"{stages} stages of a pipeline" + (f" in {copies} copies" if copies > 1 else "")
        raise InputError(f"judge: gpu: {gpus} GPUs cannot be shared among {among}")
    return gpus // (copies * stages)


def split_reasoning(text: str, end: str, special_tokens: list[str]) -> tuple[str, str]:
    """A judge's reasoning, and the answer after the mark that ends it, without special tokens (the mark can be one).
    Without the mark all is reasoning.
    """
    reasoning, mark, answer = text.partition(end)
    if not mark:
        return reasoning, ""
    for token in special_tokens:
        answer = answer.replace(token, "")
    return reasoning, answer.lstrip("\n")


def end_of(tokens: list[int], mark: list[int]) -> int | None:
    width = len(mark)
    return next((at + width for at in range(len(tokens) - width + 1) if tokens[at : at + width] == mark), None)


def read_options(
    token_ids: list[int], logprobs: list[dict[int, Any]], variants: list[list[int]]
) -> tuple[list[float], int]:
    """Log-probability of each label at the first generated token that is a label (else at the first), and the index of
    that token; summed over the tokens that write a label (`variants`), other tokens not distributed.
    """
    writing = {token for tokens in variants for token in tokens}
    place = next((index for index, token in enumerate(token_ids) if token in writing), 0)
    return option_logprobs(logprobs[place], variants), place


def read_several(
    token_ids: Sequence[int],
    logprobs: Sequence[dict[int, Any]],
    variants: list[list[int]],
    pieces: Sequence[str],
    questions: Sequence[Question],
) -> list[float] | None:
    """Log-probability of each label, one question after the other, at the place of its label
    (`label_places.places_of_labels`); NaN without one, or where it is no single token. None if all are NaN.
    """
    values = []
    for place in label_places.places_of_labels(token_ids, variants, pieces, questions):
        values += [math.nan] * len(variants) if place is None else option_logprobs(logprobs[place], variants)
    return None if all(map(math.isnan, values)) else values


def option_logprobs(at: dict[int, Any], variants: list[list[int]]) -> list[float]:
    return [float(np.logaddexp.reduce([at[token].logprob for token in tokens])) for tokens in variants]
