# SPDX-License-Identifier: Apache-2.0
"""What flux mcast explain says, without Flux and without a broker (F9, F14, F22):
explain_test.py MODULES"""
import sys
import unittest

sys.path.insert(0, sys.argv.pop(1))

from mcast_flux.explain import Facts, explain  # noqa: E402 (the path comes first)
from mcast_flux.flux import Job, cluster_of  # noqa: E402


class Trouble(Exception):
    def __init__(self, text, status=0):
        Exception.__init__(self, text)
        self.status = status


def make_job(*names, option=None, published=None, **contexts):
    """Of these events, in this order; contexts by names, with _ for -."""
    job = Job.__new__(Job)
    job.id = "f1"
    job.events = [{"name": name, "context": contexts.get(name.replace("-", "_"))}
                  for name in names]
    options = {} if option is None else {"mcast": option}
    job.spec = {"attributes": {"system": {"shell": {"options": options}}}}
    job.published = published or {}
    return job


STARTED = ("submit", "alloc", "prolog-start", "memo", "prolog-finish", "start")
HELD = {"description": "mcast"}
OPTIONS = {"vnis": {"default_single_node": 0}, "hwcoll": {"min_nodes": 64}}
UP = {"fabric_manager": {"link": "up"}}
DOWN = {"fabric_manager": {"link": "down"}}


def reservation(state="reserved", reason=None, **more):
    hwcoll = {"state": state, "reason": reason}
    if state == "reserved":
        hwcoll["addresses"] = 23
    return dict({"job": "f1", "state": "active", "vnis": [1024], "hwcoll": hwcoll}, **more)


