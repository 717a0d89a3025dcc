# SPDX-License-Identifier: Apache-2.0
"""The mock fabric manager's paths, as its real clients use them; without HTTP."""

import os
import unittest

from case import Case

from mock_fm.control import LOG_ENTRIES, Control, RequestLog, finish_entry
from mock_fm.fabric import JOBS, REACH, TREES, Fabric
from mock_fm.faults import Faults
from mock_fm.journal import Journal
from mock_fm.login import Dice, Login, session_token
from mock_fm.message import Answer, Request
from mock_fm.objects import Objects, Replica
from mock_fm.options import Options
from mock_fm.server import query_number

LOGIN = "Basic Y3hpOmZtLXBhc3N3MHJk"  # cxi:fm-passw0rd
STEP_0 = b'{"jobSteps":{"0":null}}'
NOW = 1700000000000000


class FabricCase(Case):
    def setUp(self):
        self.folder = self.make_folder()
        self.write(self.folder, "passwd", "fm-passw0rd\n")
        self.begin("basic")

    def begin(self, auth, addresses=100, journal=None):
        login = Login(auth, self.folder, None)
        objects = journal.objects if journal else Objects(addresses, False)
        self.fabric = Fabric(objects, journal, login, Options(["--seed", "1"]))
        self.control = Control(self.fabric, Faults(Dice(1)), RequestLog(), None)

    def ask(self, method, path, authorization=LOGIN, body=b"", **query):
        request = Request(method, path, authorization, body, now_us=NOW, **query)
        return self.fabric.answer(request)

    def status(self, *arguments):
        return self.ask(*arguments).status

    def command(self, path, body=b"", method="POST"):
        return self.control.answer(Request(method, path, None, body, now_us=NOW))

    def reserve(self, job_id, limit):
        """The header line's value that shows the job's session token."""
        body = b'{ "jobID": "%s", "mcastLimit": %d }' % (job_id.encode(), limit)
        answer = self.ask("POST", JOBS, LOGIN, body)
        self.assertEqual(answer.status, 201)
        return "Bearer " + answer.document["sessionToken"]

    def grow(self, job_id, step, bearer):
        body = b'{"macs":["1:12:00","1:12:01","F:AB:CD"],"vni": 1024,"timeout":20000000,' \
               b'"jobID":"%s","jobStepID":"%s"}' % (job_id.encode(), step.encode())
        return self.ask("POST", TREES, bearer, body)


