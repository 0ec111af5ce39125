"""From a prompt to the tokens that a model gets: system message, chat template, and the beginning of the answer."""

import logging
import os
from collections.abc import Mapping
from pathlib import Path

from rubric_order.base.errors import InputError
from rubric_order.config import judges
from rubric_order.judging import weights

log = logging.getLogger(__name__)


def encode(tokenizer, judge: Mapping, prompt: str, *, begun: str | None = None) -> list[int]:
    """Tokens of a chat in which `prompt` is the user's message, up to and including the beginning of the answer.

    A prompt can hold the text of a special token. That text becomes ordinary tokens, so an item cannot end the user's
    turn.

    Args:
        tokenizer: a tokenizer of the transformers library.
        judge: the judge's settings under its profile, see `config.judges.with_profile`.
        prompt: the user's message.
        begun: beginning of the answer; None for the judge's `answer_prefix`.

    Raises:
        InputError: the prompt holds a special token, and the chat template changes the prompt.
    """
    messages = [{"role": "user", "content": prompt}]
    if judge.get("system_prompt"):
        messages.insert(0, {"role": "system", "content": judge["system_prompt"]})
    chat = tokenizer.apply_chat_template(
        messages,
        tokenize=False,
        add_generation_prompt=True,
        chat_template=judge.get("chat_template"),
        **judge["chat_template_kwargs"],
    )
    chat += judge["answer_prefix"] if begun is None else begun
    if not any(special in prompt for special in tokenizer.all_special_tokens):
        return tokenizer.encode(chat, add_special_tokens=False)
    before, found, after = chat.partition(prompt)
    if not found:
        raise InputError("judge: the chat template changes the user's message, which holds special tokens")
    return [
        *tokenizer.encode(before, add_special_tokens=False),
        *tokenizer.encode(prompt, add_special_tokens=False, split_special_tokens=True),
        *tokenizer.encode(after, add_special_tokens=False),
    ]


def local_tokenizer(judge: Mapping, converted: Path):
    """The tokenizer of a judge's model, from this machine. Nothing is downloaded.

    Args:
        judge: the judge's settings.
        converted: folder of the weights that the workflow converts for this judge.

    Returns:
        None where this machine has no such tokenizer: the folder is missing, the hub's cache does not hold the model,
        or the transformers library is not installed.
    """
    if judge["engine"] == "simulated":
        return None
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", TQDM_DISABLE="1")
    source: dict = {"revision": judge.get("revision")}
    name = str(Path(judge["model"]).expanduser()) if judges.is_local(judge["model"]) else judge["model"]
    try:
        from transformers import AutoTokenizer

        if judge.get("gguf"):
            name, source = str(converted), {}
            if not converted.is_dir():
                path = weights.packaged_file(judge["gguf"]["package"], judge["gguf"]["file"])
                name, source = str(path.parent), {"gguf_file": path.name}
        tokenizer = AutoTokenizer.from_pretrained(name, local_files_only=True, **source)
        encode(tokenizer, judge, "Is there a chat template that takes these arguments?")
    except Exception as error:  # whatever is wrong with it, there is an estimate without it
        log.info("no tokenizer of %s here: %s", judge["model"], f"{' '.join(str(error).split())}."[:120])
        return None
    return tokenizer
