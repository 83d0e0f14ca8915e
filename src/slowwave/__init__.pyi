# Written by tools/write_stubs.py: do not edit.

from slowwave.agent_memory import AgentMemory
from slowwave.aio import AsyncAgentMemory, AsyncSlowwave
from slowwave.clients.wrapping import wrap
from slowwave.compat import DistilledFact, InMemoryVectorStore, MemoryConsolidator, SemanticMemory
from slowwave.errors import (
    BusyError,
    ClosedError,
    ConflictError,
    CorruptError,
    DisconnectedError,
    DiskFullError,
    EmbedderError,
    ForeignFileError,
    InputError,
    ModelError,
    NewerSchemaError,
    NotFoundError,
    OlderSchemaError,
    PortError,
    ReadOnlyError,
    ReusedNameError,
    SettingsError,
    SlowwaveError,
    StoreError,
    TrustError,
    VersionError,
)
from slowwave.model.access import AccessKey, NewKey
from slowwave.model.budget import ModelUse
from slowwave.model.config import Config
from slowwave.model.context import Scene
from slowwave.model.exchange import SkippedItem
from slowwave.model.fleet import Fleet, RunningWorker
from slowwave.model.memory import Memory, SourceRef
from slowwave.model.message import Message, MessageLike
from slowwave.model.mind import (
    Candidate,
    Fact,
    MindAnswer,
    ReconcileCase,
    Rejected,
    Summary,
    SummaryRequest,
    Transcript,
    Turn,
    Verdict,
)
from slowwave.model.note import Note
from slowwave.model.operations import (
    Add,
    Change,
    Erase,
    Link,
    MoveCursor,
    Operation,
    RejectFact,
    SetTitle,
    Suppress,
    Use,
)
from slowwave.model.pass_record import PassRecord
from slowwave.model.plan import Cost, Dropped, Event, Group, Outcome, Plan, Receipt, Run
from slowwave.model.proof import PendingProof, StoreProof
from slowwave.model.query import Context, Hit, Item, Section, Where
from slowwave.model.schema import SchemaState
from slowwave.model.scope import Scope
from slowwave.model.status import Conversation, LinkRow, Status
from slowwave.pipelines.admin.checks import Check
from slowwave.pipelines.admin.costs import CostReport, Estimate
from slowwave.pipelines.admin.erase import EraseInterruptedError, ErasureReceipt
from slowwave.pipelines.admin.explain import Explanation
from slowwave.pipelines.admin.health import Finding, Health
from slowwave.pipelines.exchange.import_ import ImportInterruptedError
from slowwave.pipelines.exchange.import_report import ImportReport
from slowwave.pipelines.exchange.vault import VaultImport
from slowwave.pipelines.ingest.distil import ConsolidationResult, TooFew
from slowwave.pipelines.sleep.compact_now import Compaction
from slowwave.pipelines.sleep.compact_topic import TopicCompaction
from slowwave.pipelines.sleep.report import SleepReport
from slowwave.policy.summaries.pages import Page
from slowwave.ports import LLM, Clock, Embedder, Mind, Ports
from slowwave.views import ConversationView, Knowledge
from slowwave.whole_store import Slowwave

__version__: str
__all__ = [
    "LLM",
    "AccessKey",
    "Add",
    "AgentMemory",
    "AsyncAgentMemory",
    "AsyncSlowwave",
    "BusyError",
    "Candidate",
    "Change",
    "Check",
    "Clock",
    "ClosedError",
    "Compaction",
    "Config",
    "ConflictError",
    "ConsolidationResult",
    "Context",
    "Conversation",
    "ConversationView",
    "CorruptError",
    "Cost",
    "CostReport",
    "DisconnectedError",
    "DiskFullError",
    "DistilledFact",
    "Dropped",
    "Embedder",
    "EmbedderError",
    "Erase",
    "EraseInterruptedError",
    "ErasureReceipt",
    "Estimate",
    "Event",
    "Explanation",
    "Fact",
    "Finding",
    "Fleet",
    "ForeignFileError",
    "Group",
    "Health",
    "Hit",
    "ImportInterruptedError",
    "ImportReport",
    "InMemoryVectorStore",
    "InputError",
    "Item",
    "Knowledge",
    "Link",
    "LinkRow",
    "Memory",
    "MemoryConsolidator",
    "Message",
    "MessageLike",
    "Mind",
    "MindAnswer",
    "ModelError",
    "ModelUse",
    "MoveCursor",
    "NewKey",
    "NewerSchemaError",
    "NotFoundError",
    "Note",
    "OlderSchemaError",
    "Operation",
    "Outcome",
    "Page",
    "PassRecord",
    "PendingProof",
    "Plan",
    "PortError",
    "Ports",
    "ReadOnlyError",
    "Receipt",
    "ReconcileCase",
    "RejectFact",
    "Rejected",
    "ReusedNameError",
    "Run",
    "RunningWorker",
    "Scene",
    "SchemaState",
    "Scope",
    "Section",
    "SemanticMemory",
    "SetTitle",
    "SettingsError",
    "SkippedItem",
    "SleepReport",
    "Slowwave",
    "SlowwaveError",
    "SourceRef",
    "Status",
    "StoreError",
    "StoreProof",
    "Summary",
    "SummaryRequest",
    "Suppress",
    "TooFew",
    "TopicCompaction",
    "Transcript",
    "TrustError",
    "Turn",
    "Use",
    "VaultImport",
    "Verdict",
    "VersionError",
    "Where",
    "wrap",
]
