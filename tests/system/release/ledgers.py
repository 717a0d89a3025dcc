# SPDX-License-Identifier: Apache-2.0
"""A ledger of each release is brought up by this mcastd, with all its jobs. tests/data/ledgers has a
folder for each release: state.sql (of state.db), state.key, jobs.json (what mcastctl list said).

usage: ledgers.py MCASTD MCASTCTL LEDGERS                tries all
       ledgers.py --save STATE.DB STATE.KEY FOLDER       of a broker that is stopped, with jobs.json
                                                         on standard input (docs/releases.md)
"""
import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

KEPT = ("application_id", "user_version")  # of pragmas, what a dump leaves out
DEADLINE_S = 180


def save(database, key, folder):
    folder = Path(folder)
    folder.mkdir(parents=True)
    with contextlib.closing(sqlite3.connect(database)) as db:
        lines = list(db.iterdump())
        lines += ["PRAGMA %s=%d;" % (name, db.execute("PRAGMA " + name).fetchone()[0])
                  for name in KEPT]
    (folder / "state.sql").write_text("\n".join(lines) + "\n")
    shutil.copyfile(key, folder / "state.key")
    jobs = jobs_of(json.load(sys.stdin))
    (folder / "jobs.json").write_text(json.dumps(jobs, indent=1, sort_keys=True) + "\n")


def jobs_of(said):
    """What of a job must be the same, by its name."""
    listed = said["jobs"] if isinstance(said, dict) else said
    return {job["job"]: {name: job[name] for name in ("number", "state", "vnis", "uid", "addresses")
                         if name in job} for job in listed}


def ask(mcastctl, url, broker):
    end = time.monotonic() + DEADLINE_S
    while True:
        said = subprocess.run([mcastctl, "--json", "--url", url, "list"], capture_output=True,
                              text=True, check=False)
        if said.returncode == 0:
            return jobs_of(json.loads(said.stdout))
        if broker.poll() is not None or time.monotonic() > end:
            raise RuntimeError("the broker does not answer: " + said.stderr)
        time.sleep(0.05)


def attempt(mcastd, mcastctl, ledger, work):
    """None, or what is wrong."""
    with contextlib.closing(sqlite3.connect(work / "state.db")) as db:
        db.executescript((ledger / "state.sql").read_text())
        version = db.execute("PRAGMA user_version").fetchone()[0]
    shutil.copyfile(ledger / "state.key", work / "state.key")
    for name in ("state.db", "state.key"):
        os.chmod(work / name, 0o600)
    # No fabric manager answers there: what is known is in the ledger alone.
    (work / "mcastd.conf").write_text("""[broker]
socket = %(work)s/s
[state]
path = %(work)s/state.db
key_file = %(work)s/state.key
[fm]
url = http://127.0.0.1:9
[cluster "elcap"]
users = root
""" % {"work": work})
    with open(work / "log", "w", encoding="utf-8") as log, subprocess.Popen(
            [mcastd, "--config", str(work / "mcastd.conf")], stderr=log, stdout=log) as broker:
        try:
            found = ask(mcastctl, "unix:%s/s" % work, broker)
        except RuntimeError as why:
            return "%s\n%s" % (why, (work / "log").read_text()[-2000:])
        finally:
            broker.terminate()
    if broker.returncode != 0:
        return "mcastd ended with %d" % broker.returncode
    if found != json.loads((ledger / "jobs.json").read_text()):
        return "it holds other jobs than before: %s" % json.dumps(found, sort_keys=True)
    with contextlib.closing(sqlite3.connect(work / "state.db")) as db:
        now = db.execute("PRAGMA user_version").fetchone()[0]
    print("%s: schema %d, now %d; %d jobs" % (ledger.name, version, now, len(found)))
    return None


def main(arguments):
    if arguments[:1] == ["--save"]:
        save(*arguments[1:])
        return 0
    mcastd, mcastctl, ledgers = arguments
    faults = 0
    tried = sorted(Path(ledgers).iterdir())
    for ledger in tried:
        with tempfile.TemporaryDirectory(prefix="mcast-ledger.", dir="/var/tmp") as work:
            fault = attempt(mcastd, mcastctl, ledger, Path(work))
        if fault:
            print("%s: %s" % (ledger.name, fault))
            faults += 1
    return 1 if faults or not tried else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