class Explain(unittest.TestCase):
    def said(self, *arguments, **facts):
        return "\n".join(line for part in explain(Facts(*arguments, **facts))
                         for line in part.lines())

    def expect(self, said, *words):
        for word in words:
            self.assertIn(word, said)

    def test_all_is_well(self):
        said = self.said(make_job(*STARTED), reservation=reservation(), status=UP)
        self.expect(said, "VNIs         1024", "23 multicast addresses")
        self.assertNotIn("->", said)

    def test_too_small(self):
        said = self.said(make_job(*STARTED), status=UP, options=OPTIONS, reservation=reservation(
            "ineligible", "the job has 1 node, hardware collectives need at least 64"))
        self.expect(said, "none: the job has 1 node", "at least 64 nodes (-N)")
        said = self.said(make_job(*STARTED), status=UP, reservation=reservation(
            "ineligible", "no minimum size is set: only jobs that ask for it get them"))
        self.expect(said, "-o mcast.hwcoll=on")

    def test_budget_is_full(self):
        words = "23 of 30 multicast addresses are in use, 23 more are not left"
        said = self.said(make_job(*STARTED), status=UP, reservation=reservation("denied", words))
        self.expect(said, words, "wait until jobs that have addresses end", "hwcoll=required")
        said = self.said(make_job("submit", "alloc", "exception", "clean", exception={
            "type": "mcast", "severity": 0,
            "note": "hardware collectives are required but not available: " + words}), status=UP)
        self.expect(said, "Refused", "wait until jobs", "it would have run, without them")
        self.assertNotIn("VNIs", said)
        words = "cluster elcap has 23 of its 30 multicast addresses in use, 23 more are not left"
        said = self.said(make_job(*STARTED), status=UP, reservation=reservation("denied", words))
        self.expect(said, words, "submit it again\n")  # the status shows all clusters' together

    def test_fabric_manager_is_away(self):
        there = reservation("unavailable", "the link to the fabric manager is down")
        said = self.said(make_job(*STARTED), status=DOWN, reservation=there)
        self.expect(said, "at the job's start: the link", "not reached now either")
        said = self.said(make_job(*STARTED), status=UP, reservation=there)
        self.expect(said, "it is reached now: submit the job again")
        said = self.said(make_job(*STARTED), status=DOWN, reservation=reservation())
        self.expect(said, "does not reach the fabric manager now (link down)")

    def test_broker_is_away(self):
        away = Trouble("cannot reach mcastd at /run/x")
        memo = {"mcast": {"number": 3, "vnis": [1030], "hwcoll": "reserved", "addresses": 23}}
        said = self.said(make_job(*STARTED, memo=memo), trouble=away)
        self.expect(said, "1030", "23 multicast addresses", "does not answer now: cannot reach")
        said = self.said(make_job("submit", "alloc", "prolog-start", prolog_start=HELD),
                         trouble=away)
        self.expect(said, "start waits for mcastd's answer", "it can be cancelled")
        said = self.said(make_job("submit", "exception", "clean", exception={
            "type": "mcast", "severity": 0, "note": "cannot reach mcastd at /run/x"}), trouble=away)
        self.expect(said, "Refused      cannot reach", "not answer now either")
        said = self.said(make_job("submit", "exception", "clean", exception={
            "type": "mcast", "severity": 0, "note": "cannot reach mcastd at /run/x"}), status=UP)
        self.expect(said, "mcastd answers now: submit the job again")

    def test_lost(self):
        job = make_job("submit", "alloc", "memo", "start", "exception", "clean",
                       memo={"mcast": {"vnis": [1024], "hwcoll": "reserved"}},
                       exception={"type": "mcast", "severity": 0, "note":
                                  "mcast: the fabric manager no longer has its reservation"})
        event = {"event": "lost", "time": "2026-01-02T03:04:05Z",
                 "detail": "the fabric manager no longer has its reservation"}
        said = self.said(job, status=UP, events=[event])
        self.expect(said, "Ended        because its multicast addresses were lost",
                    "lost at 2026-01-02T03:04:05Z", "submit the job again")
        self.assertNotIn("Refused", said)
        self.expect(self.said(job, status=UP), "lost: mcast: the fabric manager no longer")

    def test_what_the_user_asked_for(self):
        self.expect(self.said(make_job("submit", "alloc", "start", option="off")), "mcast=off")
        self.expect(self.said(make_job("submit", "alloc", "start", option=False)), "mcast=off")
        said = self.said(make_job(*STARTED, option={"hwcoll": "off", "vnis": 0}),
                         reservation=reservation("off", vnis=[]))
        self.expect(said, "-o mcast.hwcoll=off", "-o mcast.vnis=0")
        said = self.said(make_job(*STARTED), options=OPTIONS,
                         reservation=reservation("off", vnis=[], node_count=1))
        self.expect(said, "none to jobs on one node", "-o mcast.single-node=on")
        said = self.said(make_job("submit", "exception", "clean", exception={
            "type": "mcast", "severity": 0, "note": "-o mcast.vnis is a number from 0 to 4"}))
        self.expect(said, "flux-shell-mcast(1)")

    def test_options_that_are_refused(self):
        def refused(note, event="mcast", **facts):
            return self.said(make_job("submit", "alloc", "exception", "clean", exception={
                "type": event, "severity": 0, "note": note}), **facts)
        self.expect(refused("traffic_classes[0] must be best_effort"), "-o mcast.tc")
        inside = "mcast: -o mcast.vnis=3: the instance around this job has 1"
        said = refused(inside, "exec", level=1)
        self.expect(said, "Refused      -o mcast.vnis=3", "when the instance is submitted")
        self.assertNotIn("administrator", said)
        self.assertNotIn("Reservation", said)
        said = refused("mcast: -o mcast.x is none of vnis", "exec", level=1)
        self.expect(said, "flux-shell-mcast(1)")
        said = refused("mcast: hardware collectives are required but not available: this Flux did "
                       "not ask mcastd", "exec")
        self.expect(said, "for the administrator: flux-config-mcast(5)")
        down = "hardware collectives are required but not available: the link to it is down"
        self.expect(refused(down, status=DOWN), "wait until it is up", "it would have run")
        self.expect(refused(down, status=UP), "it is reached now")
        misspelt = make_job(*STARTED)
        misspelt.spec["attributes"]["system"]["shell"]["options"] = {"mcsat": "off", "verbose": 1}
        said = self.said(misspelt, reservation=reservation())
        self.expect(said, "-o mcsat is not one", "VNIs         1024")
        self.assertNotIn("verbose", said)

    def test_what_a_job_had(self):
        """Its VNIs are free again, and the fabric manager's part is not yet."""
        memo = {"mcast": {"vnis": [1030], "hwcoll": "reserved", "addresses": 23}}
        said = self.said(make_job(*STARTED + ("finish", "clean"), memo=memo), status=DOWN,
                         reservation=dict(reservation(vnis=[]), state="releasing"))
        self.expect(said, "VNIs         had 1030", "had 23 multicast addresses")

    def test_what_others_wrote(self):
        said = self.said(make_job(*STARTED, memo={"mcast": "junk"}))
        self.expect(said, "Reservation  none")
        said = self.said(make_job("submit", "exception", "clean", exception={
            "type": "mcast", "severity": 0, "note": "x" * 100000}))
        self.assertLess(len(said), 1000)

    def test_held(self):
        said = self.said(make_job("submit", "priority", priority={"priority": 0}))
        self.expect(said, "held (urgency 0)", "flux job urgency f1 default")
        held = make_job("submit", "alloc", "prolog-start", "prolog-start")
        held.events[2]["context"] = {"description": "job-manager.prolog"}
        held.events[3]["context"] = HELD
        self.expect(self.said(held, status=UP), "waits for mcastd's answer")

    def test_nobody_asked(self):
        self.expect(self.said(make_job("submit")), "none yet", "flux jobs shows what it depends on")
        self.expect(self.said(make_job("submit", "depend")), "none yet", "got its resources")
        self.expect(self.said(make_job("submit", "alloc", "start"), status=UP),
                    "no prolog asked mcastd", "flux-config-mcast(5)")
        said = self.said(make_job("submit", "alloc", "prolog-start", "prolog-finish", "start",
                                  prolog_start=HELD, prolog_finish=HELD), status=UP)
        self.expect(said, "lets jobs start without it then (optional)")
        said = self.said(make_job("submit", "alloc", "mcast", "start", mcast={
            "status": "without", "vnis": [], "reason": "cannot reach it"}), status=UP)
        self.expect(said, "did not answer while the job started (cannot reach it)")
        said = self.said(make_job("submit", "alloc", "mcast", "start", mcast={
            "status": "reserved", "vnis": [1031], "hwcoll": "reserved", "addresses": 9}))
        self.expect(said, "1031", "9 multicast addresses")
        self.expect(self.said(make_job("submit", "alloc", "start"), level=1), "flux --parent")
        said = self.said(make_job("submit", "alloc", "start", option={"vnis": 0}), level=1)
        self.expect(said, "what that job has, this one by its -o mcast.vnis=0")
        self.expect(self.said(make_job("submit", "exception", "clean", exception={
            "type": "cancel", "severity": 0})), "not by mcastd", "before it got its resources")

    def test_node_at_fault(self):
        said = self.said(make_job(*STARTED, "exception", "clean", exception={
            "type": "exec", "severity": 0,
            "note": "mcast: the environment of the job is not available: x"}), status=UP)
        self.expect(said, "by mcastd's part on a node: the environment")
        said = self.said(make_job("submit", "alloc", "exception", "clean", exception={
            "type": "mcast", "severity": 0,
            "note": "its nodes could not be prepared: n1: cxi0: no"}), status=UP)
        self.expect(said, "--requires=-host:NODE")

    def test_no_vni(self):
        said = self.said(make_job(*STARTED), status=UP, reservation=reservation(
            "off", vnis=[], warning="failed to reserve 1 VNI: the job has none"))
        self.expect(said, "failed to reserve 1 VNI", "wait until other jobs have ended")
        said = self.said(make_job("submit", "alloc", "exception", "clean", exception={
            "type": "mcast", "severity": 0, "note": "failed to reserve 1 VNI (0 available)"}),
            status=UP)
        self.expect(said, "Refused      failed to reserve 1 VNI", "until other jobs have ended")

    def test_cluster_of(self):
        self.assertEqual(cluster_of({"plugins": [{"load": "/x/mcast.so",
                                                  "conf": {"cluster": "elcap"}}]}), "elcap")
        self.assertEqual(cluster_of({"prolog": {"command": ["p", "--cluster", "a", "--"]}}), "a")
        self.assertIsNone(cluster_of({"prolog": {"command": ["p", "--cluster"]}}))
        self.assertIsNone(cluster_of({}))


unittest.main()
