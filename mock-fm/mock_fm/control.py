# SPDX-License-Identifier: Apache-2.0
"""The control paths, below /mock, and the log of requests that they show."""

from collections import deque

from mock_fm.message import Answer, Problem, error_answer
from mock_fm.objects import Replica, nic_long

LOG_ENTRIES = 20000  # older ones are forgotten, but stay counted
PATH_MAX = 299  # job ids have at most 255 bytes; longer paths are cut
PRINTABLE = bytes(byte if 32 <= byte <= 126 else ord("?") for byte in range(256))


def printable(text, most):
    """JSON must be UTF-8, a path can be anything."""
    return text.encode()[:most].translate(PRINTABLE).decode()


class RequestLog:
    """The last requests seen, and how many there were: what tests ask "did it, how often, over how
    many connections?". Methods, paths, statuses and what kind of login: never a header or a body.
    """

    def __init__(self):
        self.requests = self.connections = 0
        self.entries = deque(maxlen=LOG_ENTRIES)

    def begin(self, connection, request, session):
        """The entry; its "outcome" is replaced by "status" or another one when it is answered."""
        self.requests += 1
        entry = {"number": self.requests, "timeMicros": request.now_us, "connection": connection,
                 "method": printable(request.method, 11),
                 "path": printable(request.path, PATH_MAX), "outcome": "pending"}
        if session:
            entry["session"] = True
        self.entries.append(entry)
        return entry

    def document(self, since):
        first = self.requests - len(self.entries) + 1
        skipped = max(since + 1 - first, 0)
        return {"requests": self.requests, "connections": self.connections,
                "entries": [self.entries[i] for i in range(skipped, len(self.entries))]}


def finish_entry(entry, status):
    """status: of HTTP, or None: dropped."""
    session = entry.pop("session", None)
    del entry["outcome"]
    entry["outcome" if status is None else "status"] = status or "dropped"
    if session:
        entry["session"] = True


