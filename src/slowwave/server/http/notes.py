"""Routes of notes: texts and data under names, with their versions as ETags."""

from typing import Annotated

from fastapi import APIRouter, Header, Query, Response

from slowwave.errors import InputError, NotFoundError
from slowwave.model.note import Note
from slowwave.server.http import requests as ask, responses as view
from slowwave.server.http.dependencies import After, Limit, Named, Reading, RepeatableRoute, Telling, Writing

router = APIRouter(prefix="/scopes/{scope}/notes", tags=["notes"], route_class=RepeatableRoute)
Folder = Annotated[str, Query(max_length=512, description='"/" separates folders; "" is the root.')]
IfMatch = Annotated[
    str, Header(description='The ETag of the version to change, such as "2".', pattern=r'^((W/)?"[0-9]{1,9}")?$')
]
IfNoneMatch = Annotated[str, Header(description="`*`: only if there is no note of this name.", pattern=r"^\*?$")]


@router.get("")
def notes(
    memory: Reading, folder: Folder = "", below: bool = False, after: After = None, limit: Limit = 50
) -> view.Notes:
    """List the notes of a folder, ordered by folder and name."""
    found = memory.notes(folder, below=below, after=after, limit=limit + 1)
    page = found[:limit]
    return view.Notes(
        items=[view.NoteView.model_validate(note) for note in page],
        next=page[-1].id if len(found) > limit else None,
    )


@router.get("/{name}")
def note(memory: Reading, name: Named, response: Response, folder: Folder = "") -> view.NoteView:
    """Read a note. Its version is the ETag."""
    found = memory.read_note(name, folder=folder)
    if found is None:
        raise NotFoundError(f"there is no note {name!r} in the folder {folder!r}")
    response.headers["etag"] = _etag(found)
    return view.NoteView.model_validate(found)


@router.put("/{name}")
def put_note(
    memory: Writing,
    tell: Telling,
    name: Named,
    asked: ask.NewNote,
    response: Response,
    folder: Folder = "",
    if_match: IfMatch = "",
    if_none_match: IfNoneMatch = "",
) -> view.Done:
    """Store a note, or replace it whole. With `If-Match` only the version that was read is replaced."""
    done = memory.note(
        name,
        asked.text,
        folder=folder,
        data=asked.data,
        metadata=asked.metadata,
        expires_at=asked.expires_at,
        if_version=_wanted(if_match, if_none_match),
    )
    if (present := memory.read_note(name, folder=folder)) is not None:
        response.headers["etag"] = _etag(present)
    return tell(done)


@router.delete("/{name}")
def remove_note(memory: Writing, tell: Telling, name: Named, folder: Folder = "", if_match: IfMatch = "") -> view.Done:
    """Retract a note. It is not destroyed: `undo` of the run restores it."""
    return tell(memory.remove_note(name, folder=folder, if_version=_wanted(if_match, "")))


def _etag(note: Note) -> str:
    return f'"{note.version}"'


def _wanted(if_match: str, if_none_match: str) -> int | None:
    """The version that the headers ask for."""
    if if_match and if_none_match:
        raise InputError("If-Match and If-None-Match exclude each other: send one of them")
    if if_none_match:
        return 0
    return None if not if_match else int(if_match.removeprefix("W/").strip('"'))
