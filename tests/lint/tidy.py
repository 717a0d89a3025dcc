# SPDX-License-Identifier: Apache-2.0
"""What no compiler checks of this project's sources, run by ./dev lint: which room includes which,
how many files a folder has, how long functions are, that cited documents exist, the licence line,
and the words of tests/lint/words.txt. Prints each place and ends with 1 when there is one.
docs/architecture.md says what the rooms are for."""
import collections
import re
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
FILES_PER_FOLDER = 30
FUNCTION_LINES = 70
COLUMNS = 100
LICENCE = "SPDX-License-Identifier: Apache-2.0"
LICENCE_LINES = 3         # it stands in one of the first
LICENCE_REQUIRED = True

# What is searched for documents that it cites.
TEXTS = (".c", ".h", ".sh", ".in", ".py", ".cmake", ".txt")  # .txt: CMakeLists.txt only
# Files of other projects.
OTHERS = re.compile(r"\bNEWS\.md|\bCHANGELOG/\S+\.md|-\d\d\.\d\d\.md")
# Documents under the name that they are installed as: which is checked by system/operation.
INSTALLED = re.compile(r"(share/doc/mcastd|@docdir@)/[\w-]+\.md")
INSTALLED_BY_CMAKE = {"etcd.md", "flux.md", "flux-jobtap.md", "mcast_spank.md"}
# Documents that comments cite and that this project does not have. No name may be added here.
STILL_CITED = set()

# Each room, and the rooms that it may include beside itself. The longest prefix decides.
ROOMS = {
    "base": (),
    "core": ("base",),
    "trust": ("base",),
    "tokens": ("base", "trust"),
    "launch": ("base", "trust"),
    "cxi": (),
    "state": ("base", "core", "trust", "tokens"),
    "fmapi": ("base", "core", "trust"),
    "broker": ("base", "core", "tokens", "trust", "state", "fmapi", "launch"),
    "client": ("base", "tokens", "trust"),
    "pmix": ("client",),
    "plan": ("base", "core"),
    "cli": ("base", "client", "plan"),
    "node": ("base", "core", "client", "cxi", "launch"),
    "hook": ("base", "client", "fmapi"),
    "mock-cxi": ("base", "cxi"),
    "deploy": ("base", "client"),
}

places = []


def complain(file, line, text):
    places.append("%s:%d: %s" % (file, line, text))


def room_of(file):
    return file.split("/", 1)[0]


def check_includes(file, lines):
    room = room_of(file)
    for number, line in enumerate(lines, 1):
        include = re.match(r'#include "([^"]+)"', line)
        if not include:
            continue
        other = room_of(include[1])
        if other != room and other in ROOMS and other not in ROOMS[room]:
            complain(file, number, "%s/ may include %s, not %s/"
                     % (room, ", ".join(ROOMS[room]) or "itself only", other))


def check_functions(file, lines):
    """clang-format puts a body's braces into the first column."""
    begin = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            begin = number
        elif line == "}" and begin is not None:
            if number - begin - 1 > FUNCTION_LINES and not file.startswith("tests/"):
                complain(file, begin, "a function of %d lines, %d are the most"
                         % (number - begin - 1, FUNCTION_LINES))
            begin = None


def check_columns(file, lines):
    table = False  # rows of one line each
    for number, line in enumerate(lines, 1):
        if "clang-format o" in line:
            table = "clang-format off" in line
        if len(line) > COLUMNS and not table:
            complain(file, number, "%d columns, %d are the most" % (len(line), COLUMNS))


def check_citations(file, lines, documents):
    """What begins with docs/ or deploy/ is a path from the top; anything else a document's name."""
    known = {Path(document).name for document in documents} | STILL_CITED
    if file.endswith(("CMakeLists.txt", ".cmake")):
        known |= INSTALLED_BY_CMAKE
    for number, line in enumerate(lines, 1):
        if ".md" not in line:
            continue
        text = INSTALLED.sub("", OTHERS.sub("", line))
        for cited in re.findall(r"[\w./-]*\w\.md\b", text):
            from_top = cited.startswith(("docs/", "deploy/"))
            if cited not in documents if from_top else Path(cited).name not in known:
                complain(file, number, "cites %s, which this project does not have" % cited)


def check_licence(file, lines):
    if not any(LICENCE in line for line in lines[:LICENCE_LINES]):
        complain(file, 1, "no line with %s among the first %d" % (LICENCE, LICENCE_LINES))


def read_words():
    """The names to keep, and (pattern, what to write) of each word."""
    kept, words = [], []
    for line in (TOP / "tests/lint/words.txt").read_text().splitlines():
        if line.startswith("keep "):
            kept.append(line[5:])
        elif line and not line.startswith("#"):
            words.append(line.split(" => "))
    return kept, words


def check_words(file, text, kept, words):
    """All patterns at once, without upper case: line by line and one by one took as long as all
    other checks four times over."""
    for name in kept:
        text = text.replace(name, "")
    text = text.replace("_", " ").lower()  # also in names
    for found in re.finditer("|".join(pattern for pattern, _ in words), text):
        better = next(better for pattern, better in words if re.match(pattern, found[0]))
        complain(file, text.count("\n", 0, found.start()) + 1,
                 '"%s": write %s' % (found[0], better))


def check_folders(files):
    folders = collections.Counter(str(Path(file).parent) for file in files)
    for folder, count in sorted(folders.items()):
        if count > FILES_PER_FOLDER:
            complain(folder, 1, "%d sources in one folder, %d are the most"
                     % (count, FILES_PER_FOLDER))


def sources_of(*endings):
    """Not what builds made."""
    return sorted(str(file.relative_to(TOP)) for file in TOP.rglob("*")
                  if file.suffix in endings and file.is_file()
                  and not re.match(r"build|\.", file.relative_to(TOP).parts[0]))


def main():
    sources = sources_of(".c", ".h")
    product = [file for file in sources if room_of(file) in ROOMS]
    for file in sources:
        lines = (TOP / file).read_text().splitlines()
        check_columns(file, lines)
        check_functions(file, lines)
        if file in product:
            check_includes(file, lines)
    check_folders(product)
    for file in sources_of(".py"):
        if file.startswith(("mock-fm/", "tests/unit/")):
            check_columns(file, (TOP / file).read_text().splitlines())
    documents = sources_of(".md")
    for file in sources_of(*TEXTS):
        if file.endswith(".txt") and not file.endswith("CMakeLists.txt"):
            continue
        lines = (TOP / file).read_text().splitlines()
        if TOP / file != Path(__file__).resolve():  # its own lists
            check_citations(file, lines, documents)
        if LICENCE_REQUIRED and not file.endswith(".in"):
            check_licence(file, lines)
    kept, words = read_words()
    for file in sources_of(*TEXTS, ".md", ".json", ".yml"):
        if not file.startswith(("tests/lint/", "tests/data/", "tests/fuzz/corpus/")):
            check_words(file, (TOP / file).read_text(), kept, words)
    for place in places:
        print(place)
    return 1 if places else 0


if __name__ == "__main__":
    sys.exit(main())
