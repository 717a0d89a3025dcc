# SPDX-License-Identifier: Apache-2.0
"""The fabric manager's paths: what is answered to a request, and what it changes."""

from mock_fm import inventory
from mock_fm.login import bearer_of, session_token
from mock_fm.message import Answer, Problem, below, error_answer, is_integer, list_page, with_tail
from mock_fm.objects import MCAST_IDS, NICS, nic_long, nic_parse, nic_short

JOBS = "/fabric/collectives/jobs"
TREES = "/fabric/collectives/multicasts"
# Clients may have this in their base URL, as they do in front of a real API gateway.
GATEWAY_PREFIX = "/apis/fabric-manager"
# What of its own job a session token opens, besides the job's trees. What a real fabric manager
# does is not known: the design assumes the first.
REACH = {"own-job": ("GET", "PATCH"), "get": ("GET",), "patch": ("PATCH",), "trees-only": ()}


def job_document(job):
    return with_tail({"jobID": job.id, "mcastLimit": job.limit, "sessionToken": job.token,
                      "jobSteps": job.steps(), "documentSelfLink": "%s/%s" % (JOBS, job.id)},
                     "com:mock-fm:collectives:Job", job.version, job.updated_us)


def tree_document(tree):
    return with_tail({"macs": [nic_short(nic) for nic in tree.macs], "vni": tree.vni,
                      "timeout": tree.timeout_us, "jobID": tree.job.id, "jobStepID": tree.step,
                      "mcastID": tree.mcast_id, "hwRoot": nic_long(tree.root),
                      "documentSelfLink": "%s/%d" % (TREES, tree.mcast_id)},
                     "com:mock-fm:collectives:Multicast", 0, tree.updated_us)


def parse_tree(body, now_us):
    """The change that makes the tree. vni and timeout may be left out; when there, they must be
    what libfabric sends."""
    vni, timeout = body.get("vni", 0), body.get("timeout", 0)
    for name in ("jobID", "jobStepID"):
        if not isinstance(body.get(name), str):
            raise Problem(400, name + " must be a string")
    if not is_integer(vni) or not 0 <= vni <= 65535:
        raise Problem(400, "vni must be a number from 0 to 65535")
    if not is_integer(timeout) or not 0 <= timeout < 1 << 62:
        raise Problem(400, "timeout must be a number of microseconds")
    named = body.get("macs")
    if not isinstance(named, list) or not 0 < len(named) <= NICS:
        raise Problem(400, "macs must be an array of NIC addresses")
    macs = [nic_parse(text) for text in named]
    if None in macs:
        raise Problem(400, "entry %d of macs is no NIC address of three groups, as 1:12:00" %
                      (macs.index(None) + 1))
    return {"op": "tree", "at": now_us, "job": body["jobID"], "step": body["jobStepID"],
            "vni": vni, "timeout": timeout, "macs": macs}


class Fabric:
    def __init__(self, objects, journal, login, options):
        self.objects = objects
        self.journal = journal  # None: nothing outlives the process
        self.login = login
        self.seed = options.seed
        self.reach = REACH[options.session_tokens]
        self.inventory = options.fabric
        self.replica = None  # while a rule may ask for reads that lag

    def commit(self, change):
        """Makes a change durable, then puts it in force; to be answered only then."""
        if self.journal:
            self.journal.append(change)
        self.objects.apply(change)
        if self.replica:
            self.replica.add(change)

    def lose(self, job_id, now_us):
        self.commit({"op": "job-gone", "at": now_us, "job": job_id})

    def restore(self, snapshot, now_us):
        """From now on it holds what the snapshot holds, its counters included, and nothing else."""
        changes = snapshot.changes()
        for change in [{"op": "reset", "at": now_us}, *changes]:
            self.commit(change)

    def reserve(self, wish, token, now_us):
        """Makes the reservation {"jobID":…,"mcastLimit":…}; token None: one of its own."""
        job_id, limit = wish.get("jobID"), wish.get("mcastLimit")
        serial = self.objects.last_serial + 1
        if not isinstance(job_id, str):
            raise Problem(400, "jobID must be a string")
        if not is_integer(limit):
            raise Problem(400, "mcastLimit must be a number from 1 to %d" % MCAST_IDS)
        self.objects.may_reserve(job_id, limit)
        self.commit({"op": "job", "at": now_us, "job": job_id,
                     "token": token or session_token(self.seed, serial), "limit": limit,
                     "serial": serial, "version": 0})
        return self.objects.jobs[job_id]

    def answer(self, request):
        objects = self.objects
        # A replica that lags knows neither the latest jobs nor their tokens.
        if any(request.lag) and self.replica and request.method == "GET":
            objects = self.replica.objects(request.lag, request.now_us)
        try:
            return Call(self, objects, request).dispatch()
        except Problem as problem:
            return error_answer(problem)


