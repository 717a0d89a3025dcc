# SPDX-License-Identifier: Apache-2.0
"""What the fabric manager holds: reservations of multicast addresses ("jobs"), the multicast trees
made within them, and which NIC is the root of a tree. Rules only: no HTTP, no disk, no clock.

A request is first judged (may_…), which changes nothing; the change that follows from it is then
applied. The journal keeps the same changes, and replays them. A change is a JSON object:

  {"op":"job","at":T,"job":ID,"token":TOKEN,"limit":N,"serial":N,"version":N}   a reservation
  {"op":"job-gone","at":T,"job":ID}                      and its trees are gone
  {"op":"tree","at":T,"job":ID,"step":TEXT,"mcastID":N,"root":N,"vni":N,"timeout":N,"macs":[N,…]}
  {"op":"step-gone","at":T,"job":ID,"step":TEXT}         the trees of one step are gone
  {"op":"tree-gone","at":T,"mcastID":N}
  {"op":"mark","at":T,"serial":N,"nextMcastID":N}        counters that outlive the objects
  {"op":"reset","at":T}         everything is gone, and the counters are at their beginning

T is in microseconds since 1970."""

import re

from mock_fm.message import Problem, is_integer

MCAST_IDS = 8192  # multicast ids are 0…8191; libfabric takes no others
JOB_ID_MAX = 255  # bytes
STEP_MAX = 1024  # bytes; a job id path can be long
NICS = 1 << 20  # addresses of Slingshot NICs have 20 bits
FOREVER = 1 << 62

# libfabric writes a NIC as three groups ("1:12:00"), the fabric manager, in `hwRoot`, as six.
NIC = re.compile("([0-9a-fA-F]{1,2}):([0-9a-fA-F]{1,2}):([0-9a-fA-F]{1,2})")
# libfabric puts ids into JSON without escaping them, and they are the last part of a path.
NOT_IN_JOB_ID = re.compile('[\x00-\x1f\x7f"\\\\/]')


def nic_parse(text):
    """None: it has not three groups, or is above F:FF:FF."""
    match = NIC.fullmatch(text) if isinstance(text, str) else None
    nic = sum(int(group, 16) << shift for group, shift in zip(match.groups(), (16, 8, 0))) \
        if match else NICS
    return nic if nic < NICS else None


def nic_short(nic):
    return "%X:%02X:%02X" % (nic >> 16, nic >> 8 & 0xFF, nic & 0xFF)


def nic_long(nic):
    return "00:00:00:%02X:%02X:%02X" % (nic >> 16, nic >> 8 & 0xFF, nic & 0xFF)


class Job:
    __slots__ = ("id", "made", "token", "limit", "serial", "version", "updated_us", "trees")

    def steps(self):
        steps = {}
        for tree in self.trees:
            steps.setdefault(tree.step, []).append(tree.mcast_id)
        return steps

    def touch(self, at_us):
        self.version += 1  # changes since it was made
        self.updated_us = max(self.updated_us, at_us)


class Tree:
    __slots__ = ("made", "job", "step", "mcast_id", "root", "vni", "timeout_us", "macs",
                 "updated_us")


def number_of(change, name, most=FOREVER):
    value = change.get(name)
    if not is_integer(value) or not 0 <= value <= most:
        raise ValueError(name)
    return value


def text_of(change, name):
    value = change.get(name)
    if not isinstance(value, str):
        raise ValueError(name)
    return value


