"""Weights that a Python package ships as a GGUF file, made loadable for vLLM."""

import functools
import hashlib
import importlib.util
import json
import logging
import os
import shutil
import tempfile
from pathlib import Path

from rubric_order.base import files
from rubric_order.base.errors import InputError

log = logging.getLogger(__name__)


def packaged_file(package: str, name: str) -> Path:
    """Path of a file inside an installed package, found without importing the package.

    Raises:
        InputError: the package is not installed or has no such file.
    """
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise InputError(f"gguf: package {package!r} is not installed")
    path = Path(spec.origin).parent / name
    if not path.is_file():
        raise InputError(f"gguf: package {package!r} has no file {name!r}")
    return path


def convert_gguf(package: str, name: str, sha256: str, output: Path, *, dtype: str) -> None:
    """Dequantise a GGUF file into a folder with safetensors weights, tokenizer and chat template.

    Args:
        package, name: the package that ships the file, and the file's name.
        sha256: checksum of the file.
        output: the folder; it is renamed into place when it is complete.
        dtype: number format of the weights, such as ``bfloat16``.

    Raises:
        InputError: the file is missing, or has another checksum.
    """
    source = packaged_file(package, name)
    found = files.sha256(source)
    if found != sha256:
        raise InputError(f"gguf: {name} of package {package!r} has SHA-256 {found}, expected {sha256}")

    os.environ.setdefault("TQDM_DISABLE", "1")
    import gguf
    import torch
    import transformers

    transformers.utils.logging.set_verbosity_error()
    # transformers reads the file three times, and makes the table of names anew for each module: half of the time.
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


def weights_index(model: str, revision: str | None = None) -> str | None:
    """SHA-256 of the list of a model's weights: of its index file, or of the header of its only weights file.

    Args:
        model: a folder, or the id of a model that the hub's cache holds.

    Returns:
        None where there are no safetensors weights.
    """
    index, single = (_model_file(model, revision, f"model.safetensors{end}") for end in (".index.json", ""))
    if index is not None:
        return files.sha256(index)
    if single is None:
        return None
    with single.open("rb") as weights:  # 8 bytes say how long the header is
        return hashlib.sha256(weights.read(int.from_bytes(weights.read(8), "little"))).hexdigest()


def commit(model: str, revision: str | None = None) -> str | None:
    """The commit of a model that the hub's cache holds; None for a folder, and where it is not known."""
    config = None if Path(model).is_dir() else _model_file(model, revision, "config.json")
    return config.parent.name if config is not None else None


def _model_file(model: str, revision: str | None, name: str) -> Path | None:
    if Path(model).is_dir():
        found: object = Path(model, name)
    else:
        import huggingface_hub

        found = huggingface_hub.try_to_load_from_cache(model, name, revision=revision)
    return Path(found) if isinstance(found, str | Path) and Path(found).is_file() else None
