# Written by tools/write_stubs.py: do not edit.
from collections.abc import Awaitable, Callable, Collection, Coroutine, Generator, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Never, Self, TextIO, TypeVar
from uuid import UUID

from slowwave.agent_memory import AgentMemory
from slowwave.model.access import AccessKey, NewKey
from slowwave.model.config import Config
from slowwave.model.context import Scene
from slowwave.model.filters import Condition
from slowwave.model.fleet import Fleet
from slowwave.model.memory import JsonValue, Kind, Memory, Trust
from slowwave.model.message import Message, MessageLike
from slowwave.model.note import Note
from slowwave.model.operations import RejectFact
from slowwave.model.pass_record import PassRecord
from slowwave.model.plan import Event, Plan, Receipt, Run, RunParts
from slowwave.model.proof import PendingProof, StoreProof
from slowwave.model.query import Context, Hit
from slowwave.model.scope import Scope, ScopeName
from slowwave.model.status import Conversation, LinkRow, Status
from slowwave.pipelines.admin.checks import Check
from slowwave.pipelines.admin.costs import CostReport, Estimate
from slowwave.pipelines.admin.erase import ErasureReceipt
from slowwave.pipelines.admin.explain import Explanation
from slowwave.pipelines.admin.health import Health
from slowwave.pipelines.exchange.import_report import ImportReport
from slowwave.pipelines.exchange.vault import VaultImport
from slowwave.pipelines.ingest.add import FactLike
from slowwave.pipelines.ingest.distil import ConsolidationResult
from slowwave.pipelines.sleep.compact_now import Compaction
from slowwave.pipelines.sleep.compact_topic import TopicCompaction
from slowwave.pipelines.sleep.report import SleepReport
from slowwave.policy.summaries.pages import Page
from slowwave.ports import LLM, Clock, Embedder, Mind, Progress
from slowwave.session import FromSettings
from slowwave.whole_store import Slowwave

_View = TypeVar("_View")
VIEWS: frozenset[str]
OPENERS: frozenset[str]

class Opening(Coroutine[Any, Any, _View]):
    def __init__(self, open_it: Callable[[], Coroutine[Any, Any, _View]]) -> None: ...
    def __await__(self) -> Generator[Any, None, _View]: ...
    def send(self, value: Any, /) -> Any: ...
    def throw(self, *error: Any) -> Any: ...
    def close(self) -> None: ...
    async def __aenter__(self) -> _View: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