class Paths(FabricCase):
    def test_jobs__live_and_go(self):
        self.assertEqual(self.status("GET", JOBS + "/c-1"), 404)
        bearer = self.reserve("c-1", 23)
        again = b'{"jobID":"c-1","mcastLimit":1}'
        self.assertEqual(self.status("POST", JOBS + "/", LOGIN, again), 409)
        shown = self.ask("GET", JOBS + "/c-1").document
        self.assertEqual((shown["jobID"], shown["documentSelfLink"], shown["jobSteps"]),
                         ("c-1", JOBS + "/c-1", {}))
        self.assertEqual("Bearer " + shown["sessionToken"], bearer)
        self.assertEqual(self.status("DELETE", JOBS + "/c-1"), 200)
        self.assertEqual(self.status("DELETE", JOBS + "/c-1"), 404)

    def test_jobs__need_the_login(self):
        bearer = self.reserve("c-1", 23)
        refused = self.ask("GET", JOBS, None)
        self.assertEqual((refused.status, refused.challenge), (401, True))
        for wrong in ("Basic Y3hpOndyb25n", "Basic", "Digest x", "Basic ", ""):
            self.assertEqual(self.status("DELETE", JOBS + "/c-1", wrong), 401)
        self.assertEqual(self.status("GET", JOBS, "basic  Y3hpOmZtLXBhc3N3MHJk"), 200)
        # A job's token is no login.
        self.assertEqual(self.status("DELETE", JOBS + "/c-1", bearer), 403)
        self.assertEqual(self.status("GET", JOBS, bearer), 403)

    def test_jobs__need_no_login_without_authentication(self):
        self.begin("none")
        body = b'{"jobID":"c-1","mcastLimit":4}'
        self.assertEqual(self.status("POST", JOBS, None, body), 201)
        self.assertEqual(self.status("GET", JOBS, LOGIN), 200)
        self.assertEqual(self.status("GET", JOBS + "/c-1", "Bearer anything"), 403)

    def test_token__opens_only_its_own_job(self):
        """F19: with the job's token one gets at the job's own trees, and no others."""
        one, two = self.reserve("c-1", 2), self.reserve("c-2", 2)
        for bearer, status in ((None, 401), (LOGIN, 401), (two, 403), (one, 201)):
            self.assertEqual(self.grow("c-1", "0", bearer).status, status)
        self.assertEqual(self.grow("c-9", "0", two).status, 403)
        tree = TREES + "/0"
        for method, path, bearer, status in (
                ("DELETE", tree, two, 403), ("DELETE", tree, None, 401), ("GET", tree, two, 403),
                ("GET", tree, one, 200), ("GET", JOBS + "/c-1", two, 403),
                ("GET", JOBS + "/c-9", two, 403)):
            self.assertEqual(self.status(method, path, bearer), status)

    def test_token__reaches_as_far_as_it_is_told(self):
        """F19: managers may differ in how far a job's own token reaches; another job's reaches
        nowhere, and the login reaches the job at all of them."""
        for reach in REACH.values():
            self.begin("basic")
            self.fabric.reach = reach
            one, two = self.reserve("c-1", 2), self.reserve("c-2", 2)
            self.grow("c-1", "0", one)
            for method, body in (("GET", b""), ("PATCH", STEP_0)):
                self.assertEqual(self.status(method, JOBS + "/c-1", two, body), 403)
                self.assertEqual(self.status(method, JOBS + "/c-1", one, body),
                                 200 if method in reach else 403)
            self.assertEqual(len(self.fabric.objects.trees), "PATCH" not in reach)
            self.assertEqual(self.status("GET", JOBS + "/c-1"), 200)
            self.assertEqual(self.status("PATCH", JOBS + "/c-1", LOGIN, STEP_0), 200)
            self.assertEqual(self.fabric.objects.trees, {})

    def test_step__ends_alone_and_as_often_as_one_likes(self):
        """Cleaning up is asked for more than once, and after steps that never had a tree."""
        one = self.reserve("c-1", 3)
        for step in ("0", "0", "00"):
            self.assertEqual(self.grow("c-1", step, one).status, 201)
        never = b'{"jobSteps":{"7":null}}'
        self.assertEqual(self.status("PATCH", JOBS + "/c-1", one, never), 200)
        self.assertEqual(len(self.fabric.objects.trees), 3)
        for _ in range(2):
            left = self.ask("PATCH", JOBS + "/c-1", one, STEP_0).document["jobSteps"]
            self.assertEqual(left, {"00": [2]})
        self.assertEqual(self.status("DELETE", JOBS + "/c-1"), 200)
        self.assertEqual(self.status("PATCH", JOBS + "/c-1", LOGIN, STEP_0), 404)
        self.assertEqual(self.status("PATCH", JOBS + "/c-1", one, STEP_0), 403)

    def test_tree__is_as_libfabric_wants_it(self):
        """And no less: it crashes without hwRoot."""
        bearer = self.reserve("c-1", 2)
        made = self.grow("c-1", "/fA/fB", bearer).document
        self.assertEqual((made["mcastID"], made["hwRoot"], made["jobStepID"], made["macs"]),
                         (0, "00:00:00:01:12:00", "/fA/fB", ["1:12:00", "1:12:01", "F:AB:CD"]))
        self.assertEqual(made["documentSelfLink"], TREES + "/0")
        self.assertEqual(self.grow("c-1", "1", bearer).document["hwRoot"], "00:00:00:01:12:01")
        full = self.grow("c-1", "1", bearer)
        self.assertEqual((full.status, full.document["message"][:3]), (507, "01:"))
        self.assertEqual(self.ask("GET", JOBS + "/c-1").document["jobSteps"],
                         {"/fA/fB": [0], "1": [1]})
        for path, status in (("/0", 200), ("/0", 404), ("/1x", 404), ("/" + "9" * 20, 404),
                             ("/²", 404)):
            self.assertEqual(self.status("DELETE", TREES + path, bearer), status)

    def test_error__is_json_for_both_clients(self):
        self.assertEqual(self.status("GET", "/fabric/collectives/jobsters"), 404)
        self.assertEqual(self.status("GET", "/", None), 404)
        shown = self.ask("GET", JOBS + "/none").document
        self.assertEqual(shown, {"message": "no such job none", "detail": "no such job none",
                                 "statusCode": 404, "errorCode": 0,
                                 "documentKind": "com:vmware:xenon:common:ServiceErrorResponse"})
        refused = self.ask("PUT", JOBS)
        self.assertEqual((refused.status, refused.headers), (405, [("Allow", "GET, POST")]))
        self.assertEqual(self.status("DELETE", JOBS + "/"), 405)
        self.assertEqual(self.status("POST", "/fabric/switches"), 405)

    def test_body__that_is_wrong_is_400(self):
        jobs = (b"", b"{", b"[]", b"{}", b'{"jobID":7,"mcastLimit":1}', b'{"jobID":"c-1"}',
                b'{"jobID":"c-1","mcastLimit":"1"}', b'{"jobID":"c-1","mcastLimit":true}',
                b'{"jobID":"c-1","mcastLimit":0}', b'{"jobID":"c-1","mcastLimit":99999999999}',
                b'{"jobID":"c\\u0000x","mcastLimit":1}', b'{"jobID":"\\ud800","mcastLimit":1}',
                b'{"jobID":"\xff","mcastLimit":1}', b'{"jobID":"c-1","mcastLimit":NaN}',
                b"[" * 100000)
        trees = (b'"macs":[]', b'"macs":"1:12:00"', b'"macs":["1:12"]', b'"macs":[7]',
                 b'"macs":["1:12:00","1:12:00"]', b'"macs":["1:12:00"],"jobStepID":0',
                 b'"macs":["1:12:00"],"vni":65536', b'"macs":["1:12:00"],"timeout":-1')
        for body in jobs:
            self.assertEqual(self.status("POST", JOBS, LOGIN, body), 400, body[:40])
        bearer = self.reserve("c-1", 2)
        for fields in trees:
            body = b'{"jobID":"c-1","jobStepID":"0",%s}' % fields
            self.assertEqual(self.status("POST", TREES, bearer, body), 400, body)
        for body in (b'{"jobSteps":{"0":[]}}', b"{}"):
            self.assertEqual(self.status("PATCH", JOBS + "/c-1", LOGIN, body), 400)
        self.assertEqual(self.fabric.objects.trees, {})

    def test_list__comes_in_pages(self):
        self.assertEqual(self.ask("GET", TREES).document["documentLinks"], [])
        links = []
        for i in range(10):
            self.reserve("c-%d" % i, 1)
            links.append("%s/c-%d" % (JOBS, i))
        whole = self.ask("GET", JOBS + "/").document
        self.assertEqual((whole["documentLinks"], whole["documentCount"]), (links, 10))
        self.assertNotIn("nextPageLink", whole)
        for size, pages in ((4, 3), (5, 2), (10, 1)):
            seen, after = [], 0
            for page in range(pages):
                shown = self.ask("GET", JOBS, page_size=size, after=after).document
                seen += shown["documentLinks"]
                self.assertEqual("nextPageLink" in shown, page < pages - 1)
                after = int(shown.get("nextPageLink", "=0").rpartition("=")[2])
            self.assertEqual(seen, links)

    def test_query__number_is_read_or_none(self):
        for query, number in (("pageSize=4&after=2", 4), ("after=2", 0), ("pageSize=", 0),
                              ("pageSize=-1", 0), ("pageSize=²", 0), ("pageSize=4x", 0),
                              ("xpageSize=4", 0), ("pageSize=" + "9" * 5000, 0)):
            self.assertEqual(query_number(query, "pageSize"), number)

    def test_path__may_have_the_gateways_prefix(self):
        self.assertEqual(self.status("GET", "/apis/fabric-manager" + JOBS), 200)
        self.assertEqual(self.status("GET", "/apis/other" + JOBS), 404)

    def test_body__is_never_a_multiple_of_4096(self):
        """libfabric writes one byte behind its buffer when a body has such a length."""
        lengths = {len(Answer(200, {"f": "x" * length}).body()) for length in range(4080, 8192)}
        self.assertTrue({4095, 4097, 8191, 8193} <= lengths)
        self.assertFalse({4096, 8192} & lengths)

    def test_session_token__is_repeated_by_the_seed_only(self):
        self.assertEqual(session_token(7, 1), session_token(7, 1))
        made = [session_token(7, 1), session_token(7, 2), session_token(8, 1),
                session_token(None, 1), session_token(None, 1)]
        self.assertEqual(len(set(made)), 5)
        self.assertEqual({len(token) for token in made}, {37})


