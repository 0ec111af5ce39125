"""A judge that LangChain asks. It needs langchain-openai, and the key in OPENAI_API_KEY."""

from langchain_openai import ChatOpenAI

model = ChatOpenAI(model="gpt-4.1-mini", temperature=0, max_retries=0)


async def judge(messages: list[dict[str, str]]) -> str:
    return (await model.ainvoke(messages)).text
