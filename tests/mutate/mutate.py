# SPDX-License-Identifier: Apache-2.0
"""Makes small mistakes in one room's sources, one at a time, and counts which of them the room's
tests find. Run as ./dev mutate; docs/mutation.md explains it."""
import argparse
import collections
import fcntl
import json
import queue
import random
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mutants import mutants_of
from worker import INVALID, KILLED, LISTED, SAME, SURVIVED, TIMEOUT, TOP, Result, Worker, die

EQUIVALENT = Path(__file__).resolve().parent / "equivalent.txt"

# Which tests judge a room (a pattern of ctest's names), and worlds of the simulator.
Room = collections.namedtuple("Room", "tests worlds")
ROOMS = {
    "core": Room(r"unit/(base|core)_|sim/scenarios$", 300),
    "base": Room(r"unit/(base|core)_", 0),
    "tokens": Room(r"unit/tokens_", 0),
    "launch": Room(r"unit/launch_", 0),
    "state": Room(r"unit/state_", 0),
    "fmapi": Room(r"unit/fmapi_|system/fmapi_(calls|faults|list|login|steps|urls)$", 0),
    "broker": Room(r"unit/(broker|http)_|system/http_(calls|refusals|nodes|events)$|"
                   r"system/operation-(reload|jobpoll)$", 0),
    "client": Room(r"unit/client_|system/client_(calls|events|async|several)$", 0),
    "cli": Room(r"unit/cli_|system/client_ctl$|system/doctor$", 0),
    "plan": Room(r"unit/plan_", 0),
    "node": Room(r"unit/node_|system/node_(hooks|reports|clean)$", 0),
    "mock-cxi": Room(r"unit/mockcxi_", 0),
}


def equivalents(file):
    """Entries of three lines, file, "- line", "+ line" ("+ *": any mutant of it), and a reason."""
    listed = {}
    for entry in file.read_text().split("\n\n"):
        lines = [line for line in entry.splitlines() if line and not line.startswith("#")]
        if not lines:
            continue
        if len(lines) < 4 or lines[1][:2] != "- " or lines[2][:2] != "+ ":
            die("%s: an entry is FILE, - LINE, + LINE, REASON: %s" % (file, lines[0]))
        listed[(lines[0], lines[1][2:], lines[2][2:])] = " ".join(lines[3:]).strip()
    return listed


def entry_of(mutant, listed):
    """The entry that says that it is equivalent, or None."""
    keys = [(mutant.file, mutant.original, mutated) for mutated in (mutant.mutated, "*")]
    return next((key for key in keys if key in listed), None)


def judge_all(workers, chosen, wanted, listed):
    """Judges mutants in their order until so many of them count."""
    free = queue.SimpleQueue()
    for worker in workers:
        free.put(worker)

    def judge(mutant):
        if entry_of(mutant, listed):
            return Result(mutant, LISTED, None)
        worker = free.get()
        try:
            return worker.judge(mutant)
        finally:
            free.put(worker)

    results, counted = [], 0
    with ThreadPoolExecutor(len(workers)) as pool:
        while counted < wanted and len(results) < len(chosen):
            batch = chosen[len(results):len(results) + wanted - counted]
            for result in pool.map(judge, batch):
                results.append(result)
                counted += result.status not in (SAME, INVALID)
                if result.status == SURVIVED:
                    show(result)
    return results


def show(result):
    mutant = result.mutant
    print("%s:%d: survived: %s\n    - %s\n    + %s" % (
        mutant.file, mutant.line, mutant.operator, mutant.original, mutant.mutated), flush=True)


def table(results):
    columns = (KILLED, TIMEOUT, SURVIVED, LISTED)
    counts = collections.defaultdict(collections.Counter)
    for result in results:
        for row in (result.mutant.file, "all"):
            counts[row][result.status] += 1
    print("\n%-28s %8s %8s %8s %11s" % ("", "killed", "timeout", "survived", "equivalent"))
    for row in sorted(counts, key=lambda r: (r == "all", r)):
        print("%-28s %8d %8d %8d %11d" % (row, *(counts[row][c] for c in columns)))
    return counts["all"]


def summarize(arguments, results, listed, every):
    total = table(results)
    found = total[KILLED] + total[TIMEOUT]
    judged = found + total[SURVIVED]
    print("\n%d of %d mutants that change what the program does were found: %.1f %% (seed %d; "
          "besides, %d made the same program, %d did not compile)" % (
              found, judged, 100 * found / max(judged, 1), arguments.seed, total[SAME],
              total[INVALID]))
    for key in listed.keys() - {entry_of(mutant, listed) for mutant in every}:
        if key[0].startswith(arguments.room + "/"):
            print("%s: no such mutant any more, its entry can go: %s" % (key[0], key[1]))
    if arguments.json:
        Path(arguments.json).write_text(json.dumps({
            "room": arguments.room, "seed": arguments.seed, "found": found, "judged": judged,
            "counts": total,
            "mutants": [{"file": r.mutant.file, "line": r.mutant.line,
                         "operator": r.mutant.operator, "original": r.mutant.original,
                         "mutated": r.mutant.mutated, "status": r.status, "killer": r.killer}
                        for r in results]}, indent=1) + "\n")


def read_arguments():
    parser = argparse.ArgumentParser(prog="./dev mutate", description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=120, metavar="N",
                        help="so many mutants (120)")
    parser.add_argument("room", nargs="?", default="core", choices=ROOMS, metavar="ROOM",
                        help="one of %s (core)" % ", ".join(ROOMS))
    parser.add_argument("--seed", type=int, default=1, help="which ones (1)")
    parser.add_argument("--only", default="", metavar="PATTERN",
                        help="of places that begin so: core/fabric/link.c, core/fabric/link.c:33:")
    parser.add_argument("--json", metavar="FILE", help="every mutant and what became of it")
    parser.add_argument("--jobs", type=int, default=1, help="so many at once (1)")
    parser.add_argument("--folder", type=Path, required=True, help="for the copies and builds")
    return parser.parse_args()


def lock(folder):
    """Two runs in the same copies would judge each other's mutants."""
    folder.mkdir(parents=True, exist_ok=True)
    held = open(folder / "lock", "w", encoding="ascii")
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        die("another run works in %s: wait for it, or set MCAST_BUILD" % folder)
    return held


def main():
    arguments = read_arguments()
    held = lock(arguments.folder)
    listed = equivalents(EQUIVALENT)
    every = [mutant for path in sorted((TOP / arguments.room).rglob("*.c"))
             for mutant in mutants_of(str(path.relative_to(TOP)), path.read_text())]
    chosen = [m for m in every if re.match(arguments.only, "%s:%d:" % (m.file, m.line))]
    random.Random(arguments.seed).shuffle(chosen)
    workers = [Worker(arguments.folder / str(i), ROOMS[arguments.room])
               for i in range(min(arguments.jobs, arguments.count))]
    for worker in workers:
        worker.prepare()
    for worker in workers:
        worker.measure()
    print("== %d of %d mutants of %s, judged by %d tests" % (
        min(arguments.count, len(chosen)), len(chosen), arguments.room,
        len(workers[0].builds[0].killers)), flush=True)
    results = judge_all(workers, chosen, arguments.count, listed)
    summarize(arguments, results, listed, every)
    held.close()


if __name__ == "__main__":
    main()
