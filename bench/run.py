"""Runs all benchmarks one after the other: `make bench`.

    python bench/run.py [--long]

Short (the default) takes a few minutes once the peers' environments exist; long adds 10,000 notes to the peers, 100,000
messages to the scaling, and facts, MiniLM and BEAM's 500K chats to recall.
"""

import argparse
import os
import subprocess
import sys
import time

from measuring import HERE, ONE_THREAD, machine

SHORT = {
    "starting.py": ("--rounds", "5"),
    "scale.py": (),
    "recall.py": ("--embedders", "static", "none"),
    "peers.py": ("--sizes", "1000", "--rounds", "3"),
}
LONG = {
    "starting.py": ("--rounds", "15"),
    "scale.py": ("--long",),
    "recall.py": ("--consolidate", "--beam", "100K", "500K"),
    "peers.py": ("--sizes", "1000", "10000", "--rounds", "5"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true")
    options = parser.parse_args()
    start, failed = time.perf_counter(), []
    print(f"{machine()}", flush=True)
    for script, arguments in (LONG if options.long else SHORT).items():
        print(f"\n## {script} {' '.join(arguments)}\n", flush=True)
        command = [sys.executable, str(HERE / script), *arguments]
        if subprocess.run(command, check=False, env={**os.environ, **ONE_THREAD}).returncode:
            failed.append(script)
    print(f"\n{time.perf_counter() - start:.0f} s")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
