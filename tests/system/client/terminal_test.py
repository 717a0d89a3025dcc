#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""terminal_test.py MCASTCTL: what people see on a real terminal (a pty) and type at a real shell, of
a scripted broker: top redraws in place within any window, says why it has no answer, and leaves the
terminal as it was; tables obey the width; bash and zsh complete words (B5)."""
import fcntl
import http.server
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import socketserver
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

MCASTCTL = os.path.abspath(sys.argv[1])
LIMIT_S = 180
JOBS = ["f2Rs8sydSxmd", "f7Yk", "1234.server", "tuo:77", "evil;touch-it"]


class Broker(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    refusal = None  # or a status and a body
    away = False    # closes connections
    clusters = 30
    goes_on = threading.Event()  # else it answers nothing

    def address_string(self):
        return "a client"

    def log_message(self, *_):
        pass

    def do_GET(self):
        Broker.goes_on.wait()
        if Broker.away:
            self.close_connection = True
            return
        status, body = Broker.refusal or (200, self.answer())
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/%sjson" % ("" if status == 200 else "problem+"))
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def answer(self):
        if self.path.startswith("/v1/jobs"):
            return {"jobs": [{"cluster": "elcap", "job": job, "number": at + 1, "state": "active",
                              "uid": 0, "node_count": at + 1, "vnis": [1024 + at],
                              "nodes": "elcap[1-128],elcap[200-328],elcap[400-528],elcap1111",
                              "created": "2026-11-21T08:00:00.000Z",
                              "hwcoll": {"state": "denied", "reason": "no address is left", "addresses": 0}}
                             for at, job in enumerate(JOBS)], "next": None}
        if self.path.endswith("/traffic"):
            return {"state": "active", "node_count": 2}
        if self.path.startswith("/v1/nodes"):
            return {"nodes": [{"node": "elcap1", "nics": []}, {"node": "elcap2", "nics": []}], "next": None}
        if self.path.startswith("/v1/vnis"):
            return {"vnis": [{"name": "daos", "vni": 1024, "uid": 0, "state": "open", "expires": None,
                              "users": [0, 4000000001], "any_user": False, "clusters": [], "jobs": 0}]}
        return {"role": "leader", "version": "1.2.3",
                "jobs": {"active": 4711, "releasing": 0, "reserved": 1},
                "clusters": [{"name": "cluster%d" % i, "active": i, "releasing": 0}
                             for i in range(Broker.clusters)]}


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """Clients end while they are answered."""


class Screen:
    """The sequences that top may use, as xterm does them; any other is a fault."""
    SEQUENCES = re.compile(rb"\x1b\[(\?1049[hl]|\?25[hl]|H|K|J|[0-9;]*m)")

    def __init__(self, rows, columns):
        self.whole = self.framed = self.scrolled = self.flickered = False
        self.drawn = 0
        self.resize(rows, columns)

    def resize(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.lines = [""] * rows
        self.row = self.column = 0
        self.scrolled = False

    def feed(self, data):
        while data:
            found = self.SEQUENCES.match(data)
            if found:
                self.control(found[1])
                data = data[found.end():]
            elif data[:1] == b"\x1b":
                return data if len(data) < 8 else fail("top sends %r" % data[:8])
            else:
                self.letter(chr(data[0]))
                data = data[1:]
            self.flickered = self.flickered or (self.drawn > 1 and not self.lines[0].strip())
        return data

    def control(self, word):
        if word in (b"?1049h", b"?1049l"):
            self.whole = word == b"?1049h"
        elif word == b"H":
            self.row = self.column = 0
            self.drawn += 1
            self.framed = True
        elif word == b"K":
            self.lines[self.row] = self.lines[self.row][:self.column]
        elif word == b"J":
            self.lines[self.row] = self.lines[self.row][:self.column]
            self.lines[self.row + 1:] = [""] * (self.rows - self.row - 1)
            self.framed = False

    def letter(self, letter):
        if self.whole and not self.framed:
            fail("%r is written beside what is drawn:\n%s" % (letter, self.text()))
        if letter == "\r":
            self.column = 0
            return
        if letter == "\n" or self.column == self.columns:
            self.column = 0 if letter != "\n" else self.column
            self.row += 1
            if self.row == self.rows:
                self.scrolled = True
                self.row -= 1
            if letter == "\n":
                return
        line = self.lines[self.row].ljust(self.column)
        self.lines[self.row] = line[:self.column] + letter + line[self.column + 1:]
        self.column += 1

    def text(self):
        return "\n".join(self.lines)


class Terminal:
    def __init__(self, arguments, rows=24, columns=80, **variables):
        self.rest = b""
        self.raw = b""
        self.screen = Screen(rows, columns)
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            environment = {**os.environ, "TERM": "xterm", **variables}
            os.execvpe(arguments[0], arguments, environment)

    def resize(self, rows, columns):
        self.read()
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.file, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read(self, wait_s=0.0):
        """False: it has ended."""
        if not select.select([self.file], [], [], wait_s)[0]:
            return True
        try:
            data = os.read(self.file, 65536)
        except OSError:
            data = b""
        self.raw += data
        return bool(data)

    def draw(self):
        going = self.read(0.1)
        self.rest = self.screen.feed(self.rest + self.raw)
        self.raw = b""
        return going

    def shows(self, what, *words):
        end = time.monotonic() + LIMIT_S
        while not all(word in self.screen.text() for word in words):
            if not self.draw() or time.monotonic() > end:
                fail("%s: the terminal shows\n%s" % (what, self.screen.text()))

    def modes(self):
        return termios.tcgetattr(self.file)[:4]

    def ends(self, what, code=0):
        end = time.monotonic() + LIMIT_S
        while self.draw():
            time.monotonic() < end or fail(what + ": it does not end")
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        if status != code:
            fail("%s: it ended with %d\n%s" % (what, status, self.screen.text()))
        if self.screen.whole:
            fail(what + ": the screen is not as it was")
        os.close(self.file)


def fail(words):
    print("terminal_test: " + words, file=sys.stderr)
    sys.exit(1)


def start_top(*arguments, **options):
    return Terminal([MCASTCTL, "top", "--every", "100ms", *arguments], **options)


def drawn_again(top, what):
    seen = top.screen.drawn
    end = time.monotonic() + LIMIT_S
    while top.screen.drawn < seen + 3:
        if not top.draw() or time.monotonic() > end:
            fail(what + ": top does not draw")


def top_draws_in_place():
    Broker.clusters = 2
    top = start_top()
    top.shows("top", "All is well", "4711 active", "cluster1", "q ends it")
    before = top.screen.text()
    drawn_again(top, "in place")
    if top.screen.scrolled or top.screen.flickered:
        fail("top scrolls or flickers:\n" + top.screen.text())
    if before.split("\n")[1:6] != top.screen.text().split("\n")[1:6]:
        fail("lines move:\n%s\n%s" % (before, top.screen.text()))
    Broker.clusters = 30
    top.shows("a screen that is full", "more")
    for rows, columns, words in ((12, 60, "more lines"), (8, 60, "lines more"), (12, 40, "lines more")):
        top.resize(rows, columns)
        top.shows("a smaller window", "All is well", words, "every 0.1")
        drawn_again(top, "a smaller window")
        top.screen.scrolled = False  # by what was drawn for the window before
        drawn_again(top, "a smaller window")
        if top.screen.scrolled:
            fail("top scrolls a small window:\n" + top.screen.text())
    top.resize(60, 120)
    top.shows("a larger window", "cluster29", "q ends it")
    os.write(top.file, b"q")
    top.ends("q")


def top_says_why():
    top = start_top()
    top.shows("before", "All is well")
    Broker.refusal = (403, {"code": "forbidden", "detail": "you may not see that"})
    top.shows("refused", "REFUSED for", "you may not see that")
    Broker.refusal = (503, {"code": "not-leader", "detail": "another broker leads"})
    top.shows("not now", "NOT NOW for", "another broker leads")
    Broker.refusal = None
    top.shows("back", "All is well")
    os.rename(SOCKET, SOCKET + ".away")
    Broker.away = True
    top.shows("away", "NO ANSWER for")
    os.rename(SOCKET + ".away", SOCKET)
    Broker.away = False
    top.shows("back again", "All is well")
    Broker.goes_on.clear()
    top.shows("hung", "NO ANSWER for", "5000 ms")
    age = int(re.search(r"NO ANSWER for (\d+) s", top.screen.text())[1])
    if age < 3 or "what was asked" in top.screen.text():
        fail("of a broker that hangs top says\n" + top.screen.text())
    Broker.goes_on.set()
    top.shows("it goes on", "All is well")
    os.kill(top.pid, signal.SIGTERM)
    top.ends("SIGTERM")
    Broker.refusal = (403, {"code": "forbidden", "detail": "you may not see that"})
    top = start_top()
    top.ends("refused at once", 1)
    Broker.refusal = None


def top_leaves_the_terminal():
    shell = Terminal(["sh", "-c", "stty -a >/dev/null; exec sleep 600"])
    usual = shell.modes()
    os.kill(shell.pid, signal.SIGKILL)
    os.waitpid(shell.pid, 0)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        top = start_top()
        top.shows(number.name, "All is well")
        if top.modes() == usual:
            fail("keys are not read one by one")
        keep = os.dup(top.file)
        os.kill(top.pid, number)
        top.ends(number.name)
        if termios.tcgetattr(keep)[:4] != usual:
            fail(number.name + ": the terminal's modes are not as they were")
        os.close(keep)
    top = start_top()
    top.shows("Ctrl-Z", "All is well")
    os.write(top.file, b"\x1a")
    if not os.WIFSTOPPED(os.waitpid(top.pid, os.WUNTRACED)[1]) or top.modes() != usual:
        fail("Ctrl-Z: the terminal's modes are not as they were")
    while select.select([top.file], [], [], 0.1)[0]:
        top.draw()
    if top.screen.whole:
        fail("Ctrl-Z: the screen is not as it was")
    os.kill(top.pid, signal.SIGCONT)
    drawn_again(top, "after Ctrl-Z")
    os.write(top.file, b"\x03")
    top.ends("Ctrl-C")
    piped = subprocess.Popen([MCASTCTL, "top", "--every", "100ms"], stdout=subprocess.PIPE)
    if b"well" not in piped.stdout.readline():
        fail("top shows nothing where there is no terminal")
    piped.stdout.close()
    piped.wait(LIMIT_S)


def live_traffic_draws_in_place():
    with open(FOLDER + "/srun", "w", encoding="utf-8") as file:
        file.write("""#!/bin/sh
