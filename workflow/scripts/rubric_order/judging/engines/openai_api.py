"""OpenAI-compatible endpoints: endpoints that others run, and a vLLM server that runs for the time of a job."""

import importlib.metadata
from typing import Any, TypeVar

from rubric_order.judging.engines import serving, vllm_offline
from rubric_order.judging.engines.called import AddressedEngine, CalledEngine
from rubric_order.judging.engines.openai_calls import Connection
from rubric_order.judging.engines.openai_protocol import ChatCompletions
from rubric_order.settings.judges.chat import Chat, Endpoint, Server

ChatJudge = TypeVar("ChatJudge", bound=Chat)


class OpenAiEngine(CalledEngine[ChatJudge]):
    """A judge that speaks the chat completions protocol."""

    def _protocol(self, connection: Connection) -> ChatCompletions:
        return ChatCompletions(self.judge, connection)

    def describe(self) -> dict[str, Any]:
        version = importlib.metadata.version("openai")
        return {"engine": "openai", "engine_version": version, "started": self.started}


class EndpointEngine(AddressedEngine[Endpoint], OpenAiEngine[Endpoint]):
    """An endpoint that others run."""

    JUDGE = Endpoint

    def describe(self) -> dict[str, Any]:
        return super().describe() | {"base_url": self.judge.base_url}


class ServerEngine(OpenAiEngine[Server]):
    """A server that the job starts, and that ends with the job."""

    JUDGE = Server
    AT_ONCE = 512  # the server batches requests: fewer requests leave a large GPU idle
    WAITS = False

    @staticmethod
    def gpus_to_claim(gpus: int) -> int:
        return vllm_offline.gpus_to_claim(gpus)

    def _connect(self) -> Connection:
        how = self._how()
        self.server = serving.start(self.judge, self.resources)
        return Connection(self.server.base_url, key=self.server.key, server=self.server, **how)

    def describe(self) -> dict[str, Any]:
        return super().describe() | self.server.describe()

    def close(self) -> None:
        super().close()
        self.server.stop()
