"""Tokens that a model gets for a prompt: messages, chat template, and the beginning of the answer."""

import logging
import os
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import TemplateError

from rubric_order.base.errors import InputError
from rubric_order.judging import weights
from rubric_order.prompts import messages
from rubric_order.settings.judges.judge import Judge, is_local
from rubric_order.settings.judges.loaded import Loaded

log = logging.getLogger(__name__)


class Prompt(NamedTuple):
    """Parts of a chat: the judge under its profile, one or several messages (`messages.split`), and the
    beginning of the answer (None: `answer_prefix`).
    """

    judge: Judge
    text: str
    begun: str | None = None


def encode(tokenizer: Any, judge: Judge, prompt: str, *, begun: str | None = None) -> list[int]:
    return encode_all(tokenizer, [Prompt(judge, prompt, begun)])[0]


def encode_all(tokenizer: Any, prompts: Sequence[Prompt]) -> list[list[int]]:
    """Tokens of each chat up to the beginning of the answer. The text of a special token in a prompt becomes ordinary
    tokens, so that an item cannot end the user's turn; all other prompts are encoded in one call, equal ones once.
    """
    chats = [_chat(tokenizer, prompt) for prompt in prompts]
    special = tokenizer.all_special_tokens  # each access to this property looks the tokens up anew, which takes long
    holding = [any(token in prompt.text for token in special) for prompt in prompts]
    plain = list(dict.fromkeys(chat for chat, holds in zip(chats, holding, strict=True) if not holds))
    encoded = tokenizer(plain, add_special_tokens=False)["input_ids"] if plain else []
    by_chat = dict(zip(plain, encoded, strict=True))
    return [
        _split(tokenizer, prompt.text, chat) if holds else by_chat[chat]
        for prompt, chat, holds in zip(prompts, chats, holding, strict=True)
    ]


def _chat(tokenizer: Any, prompt: Prompt) -> str:
    judge = prompt.judge
    try:
        chat: str = tokenizer.apply_chat_template(
            messages.chat(prompt.text, judge.system_prompt),
            tokenize=False,
            add_generation_prompt=True,
            chat_template=judge.chat_template if isinstance(judge, Loaded) else None,
            **judge.chat_template_kwargs,
        )
    except TemplateError as error:
        roles = ", ".join(message.role for message in messages.split(prompt.text))
        raise InputError(f"judge: the chat template takes no messages of {roles} in this order: {error}") from None
    return chat + (judge.answer_prefix if prompt.begun is None else prompt.begun)


def _split(tokenizer: Any, prompt: str, chat: str) -> list[int]:
    """Tokens of a chat whose prompt holds the text of special tokens, which becomes ordinary tokens."""
    tokens, after = [], chat
    for message in messages.split(prompt):
        before, content, after = after.partition(message.content)
        if not content:
            raise InputError(
                f"judge: the chat template changes the {message.role}'s message, which holds special tokens"
            )
        tokens += tokenizer.encode(before, add_special_tokens=False)
        tokens += tokenizer.encode(content, add_special_tokens=False, split_special_tokens=True)
    return [*tokens, *tokenizer.encode(after, add_special_tokens=False)]


def local_tokenizer(judge: Judge, converted: Path) -> Any:
    """The tokenizer of a judge's model, if this machine has it (nothing is downloaded) and the transformers library;
    else None. `converted`: folder of the weights that the workflow converts.
    """
    if not judge.capabilities.tokenizer:
        return None
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", TQDM_DISABLE="1")
    source: dict[str, str | None] = {"revision": judge.revision}
    name = str(Path(judge.model).expanduser()) if is_local(judge.model) else judge.model
    try:
        from transformers import AutoTokenizer

        if isinstance(judge, Loaded) and judge.gguf:
            name, source = str(converted), {}
            if not converted.is_dir():
                path = weights.packaged_file(judge.gguf.package, judge.gguf.file)
                name, source = str(path.parent), {"gguf_file": path.name}
        tokenizer = AutoTokenizer.from_pretrained(name, local_files_only=True, **source)
        encode(tokenizer, judge, "Is there a chat template that takes these arguments?")
    except Exception as error:  # whatever is wrong with the tokenizer, tokens can be estimated without it
        # A missing file raises an OSError. Its message gives advice about the network, which was never asked.
        reason = "" if isinstance(error, OSError) else f" ({textwrap.shorten(str(error), 120, placeholder=' ...')})"
        log.info("no tokenizer of %s on this machine%s: the tokens of prompts are estimated", judge.model, reason)
        return None
    return tokenizer