class AsyncAgentMemory:
    def __init__(self, memory: AgentMemory) -> None: ...
    @property
    def memory(self) -> AgentMemory: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    @property
    def scope(self) -> str: ...
    @classmethod
    def open(
        cls,
        store: str | Path | None = None,
        *,
        scope: ScopeName | None = None,
        inherit: bool = False,
        llm: str | LLM | Mind | None | FromSettings = ...,
        embedder: str | Embedder | None | FromSettings = ...,
        config: Config | None = None,
        zone: str | None = None,
        clock: Clock | None = None,
        strict: bool = False,
        sleep_every: timedelta | str | float | None = None,
        create: bool = True,
        **unknown: Never,
    ) -> Opening[Self]: ...
    @classmethod
    def in_memory(
        cls,
        *,
        scope: ScopeName | None = None,
        llm: str | LLM | Mind | None = None,
        embedder: str | Embedder | None = "static",
        config: Config | None = None,
        zone: str | None = None,
        clock: Clock | None = None,
        strict: bool = False,
        sleep_every: timedelta | str | float | None = None,
        **unknown: Never,
    ) -> Opening[Self]: ...
    def trusting(self, trust: Trust, *, review: bool | None = None) -> Self: ...
    def within(self, *names: str | int | UUID, inherit: bool = False, zone: str | None = None) -> Self: ...
    async def close(self) -> None: ...
    async def now(self) -> datetime: ...
    async def add_message(self, message: MessageLike, conversation: str | int | None = None) -> Receipt: ...
    async def add_messages(
        self, messages: MessageLike | Sequence[MessageLike], conversation: str | int | None = None
    ) -> Receipt: ...
    async def add(
        self,
        text: str,
        *,
        category: str = "other",
        kind: Kind = "semantic",
        subject: str | None = None,
        importance: float | None = None,
        metadata: Mapping[str, JsonValue] | None = None,
        trust: Trust = "user",
        id: str | None = None,
        at: datetime | None = None,
        expires_at: datetime | None = None,
    ) -> Receipt: ...
    async def add_all(self, facts: Iterable[FactLike]) -> Receipt: ...
    async def consolidate(
        self, conversation: str | int | None = None, *, force: bool = False, on_progress: Progress | None = None
    ) -> ConsolidationResult: ...
    async def consolidate_all(
        self, *, force: bool = False, on_progress: Progress | None = None
    ) -> ConsolidationResult: ...
    async def end_conversation(self, conversation: str | int | None = None) -> ConsolidationResult: ...
    async def record_retrieval(
        self,
        hits: Context | Hit | Memory | str | Iterable[Context | Hit | Memory | str],
        *,
        session: str | int | None = None,
    ) -> int: ...
    async def once(self, name: str, request: str, call: Callable[[], str]) -> str: ...
    async def search(
        self,
        query: str,
        *,
        top_k: int = 10,
        categories: Collection[str] | None = None,
        kinds: Collection[str] | None = None,
        conversation: str | int | None = None,
        except_conversation: str | int | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        deep: bool = False,
        where: Mapping[str, object] | Condition | None = None,
        folder: str | None = None,
        min_relevance: float | None = None,
    ) -> list[Hit]: ...
    async def search_knowledge(self, query: str, top_k: int = 5) -> list[Hit]: ...
    async def context(
        self,
        query: str = "",
        *,
        conversation: str | int | None = None,
        except_conversation: str | int | None = None,
        budget_tokens: int = 1500,
        profile: str = "plain",
        scene: Scene | None = None,
        related_only: bool = False,
    ) -> Context: ...
    async def core(self, top_k: int = 5, min_retrievals: int = 0) -> list[Memory]: ...
    async def get(self, memory_id: str) -> Memory: ...
    async def find_id(self, part: str) -> str: ...
    async def find_run_id(self, part: str) -> str: ...
    async def find_conversation(self, wanted: str | int, *, beginnings: bool = True) -> str | None: ...
    async def unknown_names(
        self, *, conversation: str | int | None = None, categories: Collection[str] | None = None
    ) -> tuple[str, ...]: ...
    async def get_all(
        self,
        *,
        kinds: Collection[str] | None = None,
        categories: Collection[str] | None = None,
        phases: Collection[str] | None = None,
        conversation: str | int | None = None,
        order: str = "recorded",
        after: Memory | str | None = None,
        limit: int | None = None,
        where: Mapping[str, object] | Condition | None = None,
    ) -> list[Memory]: ...
    async def pages(self) -> list[Page]: ...
    async def conversations(
        self, *, after: Conversation | str | int | None = None, limit: int | None = None
    ) -> list[Conversation]: ...
    async def set_title(self, conversation: str | int, title: str | None) -> Receipt: ...
    async def messages(
        self, conversation: str | int | None = None, *, last: int | None = None, withheld: bool = False
    ) -> list[Message]: ...
    async def get_conversation_messages(
        self, conversation: str | int | None = None, *, withheld: bool = False
    ) -> list[Message]: ...
    async def summaries(self, conversation: str | int | None = None) -> list[Memory]: ...
    async def strength(self, memory_id: str) -> float: ...
    async def strengths(self, memories: Sequence[Memory]) -> list[float]: ...
    async def note(
        self,
        name: str,
        text: str = "",
        *,
        folder: str = "",
        data: JsonValue = None,
        metadata: Mapping[str, JsonValue] | None = None,
        expires_at: datetime | None = None,
        if_version: int | None = None,
    ) -> Receipt: ...
    async def put_notes(
        self, notes: Iterable[Note], *, remove: Iterable[Note] = (), if_unchanged: bool = False
    ) -> Receipt: ...
    async def read_note(self, name: str, *, folder: str = "") -> Note | None: ...
    async def notes(
        self,
        folder: str = "",
        *,
        below: bool = False,
        where: Mapping[str, object] | Condition | None = None,
        after: str | None = None,
        offset: int = 0,
        limit: int | None = None,
    ) -> list[Note]: ...
    async def note_folders(
        self,
        folder: str = "",
        *,
        where: Mapping[str, object] | Condition | None = None,
        after: str | None = None,
        limit: int | None = None,
    ) -> list[str]: ...
    async def remove_note(self, name: str, *, folder: str = "", if_version: int | None = None) -> Receipt: ...
    async def sleep(
        self, *, dry_run: bool = False, think: bool = True, on_progress: Progress | None = None
    ) -> SleepReport: ...
    tick = sleep
    async def sleep_due(
        self,
        *,
        think: bool = True,
        limit: int | None = None,
        on_progress: Callable[[str, SleepReport], None] | None = None,
    ) -> dict[str, SleepReport]: ...
    async def apply(self, plan: Plan) -> tuple[Receipt, ...]: ...
    async def save_plan(self, plan: Plan, path: str | Path) -> None: ...
    async def load_plan(self, path: str | Path) -> Plan: ...
    async def compact_topic(self, topic: str, *, dry_run: bool = False) -> TopicCompaction: ...
    compact = compact_topic
    async def compact_conversation(
        self, conversation: str | int | None = None, *, force: bool = True
    ) -> Compaction: ...
    compact_memories = compact_conversation
    async def command(self, text: str) -> str: ...
    async def status(self) -> Status: ...
    async def unembedded(self, limit: int = 1000) -> int: ...
    async def summary_coverage(self, conversation: str | int) -> list[str]: ...
    async def health(self) -> Health: ...
    async def explain(self, memory_id: str) -> Explanation: ...
    async def history(self, memory_id: str) -> list[Event]: ...
    async def links(self, memory_id: str) -> list[LinkRow]: ...
    async def refused(self, limit: int | None = 50) -> list[RejectFact]: ...
    async def review(self) -> list[Memory]: ...
    async def runs(
        self,
        limit: int | None = 20,
        *,
        cause: str | None = None,
        after: Run | str | None = None,
        parts: RunParts = "stages",
    ) -> list[Run]: ...
    async def run(self, run_id: str) -> Run: ...
    async def cost(self, since: datetime | None = None) -> CostReport: ...
    async def estimate(self, conversation: str | int | None = None) -> Estimate: ...
    async def plot(self, kind: str = "forgetting", *, memory_id: str | None = None, text: bool = False) -> str: ...
    async def doctor(
        self, *, deep: bool = False, repair: bool = False, scopes: Sequence[ScopeName] | int | None = None
    ) -> list[str]: ...
    async def checks(
        self, *, deep: bool = False, repair: bool = False, scopes: Sequence[ScopeName] | int | None = None
    ) -> list[Check]: ...
    async def update(
        self,
        memory_id: str,
        text: str | None = None,
        *,
        category: str | None = None,
        metadata: Mapping[str, JsonValue] | None = None,
    ) -> Receipt: ...
    async def delete(self, memory_id: str | Memory | Iterable[str | Memory]) -> Receipt: ...
    async def pin(self, memory_id: str) -> Receipt: ...
    async def unpin(self, memory_id: str) -> Receipt: ...
    async def revive(self, memory_id: str) -> Receipt: ...
    async def release(self, memory_id: str) -> Receipt: ...
    async def reject(self, memory_id: str) -> Receipt: ...
    async def undo(self, run_id: str | Receipt | Run, *, cascade: bool = False) -> tuple[Receipt, ...]: ...
    async def erase(
        self,
        *,
        id: str | None = None,
        source: str | None = None,
        conversation: str | int | None = None,
        text: str | None = None,
        scope: bool = False,
        rewrite: bool | None = None,
        dry_run: bool = False,
    ) -> ErasureReceipt: ...
    async def reembed(self, *, on_progress: Progress | None = None) -> int: ...
    async def import_(
        self,
        path: str | Path,
        format: str = "auto",
        *,
        dry_run: bool = False,
        trust_export: bool = False,
        trust: Literal["import", "user"] = "import",
        user: str | None = None,
        on_progress: Progress | None = None,
    ) -> ImportReport: ...
    async def export(
        self,
        path: str | Path | TextIO,
        format: str = "jsonl",
        *,
        overwrite: bool = False,
        user: str | None = None,
        reasoning: bool = False,
    ) -> int: ...
    async def backup(self, path: str | Path) -> None: ...
    async def export_vault(
        self, folder: str | Path, *, force: bool = False, on_progress: Callable[[str], None] | None = None
    ) -> tuple[str, ...]: ...
    async def import_vault(self, folder: str | Path, *, dry_run: bool = True, force: bool = False) -> VaultImport: ...
    async def sync_vault(self, folder: str | Path, *, force: bool = False) -> VaultImport: ...