[ "$1" != --version ] || exit 0
while echo '{"node": "elcap7", "over_ms": 500, "nics": [{"tx_octets": 1000, "rx_octets": 500}]}'; do
    sleep 0.1 # it is what is measured, not waited for
done
""")
    os.chmod(FOLDER + "/srun", 0o755)
    live = Terminal([MCASTCTL, "--cluster", "elcap", "traffic", "--live", "--every", "500ms", "f1"],
                    PATH=FOLDER + ":" + os.environ["PATH"])
    live.shows("traffic", "OCTETS/S SENT", "elcap7", "2.0 k", "1.0 k")
    drawn_again(live, "traffic")
    if live.screen.scrolled or live.screen.flickered:
        fail("traffic scrolls or flickers:\n" + live.screen.text())
    os.kill(live.pid, signal.SIGINT)
    live.ends("traffic")


def tables_obey_the_width():
    wide = ["list", "-o", "number,job,reason,nodelist"]
    piped = subprocess.run([MCASTCTL, *wide], stdout=subprocess.PIPE, check=True, text=True).stdout
    if "elcap[400-528],elcap1111" not in piped or "…" in piped or "\x1b" in piped:
        fail("what is piped is cut:\n" + piped)

    def shown(arguments, columns, **variables):
        terminal = Terminal([MCASTCTL, *arguments], 24, columns, **variables)
        while terminal.read(LIMIT_S):
            pass
        os.waitpid(terminal.pid, 0)
        os.close(terminal.file)
        return terminal.raw.decode()

    text = shown(wide, 50, NO_COLOR="1")
    if any(len(line) > 50 for line in text.splitlines()) or "…" not in text or JOBS[0] not in text:
        fail("a table of 50 columns:\n" + text)
    usual = shown(["list"], 80)
    if any(job not in usual for job in JOBS):
        fail("ids are cut:\n" + usual)
    if "\x1b" in text or "\x1b[1;31m" not in shown(["list"], 120):
        fail("NO_COLOR, or colours of a terminal")
    text = shown(["vni", "list"], 120)
    if not re.search(r"daos +1024 +root +open.* root,4000000001", text):
        fail("users of shared VNIs have no names:\n" + text)
    for words, has in ((["--color", "never", "list"], False), (["list", "--color=always"], True)):
        if ("\x1b" in shown(words, 120, **({"NO_COLOR": "1"} if has else {}))) != has:
            fail(" ".join(words))


def typed(shell, keys, becomes):
    """What has been typed becomes this when Tab is pressed; it is typed again where the machine is so busy
    that the broker's answer came too late for a person who waits."""
    end = again = time.monotonic()
    end += LIMIT_S
    pause = 1
    text = ""
    while not text.endswith(becomes):
        if time.monotonic() >= again:
            shell.raw = b""
            os.write(shell.file, b"\x15" + keys.encode() + b"\t")
            pause *= 2
            again = time.monotonic() + pause
        if not shell.read(0.2) or time.monotonic() > end:
            fail("%r became %r, not %r" % (keys, text, becomes))
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\a", "", shell.raw.decode(errors="replace"))
        while re.search(r"[^\x08]\x08", text):  # drawn over
            text = re.sub(r"[^\x08]\x08", "", text)
    os.write(shell.file, b"\x15")  # the line is empty again