class Commands(FabricCase):
    def test_fabric__forgets_some_or_all_also_while_reads_lag(self):
        for job_id in ("c-1", "c-2", "c-3"):
            bearer = self.reserve(job_id, 2)
        self.grow("c-3", "0", bearer)
        self.fabric.replica = Replica(self.fabric.objects)
        some = self.command("/mock/forget", b'{"jobs":["c-1","unknown",7]}')
        self.assertEqual(some.document, {"forgotten": 1})
        for misspelt in (b'{"job":[]}', b"[]", b'{"jobs":7}'):
            self.assertEqual(self.command("/mock/forget", misspelt).status, 400)
        self.assertEqual(list(self.fabric.objects.jobs), ["c-2", "c-3"])
        self.assertEqual(self.command("/mock/forget").document, {"forgotten": 2})
        self.assertEqual((self.fabric.objects.jobs, self.fabric.objects.trees), ({}, {}))
        self.assertEqual(self.fabric.replica.objects((0, 0), NOW).jobs, {})
        self.assertEqual(len(self.fabric.replica.objects((0, 3), NOW).jobs), 3)

    def test_job__is_put_by_another_client(self):
        self.reserve("c-1", 2)
        put = b'{"jobs":[{"jobID":"c-1","mcastLimit":3,"sessionToken":"sess-x"}]}'
        self.assertEqual(self.command("/mock/put", put).document, {"put": 1})
        job = self.fabric.objects.jobs["c-1"]
        self.assertEqual((job.limit, job.token), (3, "sess-x"))
        for wrong in (b"{}", b'{"jobs":[7]}', b'{"jobs":[{"jobID":"c-2"}]}',
                      b'{"jobs":[{"jobID":"c-2","mcastLimit":1,"sessionToken":""}]}'):
            self.assertEqual(self.command("/mock/put", wrong).status, 400)
        self.assertEqual(list(self.fabric.objects.jobs), ["c-1"])

    def test_partitions__come_and_go(self):
        others = b'{"partitions":{"beta":["2000-2999"],"alpha":["7"]}}'
        inventory = self.fabric.inventory
        self.assertEqual(self.command("/mock/partitions", others).document, {"partitions": 2})
        self.assertEqual([name for _, name in inventory.partition_members(0)],
                         ["default", "alpha", "beta"])
        self.assertEqual(inventory.partition("beta")["vniRanges"], ["2000-2999"])
        for wrong in (b"{}", b'{"partitions":{"default":[]}}', b'{"partitions":{"x":7}}',
                      b'{"partitions":{"x/y":[]}}'):
            self.assertEqual(self.command("/mock/partitions", wrong).status, 400)
        self.assertEqual(self.command("/mock/partitions", b'{"partitions":{}}').status, 200)
        self.assertIsNone(inventory.partition("beta"))

    def test_backup__puts_back_what_was_also_after_a_restart(self):
        path = os.path.join(self.folder, "state")
        self.begin("basic", journal=Journal(path, Objects(100, False)))
        first = self.reserve("c-1", 4)
        self.grow("c-1", "0", first)
        self.reserve("c-2", 4)
        before = self.fabric.objects.changes()
        self.assertEqual(self.command("/mock/restore").status, 404)
        self.assertEqual(self.command("/mock/snapshot").document, {"jobs": 2})
        # c-1 goes and comes again with another token; c-3 is new.
        self.assertEqual(self.status("DELETE", JOBS + "/c-1"), 200)
        self.reserve("c-1", 4)
        self.grow("c-3", "1", self.reserve("c-3", 4))
        for _ in range(2):  # it can be used again
            self.assertEqual(self.command("/mock/restore").document, {"jobs": 2})
            self.assertEqual(self.fabric.objects.changes(), before)
            self.reserve("c-4", 4)
        self.command("/mock/restore")
        os.close(self.fabric.journal.fd)
        self.assertEqual(Journal(path, Objects(100, False)).objects.changes(), before)

    def test_state__shows_no_token(self):
        self.grow("c-1", "0", self.reserve("c-1", 2))
        shown = self.command("/mock/state", method="GET").body()
        for words in (b"c-1", b"00:00:00:01:12:00"):
            self.assertIn(words, shown)
        self.assertNotIn(b"sess-", shown)
        self.assertEqual(self.command("/mock/nothing", method="GET").status, 404)


