"""A judge that asks a model twice: for notes, and then for the score. It needs the key in OPENAI_API_KEY."""

import openai


async def judge(messages: list[dict[str, str]]) -> str:
    async with openai.AsyncOpenAI(max_retries=0) as client:  # rubric-order tries again, and counts
        think = [*messages, {"role": "user", "content": "First write notes, without a score."}]
        notes = await client.chat.completions.create(model="gpt-4.1-mini", messages=think)
        noted = [{"role": "assistant", "content": notes.choices[0].message.content}]
        score = [*messages, *noted, {"role": "user", "content": "Now answer, with the score."}]
        reply = await client.chat.completions.create(model="gpt-4.1-mini", messages=score)
        return reply.choices[0].message.content
