"""A judge that litellm asks. It needs litellm, and the key in OPENAI_API_KEY."""

import litellm


def judge(messages: list[dict[str, str]]) -> dict[str, object]:
    reply = litellm.completion(model="openai/gpt-4.1-mini", messages=messages, temperature=0, max_tokens=1024)
    used = {"prompt_tokens": reply.usage.prompt_tokens, "completion_tokens": reply.usage.completion_tokens}
    return {"text": reply.choices[0].message.content, "model": reply.model, **used}