class Log(Case):
    def test_entry__tells_what_became_of_it(self):
        log = RequestLog()
        entries = [log.begin(1, Request(method, path, now_us=5), session) for method, path, session
                   in (("GET", "/a\x01é", False), ("POST", "/b", True), ("PUT", "/c", False))]
        finish_entry(entries[1], None)
        finish_entry(entries[0], 200)
        shown = log.document(0)
        self.assertEqual(shown["requests"], 3)
        self.assertEqual(shown["entries"], [
            {"number": 1, "timeMicros": 5, "connection": 1, "method": "GET", "path": "/a???",
             "status": 200},
            {"number": 2, "timeMicros": 5, "connection": 1, "method": "POST", "path": "/b",
             "outcome": "dropped", "session": True},
            {"number": 3, "timeMicros": 5, "connection": 1, "method": "PUT", "path": "/c",
             "outcome": "pending"}])

    def test_log__keeps_the_last_ones(self):
        log, count = RequestLog(), LOG_ENTRIES + 5
        for _ in range(count):
            finish_entry(log.begin(1, Request("GET", "/"), False), 200)
        numbers = [entry["number"] for entry in log.document(0)["entries"]]
        self.assertEqual((log.requests, numbers[0], len(numbers)), (count, 6, LOG_ENTRIES))
        for since, shown in ((count - 2, 2), (count + 100, 0)):
            self.assertEqual(len(log.document(since)["entries"]), shown)


if __name__ == "__main__":
    unittest.main()
