"""`make` and `checked`: choosing an embedder and trusting none."""

import asyncio
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, strategies as st

from slowwave.embedders import checked, make
from slowwave.embedders.openai import OpenAICompatibleEmbedder
from slowwave.embedders.static import StaticEmbedder
from slowwave.errors import EmbedderError, SettingsError


class Foreign:
    """An embedder somebody else wrote: it answers whatever it is told to."""

    name = "foreign"

    def __init__(self, answer: Callable[[Sequence[str]], object]) -> None:
        self.answer = answer
        self.asked: list[list[str]] = []

    def embed(self, texts: Sequence[str], /) -> object:
        self.asked.append(list(texts))
        return self.answer(texts)


def ones(texts: Sequence[str]) -> object:
    return np.ones((len(texts), 3))


def test_static_is_chosen_by_its_name() -> None:
    assert isinstance(make("static"), StaticEmbedder)


def test_a_served_model_is_chosen_by_prefix_and_may_contain_colons() -> None:
    made = make("openai:nomic-embed-text:v1.5", api_key="k", base_url="http://localhost:11434/v1/")
    assert isinstance(made, OpenAICompatibleEmbedder)
    assert made.name == "openai:nomic-embed-text:v1.5@http://localhost:11434/v1"


@pytest.mark.parametrize("spec", [None, "none"])
def test_none_means_no_embedder(spec: str | None) -> None:
    assert make(spec) is None


def test_an_object_with_name_and_embed_is_used_unchanged() -> None:
    foreign = Foreign(ones)
    assert make(foreign) is foreign


@pytest.mark.parametrize("spec", ["", "glove", "openai", "openai:", "static:", "None"])
def test_an_unknown_spec_is_refused_with_the_choices(spec: str) -> None:
    with pytest.raises(SettingsError, match="choose"):
        make(spec)


@pytest.mark.parametrize(
    "spec", [7, object(), type("Nameless", (), {"embed": ones})(), type("Blank", (), {"name": "", "embed": ones})()]
)
def test_an_object_without_name_or_embed_is_refused(spec: object) -> None:
    with pytest.raises(SettingsError, match="`name`"):
        make(spec)


def test_rows_come_back_at_unit_length_in_float32() -> None:
    rows = checked(Foreign(lambda texts: [[3, 4]] * len(texts)), ["a", "b"])
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, [[0.6, 0.8]] * 2, rtol=1e-6)


def test_blank_texts_never_reach_the_embedder_and_have_no_vector() -> None:
    foreign = Foreign(ones)
    rows = checked(foreign, ["", "a", " \n", "b"])
    assert foreign.asked == [["a", "b"]]
    assert rows.any(axis=1).tolist() == [False, True, False, True]


@pytest.mark.parametrize("texts", [[], ["", "  "]])
def test_blank_texts_alone_do_not_call_the_embedder(texts: list[str]) -> None:
    foreign = Foreign(ones)
    assert checked(foreign, texts).shape == (len(texts), 0)
    assert foreign.asked == []


def raising(error: BaseException) -> Callable[[Sequence[str]], object]:
    def answer(_: Sequence[str]) -> object:
        raise error

    return answer


@pytest.mark.parametrize(
    "answer",
    [
        lambda texts: ones(texts)[:-1],
        lambda texts: np.ones((len(texts) + 1, 3)),
        lambda texts: np.full((len(texts), 3), np.nan),
        lambda texts: np.full((len(texts), 3), np.inf),
        lambda texts: np.zeros((len(texts), 3)),
        lambda texts: np.vstack([np.zeros(3), *[np.ones(3)] * (len(texts) - 1)]),
        lambda texts: np.ones((len(texts), 0)),
        lambda texts: np.ones(len(texts)),
        lambda texts: np.ones((len(texts), 3, 1)),
        lambda texts: np.ones((len(texts), 3), dtype=complex),
        lambda texts: np.ones((len(texts), 3), dtype=bool),
        lambda texts: [["0.1", "0.2"]] * len(texts),
        lambda _: [[0.1, 0.2], [0.3]],
        lambda texts: [[0.1, None]] * len(texts),
        lambda _: None,
        lambda _: "vectors",
        lambda _: {},
        raising(ValueError("down")),
        raising(TimeoutError()),
        raising(KeyError("data")),
        raising(SystemError("native")),
    ],
)
def test_anything_but_one_finite_row_a_text_is_an_error_and_never_a_success(
    answer: Callable[[Sequence[str]], object],
) -> None:
    with pytest.raises(EmbedderError, match="foreign"):
        checked(Foreign(answer), ["a", "b"])


def test_an_error_keeps_its_cause() -> None:
    with pytest.raises(EmbedderError, match="down") as caught:
        checked(Foreign(raising(OSError("down"))), ["a"])
    assert isinstance(caught.value.__cause__, OSError)


def test_slowwave_errors_pass_through_unchanged() -> None:
    with pytest.raises(SettingsError, match="install"):
        checked(Foreign(raising(SettingsError("install it"))), ["a"])


@pytest.mark.parametrize("signal", [KeyboardInterrupt, SystemExit])
def test_keyboard_interrupt_and_exit_pass_through(signal: type[BaseException]) -> None:
    with pytest.raises(signal):
        checked(Foreign(raising(signal())), ["a"])


def test_an_asynchronous_embedder_is_refused_by_name() -> None:
    class Async(Foreign):
        async def embed(self, texts: Sequence[str], /) -> object:
            await asyncio.sleep(0)
            return ones(texts)

    with pytest.raises(EmbedderError, match="asynchronous"):
        checked(Async(ones), ["a"])


@given(
    st.lists(st.floats(min_value=-1e300, max_value=1e300).filter(lambda x: x == 0 or abs(x) > 1e-300), min_size=1, max_size=5)
    .filter(any)
)  # fmt: skip
def test_whatever_the_size_of_the_numbers_the_row_has_unit_length(row: list[float]) -> None:
    rows = checked(Foreign(lambda _: [row]), ["a"])
    assert np.linalg.norm(rows.astype(float)) == pytest.approx(1, abs=1e-6)
