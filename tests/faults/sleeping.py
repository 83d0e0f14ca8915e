"""A process that runs a sleep pass with a slow mind; started by test_sleepers."""

import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime

from slowwave import AgentMemory, Config
from slowwave.model.mind import MindAnswer, ReconcileCase, Summary, SummaryRequest, Verdict
from slowwave.model.plan import Cost
from slowwave.testing import Failpoint, FrozenClock


class SlowMind:
    """Takes so many seconds for a summary."""

    name = "slow"

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def distil(self, _: object, /) -> MindAnswer[tuple[()]]:
        return MindAnswer(value=())

    def decide(self, cases: Sequence[ReconcileCase], /) -> MindAnswer[tuple[Verdict, ...]]:
        return MindAnswer(value=tuple(Verdict(fact=case.number, op="ADD") for case in cases))

    def summarise(self, brief: SummaryRequest, /) -> MindAnswer[Summary]:
        sys.stdout.write("thinking\n")
        sys.stdout.flush()
        time.sleep(self.seconds)
        return MindAnswer(value=Summary(text="; ".join(one.text for one in brief.memories)), cost=Cost(calls=1))


def main(path: str, at: str, seconds: str, point: str = "", passing: str = "1") -> None:
    clock = FrozenClock(datetime.fromtimestamp(float(at), UTC))
    config = Config(retention_policy="half_life", half_life_days=14)
    mind = SlowMind(float(seconds))
    with AgentMemory.open(path, scope="t", llm=mind, embedder="static", clock=clock, config=config) as memory:
        if point:
            memory.ports.store._reached = Failpoint(point, at=int(passing), kill=True)
        report = memory.sleep()
        dropped = sum(len(receipt.dropped) for receipt in report.receipts)
        sys.stdout.write(f"dropped {dropped} left {dict(report.left)} problems {list(report.problems)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