class Control:
    def __init__(self, fabric, faults, log, reload):
        self.fabric = fabric
        self.faults = faults
        self.log = log
        self.reload = reload  # reads passwords and certificates anew
        self.snapshot = None

    def answer(self, request):
        handle = self.ROUTES.get((request.method, request.path))
        try:
            if not handle:
                raise Problem(404, "the control paths are GET /mock/state, GET /mock/log, GET, "
                              "POST and DELETE /mock/faults, POST /mock/forget, /mock/put, "
                              "/mock/partitions, /mock/fabric, /mock/snapshot, /mock/restore, "
                              "/mock/revoke and /mock/reload")
            return Answer(200, handle(self, request))
        except Problem as problem:
            return error_answer(problem)

    def get_state(self, request):
        objects, tokens = self.fabric.objects, self.fabric.login.tokens
        return {
            "addresses": objects.addresses, "addressesReserved": objects.reserved,
            "addressesInUse": len(objects.trees),
            "jobs": [{"jobID": job.id, "mcastLimit": job.limit, "jobSteps": job.steps()}
                     for job in objects.jobs.values()],
            "multicasts": [{"mcastID": tree.mcast_id, "jobID": tree.job.id, "jobStepID": tree.step,
                            "hwRoot": nic_long(tree.root), "vni": tree.vni,
                            "macs": len(tree.macs)}
                           for _, tree in sorted(objects.trees.items())],
            "accessTokensIssued": tokens.issued if tokens else 0,
            "accessTokensLive": tokens.live(request.now_us) if tokens else 0,
        }

    def get_log(self, request):
        return self.log.document(request.after)

    def get_faults(self, request):
        return self.faults.document()

    def post_faults(self, request):
        self.faults.add(request.json())
        # For reads that lag: there is no other way to know later what was held before.
        if self.faults.may_lag() and not self.fabric.replica:
            self.fabric.replica = Replica(self.fabric.objects)
        return self.faults.document()

    def delete_faults(self, request):
        self.faults.rules = []
        self.fabric.replica = None
        return self.faults.document()

    # What another client or an administrator does with the fabric manager: the client under test
    # does not know of it.

    def forget_job(self, job_id, now_us):
        found = isinstance(job_id, str) and job_id in self.fabric.objects.jobs
        if found:
            self.fabric.lose(job_id, now_us)
        return found

    def post_forget(self, request):
        """No body: everything. Otherwise {"jobs":[…]}, so that a misspelt list does not lose
        everything."""
        jobs = list(self.fabric.objects.jobs)
        if request.body:
            body = request.json()
            jobs = body.get("jobs") if isinstance(body, dict) else None
        if not isinstance(jobs, list):
            raise Problem(400, 'send no body to forget every job, or {"jobs":["…"]}')
        return {"forgotten": sum(self.forget_job(job_id, request.now_us) for job_id in jobs)}

    def post_put(self, request):
        """A job that exists is replaced, and has another token then."""
        body = request.json()
        jobs = body.get("jobs") if isinstance(body, dict) else None
        if not isinstance(jobs, list):
            raise Problem(400, 'send {"jobs":[{"jobID":"…","mcastLimit":N}]}')
        for job in jobs:
            token = job.get("sessionToken") if isinstance(job, dict) else ""
            if token is not None and not (isinstance(token, str) and token) or \
                    type(job.get("mcastLimit")) is not int:
                raise Problem(400, 'a job is {"jobID":"…","mcastLimit":N}, perhaps with a '
                              '"sessionToken"')
            self.forget_job(job.get("jobID"), request.now_us)
            self.fabric.reserve(job, token, request.now_us)
        return {"put": len(jobs)}

    def post_partitions(self, request):
        """{"partitions":{"beta":["2000-2999"]}}: all that there are besides the default one."""
        body = request.json()
        others = body.get("partitions") if isinstance(body, dict) else None
        good = isinstance(others, dict) and "default" not in others and \
            all(name and "/" not in name and isinstance(ranges, list) and
                all(isinstance(text, str) for text in ranges) for name, ranges in others.items())
        if not good:
            raise Problem(400, 'send {"partitions":{"beta":["2000-2999"]}}, without "default"')
        self.fabric.inventory.set_others(others, request.now_us)
        return {"partitions": len(others)}

    def post_fabric(self, request):
        """{"set":{"/fabric/switches/g0s1":"OFFLINE"}}; "absent": it is not there."""
        body = request.json()
        states = body.get("set") if isinstance(body, dict) else None
        if not isinstance(states, dict) or \
                not all(isinstance(state, str) and state for state in states.values()):
            raise Problem(400, 'send {"set":{"/fabric/switches/g0s1":"OFFLINE"}}, or "absent"')
        for path, state in states.items():
            self.fabric.inventory.change(path, state, request.now_us)
        return {"set": len(states)}

    def post_snapshot(self, request):
        self.snapshot = self.fabric.objects.copy()
        return {"jobs": len(self.snapshot.jobs)}

    def post_restore(self, request):
        if not self.snapshot:
            raise Problem(404, "there is no snapshot yet; POST /mock/snapshot takes one")
        self.fabric.restore(self.snapshot, request.now_us)
        return {"jobs": len(self.snapshot.jobs)}

    def post_revoke(self, request):
        tokens = self.fabric.login.tokens
        live = tokens.live(request.now_us) if tokens else 0
        if tokens:
            tokens.expiry.clear()
        return {"revoked": live}

    def post_reload(self, request):
        self.reload()
        return {"reloaded": True}

    ROUTES = {
        ("GET", "/mock/state"): get_state,
        ("GET", "/mock/log"): get_log,
        ("GET", "/mock/faults"): get_faults,
        ("POST", "/mock/faults"): post_faults,
        ("DELETE", "/mock/faults"): delete_faults,
        ("POST", "/mock/forget"): post_forget,
        ("POST", "/mock/put"): post_put,
        ("POST", "/mock/partitions"): post_partitions,
        ("POST", "/mock/fabric"): post_fabric,
        ("POST", "/mock/snapshot"): post_snapshot,
        ("POST", "/mock/restore"): post_restore,
        ("POST", "/mock/revoke"): post_revoke,
        ("POST", "/mock/reload"): post_reload,
    }


def owns(path):
    return path.startswith("/mock/")
