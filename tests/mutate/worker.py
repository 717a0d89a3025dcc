# SPDX-License-Identifier: Apache-2.0
"""A copy of the sources and its build folders, in which one mutant at a time is judged."""
import collections
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
MEMORY_MAX = 4 << 30  # of one test: a mutant may ask for memory in a loop
FILE_MAX = 1 << 30
LIMIT = 300  # seconds, of any test

KILLED, TIMEOUT, SURVIVED = "killed", "timeout", "survived"
LISTED, SAME, INVALID = "listed as equivalent", "same program", "does not compile"

Killer = collections.namedtuple("Killer", "name command folder limit")
Result = collections.namedtuple("Result", "mutant status killer")


def die(text):
    sys.exit("mutate: " + text)


def run(command, log):
    with open(log, "wb") as out:
        return subprocess.run(command, stdout=out, stderr=out, check=False).returncode


def sources():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=TOP,
                            capture_output=True, check=False)
    if listed.returncode == 0:
        return [f for f in listed.stdout.decode().split("\0") if f and (TOP / f).is_file()]
    return [str(f.relative_to(TOP)) for f in TOP.rglob("*")
            if f.is_file() and not f.relative_to(TOP).parts[0].startswith(("build", ".git"))]


class Build:
    """One way to compile the copy: plain, or sanitized, as ./dev test does both."""

    def __init__(self, folder, source, sanitized, room):
        self.folder, self.source, self.sanitized, self.room = folder, source, sanitized, room
        self.killers, self.targets, self.objects = [], [], {}

    def log(self):
        return self.folder.with_suffix(".log")

    def ninja(self, targets):
        return run(["ninja", "-C", self.folder, *targets], self.log()) == 0

    def prepare(self):
        options = ["-DMCAST_SANITIZE=ON", "-DCMAKE_C_FLAGS=-O1 -w"] if self.sanitized else \
            ["-DCMAKE_C_FLAGS=-O2 -w"]
        if run(["cmake", "-S", self.source, "-B", self.folder, "-G", "Ninja",
                "-DCMAKE_BUILD_TYPE=None", "-DMCAST_QUICK_LINK=ON", *options],
               self.log()) != 0:
            die("cmake fails, see %s" % self.log())
        self.find_killers()
        if not self.ninja(self.targets):
            die("the sources do not compile, see %s" % self.log())
        for entry in json.loads((self.folder / "compile_commands.json").read_text()):
            output = entry.get("output") or re.search(r" -o (\S+)", entry["command"]).group(1)
            if Path(entry["file"]).is_relative_to(self.source):
                self.objects.setdefault(
                    str(Path(entry["file"]).relative_to(self.source)),
                    os.path.relpath(Path(entry["directory"]) / output, self.folder))

    def find_killers(self):
        """The room's tests that are programs of ours; ctest itself lists only what is built."""
        for file in sorted(self.folder.rglob("CTestTestfile.cmake")):
            for name, rest in re.findall(r"^add_test\(\[=\[(.*?)\]=\] (.*)\)$",
                                         file.read_text(), re.M):
                command = re.findall(r'"([^"]*)"', rest)
                if re.match(self.room.tests, name) and \
                        Path(command[0]).is_relative_to(self.folder):
                    self.killers.append(Killer(name, command, str(file.parent), LIMIT))
        if self.room.worlds:
            command = [str(self.folder / "bin/mcast-sim"), "--jobs", "1", "--seeds",
                       str(self.room.worlds)]
            self.killers.append(Killer("sim/worlds", command, str(self.folder), LIMIT))
        self.targets = sorted({os.path.relpath(k.command[0], self.folder) for k in self.killers})

    def bound(self):
        if not self.sanitized:  # which takes terabytes of addresses for itself
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_MAX, MEMORY_MAX))
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_MAX, FILE_MAX))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def verdict(self, killer):
        """None: it passed; else how it ended."""
        with tempfile.TemporaryDirectory(prefix="mutant.", ignore_cleanup_errors=True) as folder:
            environment = dict(os.environ, TMPDIR=folder, ASAN_OPTIONS="hard_rss_limit_mb=%d:"
                               "strict_string_checks=1:detect_stack_use_after_return=1" %
                               (MEMORY_MAX >> 20))
            test = subprocess.Popen(killer.command, cwd=killer.folder, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                    start_new_session=True, preexec_fn=self.bound,
                                    env=environment)
            try:
                return KILLED if test.wait(killer.limit) != 0 else None
            except subprocess.TimeoutExpired:
                return TIMEOUT
            finally:
                try:
                    os.killpg(test.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                test.wait()

    def measure(self):
        """How long each takes without a mistake; the cheapest go first."""
        timed = []
        for killer in self.killers:
            began = time.monotonic()
            if self.verdict(killer) is not None:
                die("%s fails without any mistake" % killer.name)
            took = time.monotonic() - began
            timed.append((took, killer._replace(limit=min(killer.limit, 5 + 10 * took))))
        self.killers = [killer for _, killer in sorted(timed, key=lambda pair: pair[0])]

    def judge(self, mutant):
        """The source is changed already. SURVIVED: no test of this build fails."""
        target = self.objects[mutant.file]
        before = (self.folder / target).read_bytes()
        if not self.ninja([target]):
            return Result(mutant, INVALID, None)
        if (self.folder / target).read_bytes() == before:
            return Result(mutant, SAME, None)
        if not self.ninja(self.targets):
            return Result(mutant, INVALID, None)
        noun = Path(mutant.file).stem.split("_")[0]
        for killer in sorted(self.killers, key=lambda k: noun not in k.name):
            status = self.verdict(killer)
            if status is not None:
                where = " (sanitized)" if self.sanitized else ""
                return Result(mutant, status, killer.name + where)
        return Result(mutant, SURVIVED, None)

    def repair(self, mutant):
        self.ninja([self.objects[mutant.file]])


class Worker:
    """A copy of the sources. The checkout itself is never changed."""

    def __init__(self, folder, room):
        self.source = folder / "source"
        self.builds = [Build(folder / name, self.source, name == "asan", room)
                       for name in ("build", "asan")]

    def copy(self):
        wanted = set(sources())
        for name in wanted:
            there, here = self.source / name, TOP / name
            if there.is_file() and there.read_bytes() == here.read_bytes():
                continue
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(here, there)
        for there in self.source.rglob("*"):
            if there.is_file() and str(there.relative_to(self.source)) not in wanted:
                there.unlink()
        # Its own mistakes are found by text in the sources, which changes here.
        (self.source / "tests/sim/mistakes.cmake").write_text("")

    def prepare(self):
        self.copy()
        for build in self.builds:
            build.prepare()

    def measure(self):
        for build in self.builds:
            build.measure()

    def judge(self, mutant):
        path = self.source / mutant.file
        right, used = path.read_text(), []
        try:
            path.write_text(mutant.text)
            for build in self.builds:
                used.append(build)
                result = build.judge(mutant)
                if result.status != SURVIVED:
                    break
            return result
        finally:
            path.write_text(right)
            for build in used:
                build.repair(mutant)