class Call:
    """A request to a path: a list, or one of its members."""

    def __init__(self, fabric, objects, request):
        self.fabric = fabric
        self.objects = objects
        self.request = request
        self.path = request.path
        if self.path.startswith(GATEWAY_PREFIX + "/"):
            self.path = self.path[len(GATEWAY_PREFIX):]
        self.name = None

    def dispatch(self):
        for base, of_list, of_member in self.COLLECTIONS:
            self.name = below(self.path, base)  # "…/jobs/" is the list, too
            if self.name is not None:
                calls = of_member if self.name else of_list
                self.need_method(calls)
                return calls[self.request.method](self)
        if not inventory.owns(self.path):
            raise Problem(404, "Service not found: %.200s" % self.request.path)
        self.need_method(["GET"])
        self.need_login()
        return Answer(200, self.fabric.inventory.read(self.path, self.request))

    def need_method(self, methods):
        if self.request.method not in methods:
            allow = ", ".join(methods)
            raise Problem(405, "%.20s is not possible here; try %s" % (self.request.method, allow),
                          allow)

    def judged(self):
        return self.fabric.login.judge(self.request.authorization, self.request.now_us)

    def need_login(self):
        judged, login = self.judged(), self.fabric.login
        if judged == "bearer":
            raise Problem(403, "a session token opens only its own job and the job's multicast "
                          "trees; log in for this")
        if judged != "admitted":
            raise Problem(401, login.missing if judged == "missing" else login.wrong)

    def need_token(self):
        token = bearer_of(self.request.authorization)
        if token is None:
            raise Problem(401, "this path needs a job's session token as bearer token")
        return token

    def need_token_of(self, job):
        token = self.need_token()
        if not job or job.token != token:
            raise Problem(403, "this session token does not open this job")

    def need_reach(self):
        """Its own token, where that reaches so far, or the login."""
        if self.judged() != "bearer":
            self.need_login()
            return
        self.need_token_of(self.objects.jobs.get(self.name))
        if self.request.method not in self.fabric.reach:
            raise Problem(403, "a session token is not enough for this here; log in")

    def find_job(self):
        job = self.objects.jobs.get(self.name)
        if not job:
            raise Problem(404, "no such job %.255s" % self.name)
        return job

    def find_tree(self):
        digits = self.name if self.name.isascii() and self.name.isdigit() else ""
        tree = self.objects.trees.get(int(digits)) if 0 < len(digits) < 20 else None
        if not tree:
            raise Problem(404, "no such multicast tree %.32s" % self.name)
        return tree

    def list_jobs(self):
        self.need_login()
        after = self.request.after
        return Answer(200, list_page(self.request, JOBS, (
            (job.serial, job.id) for job in self.objects.jobs.values() if job.serial > after)))

    def post_job(self):
        self.need_login()
        request = self.request
        job = self.fabric.reserve(request.json_object(), request.session_token, request.now_us)
        return Answer(201, job_document(job))

    def get_job(self):
        self.need_reach()
        return Answer(200, job_document(self.find_job()))

    def delete_job(self):
        self.need_login()
        answer = Answer(200, job_document(self.find_job()))  # as it was
        self.fabric.lose(self.name, self.request.now_us)
        return answer

    def patch_job(self):
        self.need_reach()
        job, steps = self.find_job(), self.request.json_object().get("jobSteps")
        if not isinstance(steps, dict):
            raise Problem(400, "jobSteps must be an object of steps")
        if any(value is not None for value in steps.values()):
            raise Problem(400, "a step can only be set to null")
        for step in steps:
            self.fabric.commit({"op": "step-gone", "at": self.request.now_us, "job": self.name,
                                "step": step})
        return Answer(200, job_document(job))

    def list_trees(self):
        self.need_login()
        after = self.request.after
        return Answer(200, list_page(self.request, TREES, (
            (mcast_id + 1, mcast_id) for mcast_id in sorted(self.objects.trees)
            if mcast_id + 1 > after)))

    def post_tree(self):
        self.need_token()
        change = parse_tree(self.request.json_object(), self.request.now_us)
        self.need_token_of(self.objects.jobs.get(change["job"]))
        self.objects.may_grow(change)
        self.fabric.commit(change)
        return Answer(201, tree_document(self.objects.trees[change["mcastID"]]))

    def get_tree(self):
        bearer = self.judged() == "bearer"
        if not bearer:
            self.need_login()
        tree = self.find_tree()
        if bearer:
            self.need_token_of(tree.job)
        return Answer(200, tree_document(tree))

    def delete_tree(self):
        self.need_token()
        tree = self.find_tree()
        self.need_token_of(tree.job)
        answer = Answer(200, tree_document(tree))
        self.fabric.commit({"op": "tree-gone", "at": self.request.now_us,
                            "mcastID": tree.mcast_id})
        return answer

    COLLECTIONS = (
        (JOBS, {"GET": list_jobs, "POST": post_job},
         {"GET": get_job, "PATCH": patch_job, "DELETE": delete_job}),
        (TREES, {"GET": list_trees, "POST": post_tree}, {"GET": get_tree, "DELETE": delete_tree}),
    )
