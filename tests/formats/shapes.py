"""Small exports in the shapes that people really bring, made by hand."""

from typing import Any


def chatgpt_node(
    key: str, parent: str | None, role: str, text: str, at: float | None, **message: object
) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    said = {"id": f"m-{key}", "author": {"role": role}, "create_time": at, "content": content, "weight": 1.0}
    return {"id": key, "parent": parent, "children": [], "message": {**said, **message}}


def chatgpt_conversation(**changes: object) -> dict[str, Any]:
    nodes = [
        {"id": "root", "parent": None, "children": ["a"], "message": None},
        chatgpt_node("a", "root", "user", "I keep bees.", 1700000000.0),
        chatgpt_node("b", "a", "assistant", "How many hives?", 1700000010.0),
        chatgpt_node("c", "b", "user", "Four, and a rumour of a fifth.", 1700000020.0),
    ]
    whole = {
        "title": "Bees",
        "create_time": 1699999999.0,
        "conversation_id": "conv-bees",
        "mapping": {node["id"]: node for node in nodes},
        "current_node": "c",
    }
    return whole | changes


def claude_conversation(**changes: object) -> dict[str, Any]:
    whole = {
        "uuid": "conv-claude",
        "name": "Bees",
        "created_at": "2024-05-01T10:00:00Z",
        "chat_messages": [
            {
                "uuid": "m1",
                "sender": "human",
                "text": "old text",
                "content": [{"type": "text", "text": "I keep bees."}],
                "created_at": "2024-05-01T10:00:00.123456Z",
            },
            {
                "uuid": "m2",
                "sender": "assistant",
                "text": "How many hives?",
                "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "How many hives?"}],
                "created_at": "2024-05-01T10:00:05Z",
            },
        ],
    }
    return whole | changes


def locomo_sample(**changes: object) -> dict[str, Any]:
    talk = {
        "speaker_a": "Ada",
        "speaker_b": "Bo",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ada", "dia_id": "D1:1", "text": "I keep bees."},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "Look!", "blip_caption": "a photo of a hive"},
        ],
        "session_2_date_time": "2:00 pm on 9 May, 2023",
        "session_2": [{"speaker": "Ada", "dia_id": "D2:1", "text": "They left."}],
    }
    qa = [{"question": "What does Ada keep?", "answer": "bees", "evidence": ["D1:1"], "category": 4}]
    return {"sample_id": "conv-1", "conversation": talk | changes, "qa": qa}


def beam_batch(**changes: object) -> dict[str, Any]:
    turn = [
        {"role": "user", "id": 0, "content": "I keep bees. ->-> 1,1", "time_anchor": "March-15-2024"},
        {"role": "assistant", "id": 1, "content": "How many hives?"},
    ]
    return {"batch_number": 1, "turns": [turn]} | changes


def gemini_activity(**changes: object) -> dict[str, Any]:
    """A prompt to Gemini and its answer, as Google Takeout writes it."""
    whole = {
        "header": "Gemini Apps",
        "title": "Prompted I keep bees.",
        "time": "2025-03-02T09:00:00.123Z",
        "products": ["Gemini Apps"],
        "activityControls": ["Gemini Apps Activity"],
        "safeHtmlItem": [{"html": "<p>How many <b>hives</b>?</p><ul><li>one</li><li>two</li></ul>"}],
    }
    return whole | changes


def langgraph_item(**changes: object) -> dict[str, Any]:
    """An item as `Item.dict()` of LangGraph gives it."""
    whole = {
        "namespace": ["users", "ada"],
        "key": "food",
        "value": {"likes": "pizza", "rank": 1},
        "created_at": "2025-01-01T00:00:00+00:00",
        "updated_at": "2025-02-01T00:00:00+00:00",
    }
    return whole | changes


def graph_lines() -> list[dict[str, Any]]:
    """The lines of the file of server-memory."""
    return [
        {"type": "entity", "name": "Alice", "entityType": "person", "observations": ["likes tea"]},
        {"type": "entity", "name": "Acme", "entityType": "company", "observations": []},
        {"type": "relation", "from": "Alice", "to": "Acme", "relationType": "works at"},
    ]