def shell_completes(shell, prepare):
    for line in prepare:
        os.write(shell.file, line.encode() + b"\n")
    end = time.monotonic() + LIMIT_S
    while not re.search(rb"\nready\r\n[^\n]*\$ ", shell.raw):
        if not shell.read(0.2) or time.monotonic() > end:
            fail("the shell says %r" % shell.raw)
    for keys, becomes in (
            ("mcastctl lis", "mcastctl list "),
            ("mcastctl hel", "mcastctl help "),
            ("mcastctl help topo", "mcastctl help topology "),
            ("mcastctl list --sor", "mcastctl list --sort "),
            ("mcastctl --url unix:%s list --sor" % SOCKET, " list --sort "),
            ("mcastctl list --state ac", "--state active "),
            ("mcastctl events --kind lost,releas", "--kind lost,released"),
            ("mcastctl list --state=ac", "--state=active "),
            ("mcastctl list --sort prof", "--sort profile "),
            ("mcastctl list --sort -prof", "--sort -profile "),
            ("mcastctl list -o job,prof", "-o job,profile"),
            ("mcastctl reserve --interconnect om", "omnipath "),
            ("mcastctl vni cre", "mcastctl vni create "),
            ("mcastctl --url unix:%s show f2" % SOCKET, "show f2Rs8sydSxmd "),
            ("mcastctl fence --reason x elc", "x elcap"),
            ("mcastctl list --cluster clus", "--cluster cluster"),
            ("mcastctl show tuo:7", "show tuo:77 "),
            ("mcastctl list -o numb", "-o number"),
            ("mcastctl show 12", "show 1234.server ")):
        typed(shell, keys, becomes)
    os.kill(shell.pid, signal.SIGKILL)
    os.waitpid(shell.pid, 0)
    os.close(shell.file)


