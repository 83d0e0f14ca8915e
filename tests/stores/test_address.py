"""Malformed addresses of databases are refused, and error messages never repeat a password."""

import traceback
from pathlib import Path

import pytest
from click.testing import CliRunner

from slowwave.cli.app import app
from slowwave.errors import SettingsError, StoreError
from slowwave.stores import make
from slowwave.stores.address import REFUSED, UNNAMED, checked
from slowwave.stores.postgres.store import PostgresStore
from slowwave.testing.postgres import PostgresServer

MALFORMED = (
    "postgresql://app:s3cret/x@db/memory",
    "postgresql://app:12/s3cret@db/memory",
    "postgresql://app:s3cret/x?y@db/memory",
    "postgresql://app:s3cret@x@db/memory",
    "postgresql://app:s3cret%zz@db/memory",
    "postgresql://app:s3cret x@db/memory",
    "postgresql://db/memory?pass=s3cret",
    "postgresql:/app:s3cret@db/memory",
    "postgres:app:s3cret@db/memory",
    "host=db user=app password=s3cret",
    "application_name=x password = s3cret",
    "dbname=memory password='s3cret://'",
)


@pytest.mark.parametrize("address", MALFORMED)
def test_a_malformed_address_is_refused_in_one_sentence_without_its_password(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError) as raised:
        make(address)
    assert str(raised.value) == REFUSED
    assert "s3cret" not in "".join(traceback.format_exception(raised.value))
    for line in (
        ["--store", address, "status"],
        ["copy", address, "new.db"],
        ["--store", address, "--verbose", "doctor"],
    ):
        done = CliRunner().invoke(app, line)
        assert done.exit_code in {1, SettingsError.exit_code}, "a doctor goes on to the next"
        assert "s3cret" not in done.output
    assert not [*tmp_path.iterdir()], "no file of that name is made"


@pytest.mark.parametrize(
    "address",
    [
        "you@host/memory",
        "app:s3cret@db:5432/memory",
        "app:s3/cret@db/memory?sslmode=require",
        "host:5432/db",
        "db.example.org:5432/memory",
        "[::1]:5432/memory",
        "localhost/memory",
        "localhost:5432/memory",
    ],
)
def test_a_server_without_a_scheme_is_refused_in_one_sentence(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError) as raised:
        make(address)
    assert str(raised.value) == UNNAMED
    done = CliRunner().invoke(app, ["--store", address, "status"])
    assert done.exit_code == SettingsError.exit_code
    assert "s3cret" not in done.output
    assert not [*tmp_path.iterdir()], "no file of that name is made"


def test_a_file_whose_name_resembles_a_server_can_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for place in ("./you@host/memory", "you@host/memory", "localhost/memory", "me@work.db", "C:/me@work/memory.db"):
        if place != "C:/me@work/memory.db":
            Path(place).parent.mkdir(exist_ok=True)
        assert checked(place) == place
    make("you@host/memory").close()
    assert Path("you@host/memory").is_file()


def test_a_server_of_another_kind_is_refused_in_one_sentence() -> None:
    with pytest.raises(SettingsError, match="no store for 'mysql' addresses: give a file name") as raised:
        make("mysql://app:s3cret@db/memory")
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize(
    "place",
    [
        "agent.db",
        ":memory:",
        "postgres.db",
        "/tmp/user@host/host.db",
        "postgresql://app:s%2F3%40cret@db:5432,5433/memory?host=/run/postgres",
        "postgresql://app@/memory?host=@abstract",
    ],
)
def test_a_file_name_or_an_escaped_address_is_returned_unchanged(place: str) -> None:
    assert checked(place) == place


def test_a_failed_connection_reports_the_message_of_the_server(postgres: PostgresServer) -> None:
    there = postgres.database()
    name = there.partition("?")[0].rpartition("/")[2]
    for address, words in (
        (there.replace(name, "nothing_here"), 'database "nothing_here" does not exist'),
        (there.replace("postgres:@", "nobody:s3cret@"), 'role "nobody" does not exist'),
        ("postgresql://app:s3cret@127.0.0.1:1/memory", "Connection refused"),
        ("postgresql://app:s3cret@nowhere.invalid/memory", "nowhere.invalid"),
    ):
        with pytest.raises(StoreError, match=words) as raised:
            PostgresStore(address, busy_seconds=2)
        assert str(raised.value).startswith("no connection to postgresql://")
        assert "was lost" not in str(raised.value)
        assert "s3cret" not in str(raised.value)
