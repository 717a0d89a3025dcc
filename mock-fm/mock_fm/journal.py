# SPDX-License-Identifier: Apache-2.0
"""Keeps the objects on disk: one line of JSON per change, appended and replayed at the next start.

A change is handed to the kernel before its answer leaves, so nothing acknowledged is lost when the
process is killed. (A loss of power is another matter: nothing is synchronised but the compaction.)
The file holds session tokens and is readable by its owner only."""

import fcntl
import os

from mock_fm.message import Problem, parse_json, render_json

SPARE_LINES = 100000  # rewritten when it has this many lines more than four times what is held


def write_line(fd, change):
    """All bytes or none: what a full disk cut short is cut off again."""
    line = render_json(change) + b"\n"
    before = os.lseek(fd, 0, os.SEEK_END)
    try:
        while line:
            line = line[os.write(fd, line):]
    except OSError:
        os.ftruncate(fd, before)
        raise


class Journal:
    """Opens or creates the file, replays it into the (empty) objects and rewrites it as short as
    can be. A last line cut short by a kill is dropped: it was never acknowledged."""

    def __init__(self, path, objects):
        self.path = path
        self.objects = objects
        self.lines = 0  # appended since the file was rewritten
        try:
            self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise Problem(500, "cannot open %s: %s" % (path, error.strerror)) from None
        try:
            fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Problem(500, "%s is in use by another mock-fm" % path) from None
        self.replay()
        try:
            self.rewrite()
        except OSError as error:
            raise Problem(500, "cannot write %s.new: %s" % (path, error.strerror)) from None

    def replay(self):
        number = 0
        try:
            with open(self.fd, "rb", closefd=False) as file:
                for number, line in enumerate(file, 1):
                    if line.endswith(b"\n"):
                        self.objects.apply(parse_json(line))
        except OSError as error:
            raise Problem(500, "cannot read %s: %s" % (self.path, error.strerror)) from None
        except (Problem, ValueError):
            raise Problem(500, "%s:%d: this is no line of a mock-fm state file, or it contradicts "
                          "the lines before; move the file away to start empty" %
                          (self.path, number)) from None

    def rewrite(self):
        """What is held, in a new file that takes the old one's place."""
        new_path = self.path + ".new"
        fd = os.open(new_path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC,
                     0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for change in self.objects.changes():
                write_line(fd, change)
            os.fsync(fd)
            os.rename(new_path, self.path)
        except OSError:
            os.unlink(new_path)
            os.close(fd)
            raise
        os.close(self.fd)
        self.fd = fd
        self.lines = 0

    def append(self, change):
        """A 500 when it cannot; then nothing was written."""
        try:
            if self.lines > SPARE_LINES + 4 * (len(self.objects.jobs) + len(self.objects.trees)):
                self.rewrite()
            write_line(self.fd, change)
        except OSError as error:
            raise Problem(500, "cannot write %s: %s" % (self.path, error.strerror)) from None
        self.lines += 1
