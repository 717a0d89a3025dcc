# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the module that PBS gives its hooks, by the interface that its manual describes.

What the event is stands in $PBS_EVENT, a JSON object; what the hook made of it goes to $PBS_OUTCOME:
a line "accept" or "reject WORDS", then "hold", "offline NODE COMMENT", "log WORDS", "env NAME=VALUE".
"""
import json
import os
import sys

QUEUEJOB, RUNJOB, ENDJOB, PERIODIC, EXECJOB_BEGIN, EXECJOB_LAUNCH, EXECJOB_END = range(1, 8)
ND_OFFLINE = 1
LOG_WARNING = 4

_given = json.loads(os.environ["PBS_EVENT"])
_logged = []


class hold_types(str):
    pass


def get_local_nodename():
    return _given["node"]


def logmsg(level, words):
    assert level == LOG_WARNING
    _logged.append(words)


class _Resources(dict):
    def __missing__(self, name):  # PBS answers None for what was not asked for
        return None


class _Job:
    """Only what the manual lets a hook set can be set."""
    Hold_Types = None

    def __init__(self, given):
        self.__dict__.update(id=given.get("id"), euser=given.get("euser"),
                             exec_vnode=given.get("exec_vnode"),
                             Resource_List=_Resources(given.get("resources", {})))

    def __setattr__(self, name, value):
        assert name == "Hold_Types" and isinstance(value, hold_types), name
        self.__dict__[name] = value


class _Vnode:
    state = None
    comment = None


class _Event:
    def __init__(self):
        self.type = globals()[_given["event"].upper()]
        self.requestor = _given.get("requestor", "")
        self.env = {}
        self.vnode_list = {_given.get("node"): _Vnode()}
        if _given["event"] != "periodic":
            self.job = _Job(_given["job"])

    def _end(self, first):
        lines = [first]
        if self.type != PERIODIC and self.job.Hold_Types is not None:
            lines.append("hold " + self.job.Hold_Types)
        for name, node in self.vnode_list.items():
            if node.state == ND_OFFLINE:
                lines.append("offline %s %s" % (name, node.comment))
        lines += ["log " + words for words in _logged]
        lines += ["env %s=%s" % pair for pair in sorted(self.env.items())]
        with open(os.environ["PBS_OUTCOME"], "w", encoding="utf-8") as out:
            out.write("\n".join(lines) + "\n")
        sys.exit(0)

    def accept(self):
        self._end("accept")

    def reject(self, words):
        self._end("reject " + words)


_event = _Event()


def event():
    return _event
