"""From a prompt to the tokens that a model is given: chat template, system message, and how the answer begins."""

import logging
import os
from collections.abc import Mapping
from pathlib import Path

from rubric_order.base.errors import InputError
from rubric_order.config import judges
from rubric_order.judging import weights

log = logging.getLogger(__name__)


def encode(tokenizer, judge: Mapping, prompt: str, *, begun: str | None = None) -> list[int]:
    """Tokens of a chat whose user says `prompt`, up to and including the prefix of the answer.

    Where the prompt holds one of the tokenizer's special tokens as text, that text is split into ordinary tokens: an
    item cannot end the user's turn.

    Args:
        tokenizer: of the transformers library.
        judge: the judge's settings, with its profile, see `judges.with_profile`.
        begun: how the answer begins, in place of the judge's own prefix.
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
    """The tokenizer of a judge's model, where this machine has it; nothing is fetched.

    Args:
        judge: the judge's settings.
        converted: where the workflow puts weights that it makes itself.

    Returns:
        None where there is none: no such folder, nothing in the hub's cache, or no transformers library.
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
