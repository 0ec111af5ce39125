"""OpenAI-compatible endpoints: endpoints that others run, and a vLLM server that runs for the time of a job."""

from typing import Any

from rubric_order.judging.engines import serving, vllm_offline
from rubric_order.judging.engines.calls import CallingEngine, Calls
from rubric_order.judging.engines.openai_calls import Connection, connect, description, fill_in
from rubric_order.judging.engines.openai_protocol import ChatCompletions
from rubric_order.settings.judges.endpoint import Endpoint
from rubric_order.settings.judges.server import Server

SERVER_AT_ONCE = 512  # the server batches requests: fewer requests leave a large GPU idle


class EndpointEngine(CallingEngine[Endpoint]):
    """An endpoint that others run."""

    JUDGE = Endpoint

    def start(self) -> None:
        protocol = ChatCompletions(self.judge, connect(self.judge))
        self.calls = Calls(protocol, self.judge, self.resources.turn, self.describe())

    def describe(self) -> dict[str, Any]:
        return description(self.judge, self.started) | {"base_url": self.judge.base_url}


class ServerEngine(CallingEngine[Server]):
    """A server that the job starts, and that ends with the job."""

    JUDGE = Server

    @staticmethod
    def gpus_to_claim(gpus: int) -> int:
        return vllm_offline.gpus_to_claim(gpus)

    def start(self) -> None:
        headers, secrets = fill_in(self.judge.extra_headers)
        self.server = server = serving.start(self.judge, self.resources)
        connection = Connection(
            server.base_url,
            key=server.key,
            headers=headers,
            secrets=secrets,
            timeout=self.judge.timeout,
            server=server,
        )
        protocol = ChatCompletions(self.judge, connection)
        self.calls = Calls(protocol, self.judge, None, self.describe(), at_once=SERVER_AT_ONCE, waits=False)

    def describe(self) -> dict[str, Any]:
        return description(self.judge, self.started) | self.server.describe()

    def close(self) -> None:
        super().close()
        self.server.stop()
