"""Slowwave: a memory for LLM agents.

All public names are in `slowwave`. Each is loaded when it is first used, because `import slowwave` must be quick.

>>> import slowwave
>>> "AgentMemory" in slowwave.__all__
True
"""

from importlib import import_module
from typing import Final

__version__ = "0.2.0"

_MODULES: Final = {
    "AccessKey": "model.access",
    "Add": "model.operations",
    "AgentMemory": "agent_memory",
    "AsyncAgentMemory": "aio",
    "AsyncSlowwave": "aio",
    "BusyError": "errors",
    "DisconnectedError": "errors",
    "Candidate": "model.mind",
    "Change": "model.operations",
    "Check": "pipelines.admin.checks",
    "Clock": "ports",
    "ClosedError": "errors",
    "Compaction": "pipelines.sleep.compact_now",
    "Config": "model.config",
    "ConflictError": "errors",
    "ConsolidationResult": "pipelines.ingest.distil",
    "Context": "model.query",
    "Conversation": "model.status",
    "ConversationView": "views",
    "CorruptError": "errors",
    "Cost": "model.plan",
    "CostReport": "pipelines.admin.costs",
    "DiskFullError": "errors",
    "DistilledFact": "compat",
    "Dropped": "model.plan",
    "Embedder": "ports",
    "EmbedderError": "errors",
    "Erase": "model.operations",
    "EraseInterruptedError": "pipelines.admin.erase",
    "ErasureReceipt": "pipelines.admin.erase",
    "Estimate": "pipelines.admin.costs",
    "Event": "model.plan",
    "Explanation": "pipelines.admin.explain",
    "Fact": "model.mind",
    "Finding": "pipelines.admin.health",
    "Fleet": "model.fleet",
    "ForeignFileError": "errors",
    "Group": "model.plan",
    "Health": "pipelines.admin.health",
    "Hit": "model.query",
    "ImportInterruptedError": "pipelines.exchange.import_",
    "ImportReport": "pipelines.exchange.import_report",
    "InMemoryVectorStore": "compat",
    "InputError": "errors",
    "Item": "model.query",
    "Knowledge": "views",
    "LLM": "ports",
    "Link": "model.operations",
    "LinkRow": "model.status",
    "Memory": "model.memory",
    "MemoryConsolidator": "compat",
    "Message": "model.message",
    "MessageLike": "model.message",
    "Mind": "ports",
    "MindAnswer": "model.mind",
    "ModelError": "errors",
    "MoveCursor": "model.operations",
    "NewerSchemaError": "errors",
    "NotFoundError": "errors",
    "NewKey": "model.access",
    "ModelUse": "model.budget",
    "Page": "policy.summaries.pages",
    "PassRecord": "model.pass_record",
    "Note": "model.note",
    "OlderSchemaError": "errors",
    "Operation": "model.operations",
    "Outcome": "model.plan",
    "PendingProof": "model.proof",
    "Plan": "model.plan",
    "PortError": "errors",
    "Ports": "ports",
    "ReadOnlyError": "errors",
    "Receipt": "model.plan",
    "ReconcileCase": "model.mind",
    "RejectFact": "model.operations",
    "Rejected": "model.mind",
    "ReusedNameError": "errors",
    "Run": "model.plan",
    "RunningWorker": "model.fleet",
    "Scene": "model.context",
    "SchemaState": "model.schema",
    "Section": "model.query",
    "SetTitle": "model.operations",
    "SemanticMemory": "compat",
    "Scope": "model.scope",
    "SettingsError": "errors",
    "SkippedItem": "model.exchange",
    "SleepReport": "pipelines.sleep.report",
    "Slowwave": "whole_store",
    "SlowwaveError": "errors",
    "SourceRef": "model.memory",
    "Status": "model.status",
    "StoreError": "errors",
    "StoreProof": "model.proof",
    "Summary": "model.mind",
    "SummaryRequest": "model.mind",
    "Suppress": "model.operations",
    "TooFew": "pipelines.ingest.distil",
    "TopicCompaction": "pipelines.sleep.compact_topic",
    "Transcript": "model.mind",
    "TrustError": "errors",
    "Turn": "model.mind",
    "Use": "model.operations",
    "VaultImport": "pipelines.exchange.vault",
    "Verdict": "model.mind",
    "VersionError": "errors",
    "Where": "model.query",
    "wrap": "clients.wrapping",
}
"""The module of each public name. `tools/write_stubs.py` writes `__init__.pyi` from it, for type checkers."""

__all__ = list(_MODULES)


def __getattr__(name: str) -> object:
    """Load a public name when it is first used."""
    if name not in _MODULES:
        from slowwave.model.suggestions import instead_of, phrase, use  # noqa: PLC0415 - only an error needs it

        hint = "" if name.startswith("_") else phrase("slowwave", name) or use(instead_of(name, __all__))
        raise AttributeError(f"slowwave has no {name!r}{hint or '; dir(slowwave) lists its names'}")
    return getattr(import_module(f"slowwave.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