class Objects:
    """Without `overcommit` a reservation is refused when the pool holds fewer unreserved addresses;
    with it, limits may add up to more, and a tree may find the pool empty."""

    def __init__(self, addresses, overcommit):
        self.addresses = addresses  # ids handed out are below it
        self.overcommit = overcommit
        self.clear()

    def clear(self):
        self.jobs = {}  # by id, in the order of their serials
        self.trees = {}  # by multicast id
        self.roots = {}  # by NIC: the tree it is the root of
        self.reserved = 0  # sum of the limits
        self.last_serial = 0
        self.next_mcast_id = 0

    def may_reserve(self, job_id, limit):
        left = self.addresses - self.reserved
        if not 0 < len(job_id.encode()) <= JOB_ID_MAX or NOT_IN_JOB_ID.search(job_id):
            raise Problem(400, "jobID must have 1 to %d characters, without control characters, "
                          "quotes, '/' or '\\'" % JOB_ID_MAX)
        if not 1 <= limit <= MCAST_IDS:
            raise Problem(400, "mcastLimit must be a number from 1 to %d" % MCAST_IDS)
        if job_id in self.jobs:
            raise Problem(409, "job %s exists already; delete it first" % job_id)
        if not self.overcommit and limit > left:
            raise Problem(507, "02: no multicast addresses left: %d asked for, %d of %d not "
                          "reserved" % (limit, max(left, 0), self.addresses))

    def may_grow(self, change):
        """`change` is a tree's, without "mcastID" and "root", which are filled in."""
        job, macs = self.jobs.get(change["job"]), change["macs"]
        if not job:
            raise Problem(404, "no such job %.255s" % change["job"])
        if len(change["step"].encode()) > STEP_MAX:
            raise Problem(400, "jobStepID must have at most %d bytes" % STEP_MAX)
        named = set()
        for nic in macs:
            if nic in named:
                raise Problem(400, "macs names %s twice" % nic_short(nic))
            named.add(nic)
        if len(job.trees) >= job.limit:
            raise Problem(507, "01: job %s has used all of its %d multicast addresses" %
                          (job.id, job.limit))
        change["mcastID"] = self.free_mcast_id()
        change["root"] = self.free_root(job, macs)

    def free_mcast_id(self):
        """The next free one in a round, so that a stale id does not soon belong to another tree."""
        for i in range(self.addresses):
            mcast_id = (self.next_mcast_id + i) % self.addresses
            if mcast_id not in self.trees:
                return mcast_id
        raise Problem(507, "02: none of the %d multicast addresses is free" % self.addresses)

    def free_root(self, job, macs):
        for nic in macs:
            if nic not in self.roots:
                return nic
        if any(self.roots[nic].job is job for nic in macs):
            raise Problem(400, "hw root in use: each of the %d NICs is the root of a tree already" %
                          len(macs))
        raise Problem(507, "03: no hardware root free in this group of %d NICs" % len(macs))

    def apply(self, change):
        """ValueError: it is no change, or contradicts what is held (a damaged journal)."""
        ops = {"job": self.add_job, "job-gone": self.end_job, "tree": self.add_tree,
               "step-gone": self.end_step, "tree-gone": self.end_tree, "mark": self.mark,
               "reset": lambda change: self.clear()}
        if not isinstance(change, dict) or change.get("op") not in ops:
            raise ValueError("op")
        ops[change["op"]](change)

    def add_job(self, change):
        job = Job()
        job.id, job.token = text_of(change, "job"), text_of(change, "token")
        job.limit = number_of(change, "limit", MCAST_IDS)
        job.serial = number_of(change, "serial")
        job.version = number_of(change, "version")
        job.updated_us = number_of(change, "at")
        job.made, job.trees = change, []
        if job.id in self.jobs or job.serial <= self.last_serial:
            raise ValueError("job")
        self.jobs[job.id] = job
        self.reserved += job.limit
        self.last_serial = job.serial

    def add_tree(self, change):
        tree = Tree()
        tree.job, tree.step = self.job_of(change), text_of(change, "step")
        tree.mcast_id = number_of(change, "mcastID", MCAST_IDS - 1)
        tree.root = number_of(change, "root", NICS - 1)
        tree.vni = number_of(change, "vni", 65535)
        tree.timeout_us = number_of(change, "timeout")
        tree.updated_us = number_of(change, "at")
        tree.made, tree.macs = change, change.get("macs")
        if not isinstance(tree.macs, list) or not tree.macs or \
                not all(is_integer(nic) and 0 <= nic < NICS for nic in tree.macs) or \
                tree.mcast_id in self.trees or tree.root in self.roots:
            raise ValueError("tree")
        tree.job.trees.append(tree)
        tree.job.touch(tree.updated_us)
        self.trees[tree.mcast_id] = self.roots[tree.root] = tree
        self.next_mcast_id = (tree.mcast_id + 1) % MCAST_IDS

    def remove_trees(self, job, trees):
        for tree in trees:
            job.trees.remove(tree)
            del self.trees[tree.mcast_id], self.roots[tree.root]

    def job_of(self, change):
        job = self.jobs.get(text_of(change, "job"))
        if not job:
            raise ValueError("job")
        return job

    def end_job(self, change):
        job = self.job_of(change)
        self.remove_trees(job, job.trees[:])
        self.reserved -= job.limit
        del self.jobs[job.id]

    def end_step(self, change):
        job, step = self.job_of(change), text_of(change, "step")
        self.remove_trees(job, [tree for tree in job.trees if tree.step == step])
        job.touch(number_of(change, "at"))

    def end_tree(self, change):
        tree = self.trees.get(number_of(change, "mcastID"))
        if not tree:
            raise ValueError("mcastID")
        self.remove_trees(tree.job, [tree])
        tree.job.touch(number_of(change, "at"))

    def mark(self, change):
        serial, next_id = number_of(change, "serial"), number_of(change, "nextMcastID")
        if serial < self.last_serial or next_id >= MCAST_IDS:
            raise ValueError("mark")
        self.last_serial, self.next_mcast_id = serial, next_id

    def changes(self):
        """The changes that make what is held out of nothing: shorter than what happened."""
        changes = []
        for job in self.jobs.values():
            # Applying its trees counts the job's version up to what it is now.
            changes.append({**job.made, "version": job.version - len(job.trees),
                            "at": job.updated_us})
            changes += [tree.made for tree in job.trees]
        # Last, because the counters may be ahead of every object that is left.
        changes.append({"op": "mark", "at": 0, "serial": self.last_serial,
                        "nextMcastID": self.next_mcast_id})
        return changes

    def copy(self):
        """Without a limit of the pool."""
        copy = Objects(self.addresses, True)
        for change in self.changes():
            copy.apply(change)
        return copy


class Replica:
    """What was held before: for reads that lag, while a fault rule may ask for one."""

    def __init__(self, objects):
        self.base = objects.copy()
        self.changes = []  # pairs of a time and a change

    def add(self, change):
        # What an old backup brings back is as new as the restore.
        latest_us = self.changes[-1][0] if self.changes else 0
        self.changes.append((max(latest_us, change["at"]), change))

    def objects(self, lag, now_us):
        lag_ms, lag_writes = lag
        seen = max(len(self.changes) - lag_writes, 0)
        while lag_ms and seen and self.changes[seen - 1][0] > now_us - lag_ms * 1000:
            seen -= 1
        objects = self.base.copy()
        for _, change in self.changes[:seen]:
            objects.apply(change)
        return objects