def no_word_of_the_broker_is_more_than_a_word():
    """What a shell puts on the line is not quoted."""
    end = time.monotonic() + LIMIT_S
    while True:
        answer = subprocess.run([MCASTCTL, "--complete", "JOB", "--", ""], stdout=subprocess.PIPE,
                                check=False, text=True)
        if answer.returncode == 0 and answer.stdout.split() == JOBS[:4]:
            return
        if answer.returncode != 4 or time.monotonic() > end:  # 4: too late for a person who waits
            fail("a shell is offered %r" % answer)


def a_broker_that_hangs_is_left():
    """Without its answer a shell completes nothing, and soon."""
    with socket.socket(socket.AF_UNIX) as hangs:
        hangs.bind(FOLDER + "/hangs.sock")
        hangs.listen()
        answer = subprocess.run([MCASTCTL, "--url", "unix:" + FOLDER + "/hangs.sock", "--complete", "JOB",
                                 "--", ""], stdout=subprocess.PIPE, check=False, timeout=LIMIT_S)
    if answer.returncode != 4 or answer.stdout:
        fail("of a broker that hangs: %r" % answer)


def status_gives_up():
    """Who looks at a terminal is told of a broker that hangs before a program would be."""
    Broker.goes_on.clear()
    status = Terminal([MCASTCTL, "status"], columns=500)
    status.shows("status", "did not answer within 5000 ms")
    status.ends("status", 4)
    Broker.goes_on.set()


