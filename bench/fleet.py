"""A database of many tenants: loaded in bulk, searched, slept, erased, checked, dumped and restored, with the time of each.

    python bench/fleet.py postgresql://owner@host:5432/empty --scopes 30000 --messages 100

It writes some template scopes through the library and copies their rows into the other scopes at the server, so that three
million memories are loaded in minutes. The login must be a superuser: triggers are off during the load. Names of people and
places are invented. Every line that it prints is one JSON object.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import psycopg

from slowwave import Slowwave
from slowwave.stores.row_transfer import KEYS, TABLES

TEMPLATES = 40
BATCH = 250
QUESTIONS = ("who owns the deploy pipeline?", "what does Anna like?", "where is the key?", "when is the release?")
SUBJECTS = ("Anna", "Bela", "Chris", "Dana", "Emil", "Fay", "Goran", "Hana")
THINGS = (
    "pipeline",
    "garden",
    "invoice",
    "release",
    "kitchen",
    "server",
    "bicycle",
    "contract",
    "violin",
    "greenhouse",
)
VERBS = ("owns", "likes", "repairs", "sold", "planned", "painted", "lost", "found")


def report(phase: str, **values: object) -> None:
    print(json.dumps({"phase": phase, **values}), flush=True)


def spread(seconds: list[float]) -> dict[str, float]:
    cuts = quantiles(seconds, n=100) if len(seconds) > 1 else [seconds[0]] * 99
    return {"p50_ms": round(1000 * median(seconds), 1), "p95_ms": round(1000 * cuts[94], 1), "n": len(seconds)}


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    result = call()
    return time.perf_counter() - begun, result


def templates(url: str, messages: int) -> None:
    chance = random.Random(7)
    with Slowwave.open(url, llm=None) as store:
        for number in range(TEMPLATES):
            talk = [
                {
                    "role": "user",
                    "content": f"{chance.choice(SUBJECTS)} {chance.choice(VERBS)} the {chance.choice(THINGS)} "
                    f"number {chance.randrange(10_000)} near the {chance.choice(THINGS)}.",
                    "id": f"m{number}-{place}",
                }
                for place in range(messages)
            ]
            store.within("template", str(number)).add_messages(talk, "talk")


def clone(db: "psycopg.Connection[Any]", first: int, count: int) -> None:
    """Copy the rows of the templates into scopes fleet/u<first> and on."""
    with db.transaction():
        db.execute("SET LOCAL session_replication_role = replica")  # no triggers: `due` is filled below
        db.execute("SET LOCAL synchronous_commit = off")
        db.execute("SET LOCAL search_path = slowwave, public")
        db.execute(
            "CREATE TEMP TABLE clones ON COMMIT DROP AS WITH made AS (INSERT INTO scopes (path) "
            "SELECT 'fleet/u' || n FROM generate_series(%s::int, %s::int) n RETURNING token, path) "
            "SELECT m.token, t.token AS template FROM made m JOIN scopes t ON t.path = 'template/' || "
            "(substring(m.path FROM 8)::int %% %s)",
            (first, first + count - 1, TEMPLATES),
        )
        for table, columns in TABLES.items():
            chosen = ", ".join(
                "n.token"
                if column == "scope"
                else f"r.{column} + ((n.token - n.template) << 40)"
                if column in KEYS
                else f"r.{column}"
                for column in columns
            )
            into = f"INSERT INTO {table} ({', '.join(columns)}) SELECT {chosen} FROM clones n JOIN {table} r ON r.scope = n.template"
            db.execute(into.encode())
        db.execute("INSERT INTO due SELECT token, 0 FROM clones ON CONFLICT DO NOTHING")


def load(url: str, scopes: int, messages: int) -> None:
    templates(url, messages)
    begun = time.perf_counter()
    with psycopg.connect(url, autocommit=True) as db:
        made: Any = db.execute("SELECT count(*) FROM slowwave.scopes WHERE path LIKE 'fleet/%'").fetchone()
        for first in range(int(made[0]), scopes, BATCH):
            clone(db, first, min(BATCH, scopes - first))
        db.execute("ANALYZE")
        row: Any = db.execute(
            "SELECT count(*), pg_database_size(current_database()), (SELECT count(*) FROM slowwave.scopes) "
            "FROM slowwave.memories"
        ).fetchone()
    report("load", memories=row[0], bytes=row[1], scopes=row[2], seconds=round(time.perf_counter() - begun, 1))


def search(url: str, scopes: int, number: int) -> None:
    chance = random.Random(11)
    with Slowwave.open(url, llm=None) as store:
        chosen = [store.within("fleet", f"u{chance.randrange(scopes)}") for _ in range(number)]
        for name in ("search cold", "search warm"):
            times = [timed(lambda memory=memory: memory.search(chance.choice(QUESTIONS)))[0] for memory in chosen]
            report(name, **spread(times))
        times = [timed(lambda memory=memory: memory.add("Anna has a new violin"))[0] for memory in chosen]
        report("add", **spread(times))


def sleep(url: str, number: int) -> None:
    with Slowwave.open(url, llm=None) as store:
        seconds, reports = timed(lambda: store.sleep_due(limit=number))
    report("sleep", scopes=len(reports), seconds=round(seconds, 1), a_second=round(len(reports) / seconds, 1))


def erase(url: str, scopes: int, number: int) -> None:
    times, verified, pending = [], 0, 0
    with Slowwave.open(url, llm=None) as store:
        for place in range(number):
            seconds, receipt = timed(lambda place=place: store.delete_scope(f"fleet/u{scopes - 1 - place}"))
            times.append(seconds)
            verified += receipt.verified
            pending += bool(receipt.pending)
        report("erase", verified=verified, pending=pending, **spread(times))


def doctor(url: str) -> None:
    with Slowwave.open(url, llm=None) as store:
        seconds, problems = timed(lambda: store.doctor(deep=True, scopes=100))
        report("doctor --deep --sample 100", seconds=round(seconds, 1), problems=len(problems))
        seconds, problems = timed(store.doctor)
        report("doctor", seconds=round(seconds, 1), problems=len(problems))


def prove(url: str) -> None:
    with Slowwave.open(url, llm=None) as store:
        seconds, proof = timed(lambda: store.prove_erased(rewrite=True))
    report("prove pending", seconds=round(seconds, 1), proved=proof.proved, pending=proof.pending)


def dump(url: str, folder: Path, programs: str) -> None:
    """Dump, restore into the database NAME_restored, and compare numbers and checksums of rows, and what doctor says."""
    file = folder / "fleet.dump"
    name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
    restored = url.replace(f"/{name}", f"/{name}_restored")
    run = [str(Path(programs) / "pg_dump") if programs else "pg_dump", url, "--schema=slowwave", "--no-owner"]
    seconds, _ = timed(lambda: subprocess.run([*run, "--format=custom", f"--file={file}"], check=True))
    report("dump", seconds=round(seconds, 1), bytes=file.stat().st_size)
    with psycopg.connect(url, autocommit=True) as db:
        has_vector = db.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchone()
        db.execute(f"DROP DATABASE IF EXISTS {name}_restored".encode())
        db.execute(f"CREATE DATABASE {name}_restored TEMPLATE template0 ENCODING 'UTF8'".encode())
    if has_vector:
        with psycopg.connect(restored, autocommit=True) as db:
            db.execute("CREATE EXTENSION vector")
    restore = str(Path(programs) / "pg_restore") if programs else "pg_restore"
    command = [restore, f"--dbname={restored}", "--no-owner", "--exit-on-error", "--jobs=2", str(file)]
    seconds, _ = timed(lambda: subprocess.run(command, check=True))
    with psycopg.connect(restored, autocommit=True) as db:
        analysed, _ = timed(lambda: db.execute("ANALYZE"))
    counts = []
    for address in (url, restored):
        with psycopg.connect(address) as db:
            row: Any = db.execute("SELECT count(*), sum(checksum::numeric) FROM slowwave.memories").fetchone()
            counts.append((row[0], str(row[1])))
    with Slowwave.open(restored, llm=None) as store:
        problems = store.doctor()
    report(
        "restore",
        seconds=round(seconds, 1),
        analyze=round(analysed, 1),
        memories=counts[1][0],
        same=counts[0] == counts[1],
        problems=len(problems),
    )
    file.unlink()


def main() -> None:
    """Run the chosen phases."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--scopes", type=int, default=30_000)
    parser.add_argument("--messages", type=int, default=100, help="a scope")
    parser.add_argument("--number", type=int, default=100, help="of searches, nights and erases")
    parser.add_argument("--folder", type=Path, default=Path("/tmp"), help="for the dump")
    parser.add_argument("--programs", default="", help="the folder of pg_dump and pg_restore")
    parser.add_argument(
        "--only", default="load,search,sleep,erase,doctor,dump,prove", help="phases, separated by commas"
    )
    parser.add_argument("--nice", type=int, default=0, help="the lower priority of a run beside other work, up to 19")
    arguments = parser.parse_args()
    os.nice(arguments.nice)
    phases: dict[str, Callable[[], None]] = {
        "load": lambda: load(arguments.url, arguments.scopes, arguments.messages),
        "search": lambda: search(arguments.url, arguments.scopes, arguments.number),
        "sleep": lambda: sleep(arguments.url, arguments.number),
        "erase": lambda: erase(arguments.url, arguments.scopes, arguments.number),
        "doctor": lambda: doctor(arguments.url),
        "dump": lambda: dump(arguments.url, arguments.folder, arguments.programs),
        "prove": lambda: prove(arguments.url),
    }
    for phase in arguments.only.split(","):
        if phase not in phases:
            sys.exit(f"no phase {phase!r}: take some of {', '.join(phases)}")
        phases[phase]()


if __name__ == "__main__":
    main()
