#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whoever builds with NDEBUG, against our advice, gets no warning either: ndebug.py BUILD

Compiles each source of the product so, and keeps nothing.
"""

import concurrent.futures
import json
import os
import shlex
import subprocess
import sys


def complaint(entry):
    words = shlex.split(entry["command"])
    words = words[: words.index("-o")] + ["-DNDEBUG", "-fsyntax-only", entry["file"]]
    ran = subprocess.run(words, cwd=entry["directory"], capture_output=True, text=True, check=False)
    return ran.stderr if ran.returncode else ""


def main():
    build = sys.argv[1]
    with open(os.path.join(build, "compile_commands.json")) as commands:
        entries = {entry["file"]: entry for entry in json.load(commands)}
    product = [
        entry
        for name, entry in entries.items()
        if not name.startswith(build + "/") and "/tests/" not in name
    ]
    assert product, "nothing to compile"
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        said = [text for text in workers.map(complaint, product) if text]
    sys.stderr.write("".join(said))
    return 1 if said else 0


sys.exit(main())