def bash_completes():
    shell = Terminal(["bash", "--norc", "--noprofile", "-i"], columns=500, PS1="$ ", TERM="dumb")
    shell_completes(shell, ["bind 'set enable-bracketed-paste off'",
                            "source <(mcastctl --completion bash); echo; echo ready"])


def zsh_completes():
    if not shutil.which("zsh"):
        print("skipped: zsh is not installed", file=sys.stderr)
        return
    with open(FOLDER + "/_mcastctl", "w", encoding="utf-8") as file:
        subprocess.run([MCASTCTL, "--completion", "zsh"], stdout=file, check=True)
    for prepare in ("fpath=(%s $fpath); autoload -Uz compinit; compinit -D -u" % FOLDER,
                    "autoload -Uz compinit; compinit -D -u; source <(mcastctl --completion zsh)"):
        shell = Terminal(["zsh", "-f", "-i"], columns=500, PS1="$ ", TERM="dumb")
        shell_completes(shell, ["unsetopt prompt_sp prompt_cr auto_menu; unset zle_bracketed_paste",
                                prepare, "echo; echo ready"])


try:
    for end in pty.openpty():
        os.close(end)
except OSError as error:
    print("skipped: no pseudo-terminal can be made here (%s)" % error)
    sys.exit(77)

with tempfile.TemporaryDirectory(prefix="mcast-terminal.", dir="/var/tmp") as FOLDER:
    SOCKET = FOLDER + "/mcastd.sock"
    os.environ.update(MCAST_URL="unix:" + SOCKET, LC_ALL="C.UTF-8",
                      PATH=os.path.dirname(MCASTCTL) + ":" + os.environ["PATH"])
    for name in ("NO_COLOR", "MCAST_CLUSTER", "COLUMNS", "LINES"):
        os.environ.pop(name, None)
    Broker.goes_on.set()
    threading.Thread(target=Server(SOCKET, Broker).serve_forever, daemon=True).start()
    for test in (top_draws_in_place, top_says_why, top_leaves_the_terminal,
                 live_traffic_draws_in_place, tables_obey_the_width,
                 no_word_of_the_broker_is_more_than_a_word, a_broker_that_hangs_is_left,
                 status_gives_up, bash_completes, zsh_completes):
        test()
