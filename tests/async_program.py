"""A typed async program, which mypy checks and nothing runs: see test_public_api.py. Each `type: ignore` must be needed."""

from slowwave import AsyncAgentMemory, AsyncSlowwave, Config, Memory, Message, Scope, SleepReport, Slowwave


async def answer(question: str) -> str:
    memory = await AsyncAgentMemory.open("agent.db", llm=None, config=Config())
    async with memory:
        await memory.add_message(Message(role="user", content=question), conversation="chat")
        receipt = await memory.add("Alice owns the deploy pipeline", category="person")
        await memory.undo(receipt.run_id)
        facts: list[Memory] = await memory.get_all(kinds=["semantic"])
        report: SleepReport = await memory.tick(dry_run=True)
        await memory.apply(report.plan)
        return f"{await memory.context(question)} {facts[0].text}"


async def many(store: Slowwave) -> list[str]:
    async with AsyncAgentMemory.open("agent.db") as memory, AsyncSlowwave.open("agent.db") as opened:
        below: AsyncAgentMemory = memory.within("notes", 7)
        await opened.within("acme", "alice").add("Alice owns the deploy pipeline")
        await store.within("acme").aio.add(f"{below.scope} is a scope")
        scopes: list[Scope] = await store.aio.scopes(limit=10)
        found: Memory = await opened.find("some id", prefix="acme")
        return [found.id, *(name for scope in scopes for name in scope.names)]


async def misuse(memory: AsyncAgentMemory) -> None:
    await memory.add(42)  # type: ignore[arg-type]
    await memory.search("deploys", top="5")  # type: ignore[call-arg]
    hits: list[str] = await memory.search("deploys")  # type: ignore[assignment]
    (await memory.sleep()).plans  # type: ignore[attr-defined]  # noqa: B018 - looking is the point
    await memory.remember("x")  # type: ignore[attr-defined]
    await AsyncAgentMemory.open(modle="x")  # type: ignore[arg-type]
    memory.get_all()[0]  # type: ignore[index]
    await memory.within("notes")  # type: ignore[misc]
    memory.within(b"notes")  # type: ignore[arg-type]
    assert hits
