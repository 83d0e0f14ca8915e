"""Pipelines: one file a workflow. Each is loaded when it is first used, so that a question loads what answers it.

>>> from slowwave import pipelines
>>> pipelines.recall.__name__
'slowwave.pipelines.recall'
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slowwave.pipelines import (
        always as always,
        associates as associates,
        automatic as automatic,
        born as born,
        chunks as chunks,
        command as command,
        compaction as compaction,
        context as context,
        core as core,
        distil as distil,
        doomed as doomed,
        due as due,
        edit as edit,
        entries as entries,
        erase as erase,
        explain as explain,
        health as health,
        making as making,
        moves as moves,
        observe as observe,
        outgoing as outgoing,
        recall as recall,
        reconcile as reconcile,
        reembed as reembed,
        review as review,
        sleep as sleep,
        sleeper as sleeper,
        spending as spending,
        state as state,
        status as status,
        stretch as stretch,
        tombstone as tombstone,
        topic as topic,
        transfer as transfer,
        undo as undo,
        use as use,
        vault as vault,
        verdicts as verdicts,
    )


def __getattr__(name: str) -> object:
    """A pipeline by its name."""
    try:
        return import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        raise AttributeError(f"{__name__} has no {name!r}") from error