class AsyncSlowwave:
    def __init__(self, store: Slowwave) -> None: ...
    @property
    def store(self) -> Slowwave: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
    @classmethod
    def open(
        cls,
        store: str | Path | None = None,
        *,
        llm: str | LLM | Mind | None | FromSettings = ...,
        embedder: str | Embedder | None | FromSettings = ...,
        config: Config | None = None,
        zone: str | None = None,
        clock: Clock | None = None,
        strict: bool = False,
        sleep_every: timedelta | str | float | None = None,
        create: bool = True,
        **unknown: Never,
    ) -> Opening[Self]: ...
    @classmethod
    def in_memory(
        cls,
        *,
        llm: str | LLM | Mind | None = None,
        embedder: str | Embedder | None = "static",
        config: Config | None = None,
        zone: str | None = None,
        clock: Clock | None = None,
        strict: bool = False,
        sleep_every: timedelta | str | float | None = None,
        **unknown: Never,
    ) -> Opening[Self]: ...
    def within(
        self, *names: str | int | UUID | Scope, inherit: bool = False, zone: str | None = None
    ) -> AsyncAgentMemory: ...
    async def scopes(
        self, prefix: ScopeName = "", *, after: ScopeName | None = None, limit: int | None = None
    ) -> list[Scope]: ...
    async def find(self, memory_id: str, prefix: ScopeName = "") -> Memory: ...
    async def delete_scope(self, *names: str | int | UUID | Scope, rewrite: bool | None = None) -> ErasureReceipt: ...
    async def add_key(
        self,
        label: str,
        *,
        prefix: ScopeName = "",
        rights: Collection[str] = ("read", "write"),
        trust: Trust = "user",
        expires_at: datetime | None = None,
        made_by: str | None = None,
    ) -> NewKey: ...
    async def list_keys(self) -> list[AccessKey]: ...
    async def has_keys(self) -> bool: ...
    async def verify_key(self, secret: str) -> AccessKey | None: ...
    async def revoke_key(self, key_id: str, *, cascade: bool = False) -> AccessKey: ...
    async def sleep_due(
        self,
        *,
        think: bool = True,
        limit: int | None = None,
        on_progress: Callable[[str, SleepReport], None] | None = None,
    ) -> dict[str, SleepReport]: ...
    async def fleet(self) -> Fleet: ...
    async def ready(self) -> list[str]: ...
    async def doctor(
        self, *, deep: bool = False, repair: bool = False, scopes: Sequence[ScopeName] | int | None = None
    ) -> list[str]: ...
    async def prove_erased(self, *, rewrite: bool | None = None, on_progress: Progress | None = None) -> StoreProof: ...
    async def pending_proofs(self) -> list[PendingProof]: ...
    async def failing(self) -> dict[str, PassRecord]: ...
    async def retry(self, scope: ScopeName | None = None) -> list[str]: ...
    async def backup(self, path: str | Path) -> None: ...
    async def close(self) -> None: ...

def verbs(facade: type[AgentMemory | Slowwave] = ...) -> dict[str, Callable[..., Awaitable[Any]]]: ...
