# SPDX-License-Identifier: Apache-2.0
"""page.py PAGE FOLDER SOURCES CC…: runs what docs/integrate.md shows, and compares.

Each ```sh block is run, all in one shell and in FOLDER; the ```text block behind it must be what they
print, with any text where it has "…". So is the ```c block, compiled with CC…. And each word that the
broker refuses with must stand in the page, and none that it does not know.
"""
import glob
import os
import re
import subprocess
import sys

page_name, folder, sources = sys.argv[1:4]
compiler = sys.argv[4:]
page = open(page_name, encoding="utf-8").read()
page = page.replace("/run/mcastd/mcastd.sock", folder + "/mcastd.sock")
blocks = re.findall(r"^```(\w+)\n(.*?)^```$", page, re.S | re.M)


def wrong(words):
    sys.exit("integrate.md: " + re.sub(r"sess-[0-9a-f]+", "sess-***", words))


def compare(what, said, wanted):
    pattern = ".*".join(re.escape(part) for part in wanted.rstrip("\n").split("…"))
    if not re.fullmatch(pattern, said.rstrip("\n"), re.S):
        wrong("%s\nprints\n%s\nand not\n%s" % (what, said, wanted))


def compiled(code):
    with open(folder + "/page.c", "w", encoding="utf-8") as out:
        out.write(code)
    subprocess.run(compiler[:1] + [folder + "/page.c", "-o", folder + "/page"] + compiler[1:],
                   check=True)
    done = subprocess.run([folder + "/page"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    if done.returncode != 0:
        wrong("the program ends with %d: %s" % (done.returncode, done.stdout))
    return done.stdout


def ran(shell, code):
    """What a block prints, in the shell of those before it."""
    shell.stdin.write(code + "\necho '@@'\n")
    shell.stdin.flush()
    said = ""
    while not said.endswith("@@\n"):
        line = shell.stdout.readline()
        if line == "":
            wrong("the shell ends in\n%s\nafter\n%s" % (code, said))
        said += line
    return said[:-len("@@\n")]


def run_blocks():
    shell = subprocess.Popen(["bash", "-eu"], cwd=folder + "/out", stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    count = 0
    for i, (kind, code) in enumerate(blocks):
        if kind not in ("sh", "c"):
            continue
        follows = blocks[i + 1] if i + 1 < len(blocks) else ("", "")
        compare(code, ran(shell, code) if kind == "sh" else compiled(code),
                follows[1] if follows[0] == "text" else "")
        count += 1
    shell.stdin.close()
    shell.wait()
    if count < 8:
        wrong("%d blocks only" % count)


def known_codes():
    """Every word that the sources refuse with."""
    effects = open(sources + "/core/effect.h", encoding="utf-8").read()
    codes = set(re.findall(r'X\(\w+, [45]\d\d, "([a-z-]+)"\)', effects))
    for name in glob.glob(sources + "/broker/http/**/*.c", recursive=True):
        text = open(name, encoding="utf-8").read()
        calls = re.findall(r'\bproblem_set\(([^;"]*)"([a-z]+(?:-[a-z]+)*)",', text)
        codes |= {code for before, code in calls if "answer_word" not in before}
        codes |= set(re.findall(r'\bpeer_shutdown\([^;"]*"([a-z-]+)"', text))
        codes |= set(re.findall(r'\brefuse_for_now\(\s*call,\s*"([a-z-]+)"', text))
        if name.endswith(("mungecred.c", "tokenproof.c")):
            codes |= set(re.findall(r'"((?:munge|token)-[a-z-]+)"', text))
    return codes


def compare_codes():
    known = known_codes()
    told = set(re.findall(r"`([a-z]+(?:-[a-z]+)*)`", page[page.index("## What to do on each"):
                                                           page.index("## On the nodes")]))
    if len(known) < 40:
        wrong("the sources seem to know %d codes only: %s" % (len(known), sorted(known)))
    if known - told:
        wrong("these answers are not told: " + ", ".join(sorted(known - told)))
    words = {"status", "code", "detail", "warning", "field", "unknown", "released", "lost", "gap",
             "users", "required", "mcastctl", "mcast-node"}
    if told - known - words:
        wrong("the broker does not know: " + ", ".join(sorted(told - known - words)))
    if not os.path.exists(sources + "/deploy/examples/pbs/mcast.py"):
        wrong("the examples are gone")


compare_codes()
run_blocks()
