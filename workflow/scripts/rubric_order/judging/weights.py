"""Weights of judges: GGUF files converted for vLLM, digests of local weights, commits of models of the hub."""

import functools
import hashlib
import importlib.util
import json
import logging
import os
import re
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from rubric_order.base import files
from rubric_order.base.errors import InputError
from rubric_order.settings.judges.judge import is_local

log = logging.getLogger(__name__)

# Files beside the weights that do not change answers.
BESIDE = re.compile(r".*\.md$|LICENSE|(optimizer|scheduler|scaler|rng_state|trainer_state|training_args)\b|rng_state_")


def packaged_file(package: str, name: str) -> Path:
    """Path of a file inside an installed package, found without importing the package."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise InputError(f"gguf: package {package!r} is not installed")
    path = Path(spec.origin).parent / name
    if not path.is_file():
        raise InputError(f"gguf: package {package!r} has no file {name!r}")
    return path


def convert_gguf(package: str, name: str, sha256: str, output: Path, *, dtype: str) -> None:
    """Dequantise a packaged GGUF file into a folder with safetensors weights, tokenizer and chat template, renamed into
    place when complete.
    """
    source = packaged_file(package, name)
    digest = files.sha256(source)
    if digest != sha256:
        raise InputError(f"gguf: {name} of package {package!r} has SHA-256 {digest}, expected {sha256}")

    os.environ.setdefault("TQDM_DISABLE", "1")
    import gguf
    import torch
    import transformers

    transformers.utils.logging.set_verbosity_error()
    # transformers reads the file three times, and makes the table of names anew for each module. That takes half of
    # the time, so both are cached.
    gguf.GGUFReader = functools.cache(gguf.GGUFReader)
    gguf.get_tensor_name_map = functools.cache(gguf.get_tensor_name_map)
    tokenizer = transformers.AutoTokenizer.from_pretrained(source.parent, gguf_file=name)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        source.parent, gguf_file=name, dtype=getattr(torch, dtype)
    )
    # The weights are plain now; a model that is marked as quantised refuses to be saved.
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    output.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=output.parent, prefix=f".{output.name}-"))
    try:
        model.save_pretrained(temporary)
        tokenizer.save_pretrained(temporary)
        origin = {"package": package, "file": name, "sha256": sha256, "dtype": dtype}
        (temporary / "source.json").write_text(json.dumps(origin, indent=2) + "\n")
        temporary.chmod(0o755)
        shutil.rmtree(output, ignore_errors=True)
        temporary.rename(output)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    log.info("%s: %.0f million parameters as %s", output, model.num_parameters() / 1e6, dtype)


def describe(model: str, revision: str | None) -> dict[str, str]:
    """``weights``, a digest of the content of local files, or ``revision``, the commit on the hub (or in its cache)."""
    if not is_local(model):
        return {"revision": _resolve(model, revision)}
    folder = Path(model).expanduser()
    if not (paths := local_files(model)):
        raise InputError(f"judge: model: {model}: no such folder or file, or it is empty")
    with ThreadPoolExecutor(4) as pool:
        digests = list(pool.map(files.sha256, paths))
    relative_paths = [path.relative_to(folder).as_posix() if path != folder else "" for path in paths]
    return {"weights": hashlib.sha256(json.dumps([*zip(relative_paths, digests, strict=True)]).encode()).hexdigest()}


def local_files(model: str) -> list[Path]:
    folder = Path(model).expanduser()
    if folder.is_file():
        return [folder]
    paths = (path for path in folder.rglob("*") if path.is_file())
    return sorted(
        path
        for path in paths
        if not any(part.startswith(".") for part in path.relative_to(folder).parts) and not BESIDE.match(path.name)
    )


def state(model: str) -> list[list[Any]]:
    """Names, sizes and times (ns) of the files of a local model. If these are unchanged, so is the digest."""
    return [[str(path), path.stat().st_size, path.stat().st_mtime_ns] for path in local_files(model)]


def _resolve(model: str, revision: str | None) -> str:
    import huggingface_hub
    from huggingface_hub import errors

    try:
        return huggingface_hub.HfApi().model_info(model, revision=revision, timeout=30).sha
    except (OSError, ValueError, errors.HTTPError) as error:  # errors of httpx, or of httpx2
        if (cached := commit(model, revision)) is not None:
            log.warning("%s: the hub cannot be asked; taking commit %s from its cache", model, cached)
            return cached
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"judge: revision: which commit of {model} is {revision or 'the newest'} cannot be found, neither on the"
            f" hub nor in its cache; name the commit ({reason})"
        ) from None


def commit(model: str, revision: str | None = None) -> str | None:
    """The commit of a model in the hub's cache; None for a folder, and where the cache does not hold it."""
    config = None if Path(model).is_dir() else _model_file(model, revision, "config.json")
    return config.parent.name if config is not None else None


def _model_file(model: str, revision: str | None, name: str) -> Path | None:
    if Path(model).is_dir():
        location: object = Path(model, name)
    else:
        import huggingface_hub

        location = huggingface_hub.try_to_load_from_cache(model, name, revision=revision)
    return Path(location) if isinstance(location, str | Path) and Path(location).is_file() else None
