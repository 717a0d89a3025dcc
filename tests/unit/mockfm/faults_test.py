# SPDX-License-Identifier: Apache-2.0
"""The mock fabric manager's rules of misbehaviour: which requests they hit, and what they do."""

import json
import unittest

from case import Case

from mock_fm import faults
from mock_fm.login import Dice
from mock_fm.message import Answer, Request


def with_rules(*rules):
    made = faults.Faults(Dice(42))
    made.add(list(rules))
    return made


def status_of(rules, method="GET", path="/", session=False, now_us=0):
    """The status that the rule which fires answers with, 0 when none does."""
    return rules.pick(Request(method, path, now_us=now_us), session).get("status", 0)


def sample():
    return Answer(200, {"documentLinks": ["/x"], "hwRoot": "00:00:00:01:12:00",
                        "sessionToken": "sess-1"})


class Rules(Case):
    def test_rule__hits_method_and_path(self):
        rules = with_rules({"method": "POST", "path": "*/jobs", "status": 500},
                           {"path": "/fabric/*/c-?", "status": 503})
        jobs = "/fabric/collectives/jobs"
        self.assertEqual([status_of(rules, "POST", jobs), status_of(rules, "GET", jobs),
                          status_of(rules, "GET", jobs + "/c-1"),
                          status_of(rules, "GET", jobs + "/c-11")], [500, 0, 503, 0])

    def test_rule__tells_session_tokens_from_logins(self):
        """So that one can be refused and not the other, as where only one is a login."""
        rules = with_rules({"method": "PATCH", "session": True, "status": 401},
                           {"method": "PATCH", "session": False, "status": 500}, {"status": 503})
        for session in (False, True):
            self.assertEqual(status_of(rules, "PATCH", session=session), 401 if session else 500)
            self.assertEqual(status_of(rules, "GET", session=session), 503)

    def test_rule__skips_and_counts(self):
        rules = with_rules({"skip": 2, "count": 3, "status": 500})
        self.assertEqual([status_of(rules) for _ in range(7)], [0, 0, 500, 500, 500, 0, 0])
        self.assertEqual(rules.document()["faults"], [
            {"skip": 2, "count": 3, "status": 500, "matched": 7, "fired": 3}])

    def test_rule__fires_for_every_so_many(self):
        rules = with_rules({"skip": 1, "every": 3, "count": 2, "status": 500})
        self.assertEqual([status_of(rules) for _ in range(10)],
                         [0, 0, 0, 500, 0, 0, 500, 0, 0, 0])

    def test_rule__fires_for_some_time(self):
        """From its first time on, not from when it was given."""
        rules = with_rules({"for_ms": 100, "status": 500})
        self.assertEqual([status_of(rules, now_us=ms * 1000) for ms in (7000, 7099, 7100, 9000)],
                         [500, 500, 0, 0])

    def test_rule__used_up_leaves_room_for_the_next(self):
        rules = with_rules({"count": 1, "status": 500}, {"count": 1, "status": 503})
        self.assertEqual([status_of(rules) for _ in range(3)], [500, 503, 0])

    def test_request__is_bent(self):
        rules = with_rules({"session_token": "sess-1", "stale_ms": 5, "stale_writes": 7,
                            "page_size": 2})
        request = Request("GET", "/", page_size=9)
        self.assertTrue(rules.may_lag())
        faults.bend_request(rules.pick(request, False), request)
        self.assertEqual((request.session_token, request.lag, request.page_size),
                         ("sess-1", (5, 7), 2))
        self.assertFalse(with_rules({"status": 500}).may_lag())

    def test_probability__repeats_with_the_seed(self):
        runs = []
        for _ in range(2):
            rules = with_rules({"probability": 0.25, "status": 500})
            runs.append([status_of(rules) for _ in range(1000)])
        self.assertEqual(runs[0], runs[1])
        self.assertTrue(150 < runs[0].count(500) < 350)

    def test_rule__that_is_wrong_is_named_and_adds_nothing(self):
        wrong = (
            ({"stauts": 500}, "stauts"), ({"status": 99}, "status"), ({"status": "500"}, "status"),
            ({"status": True}, "status"), ({"drop": "never"}, "drop"), ({"drop": True}, "drop"),
            ({"count": -1}, "count"), ({"probability": 1.5}, "probability"),
            ({"probability": True}, "probability"), ({"every": 0}, "every"),
            ({"for_ms": 0}, "for_ms"), ({"stale_ms": 0}, "stale_ms"),
            ({"stale_writes": "2"}, "stale_writes"), ({"session_token": ""}, "session_token"),
            ({"session_token": 7}, "session_token"), ({"delay_ms": 3600001}, "delay_ms"),
            ({"garbage": 1}, "garbage"), ({"page_size": 0}, "page_size"), ({"merge": []}, "merge"),
            ({"headers": "Retry-After: 5"}, "headers"),
            ({"headers": {"Retry-After": 5}}, "headers"),
            ({"headers": {"Retry After": "5"}}, "headers"), ({"headers": {"": "5"}}, "headers"),
            ({"headers": {"A": "5\r\nB: 6"}}, "headers"),
            ({"headers": {"content-length": "5"}}, "Content-Length"),
            ({"byte_every_ms": 0}, "byte_every_ms"), ({"fill_to": 67108865}, "fill_to"),
            ({"chunked": 1}, "chunked"), ({"method": 1}, "method"), (7, "object"),
            ([{"status": 500}, {"x": 1}], "'x'"), ([{}] * 1001, "1000 rules"),
        )
        rules = faults.Faults(Dice(1))
        for rule, named in wrong:
            self.assert_refused(400, named, rules.add, rule)
            self.assertEqual(rules.rules, [])

    def test_fault__decides_whether_the_request_acts(self):
        """What acts, and what only pretends: late successes are made of this."""
        for acts in ({}, {"delay_ms": 5, "garbage": True}, {"drop": "after"},
                     {"status": 504, "act": True}):
            self.assertTrue(faults.lets_act(acts))
        for refuses in ({"status": 504}, {"drop": "before"}):
            self.assertFalse(faults.lets_act(refuses))

    def test_document__loses_what_the_fault_takes(self):
        for flag, field in (("no_hw_root", "hwRoot"), ("no_session_token", "sessionToken"),
                            ("no_document_links", "documentLinks")):
            left = faults.bend_answer({flag: True}, "POST", sample()).document
            self.assertEqual(set(sample().document) - set(left), {field})
        short = faults.bend_answer({"short_hw_root": True}, "POST", sample())
        self.assertEqual(short.document["hwRoot"], "01:12:00")
        bare = faults.bend_answer({"patch_no_body": True}, "PATCH", sample())
        self.assertEqual((bare.status, bare.document), (200, None))
        kept = faults.bend_answer({"patch_no_body": True}, "GET", sample())
        self.assertEqual(kept.document, sample().document)

    def test_merge__replaces_and_takes_away(self):
        merge = {"sessionToken": 12, "hwRoot": None, "more": [1]}
        bent = faults.bend_answer({"merge": merge}, "POST", sample())
        self.assertEqual(bent.document, {"documentLinks": ["/x"], "sessionToken": 12, "more": [1]})

    def test_status__brings_an_error_document(self):
        bent = faults.bend_answer({"status": 401}, "GET", sample())
        self.assertEqual((bent.status, bent.challenge), (401, True))
        self.assertEqual(bent.document["message"], bent.document["detail"])
        bent = faults.bend_answer({"status": 204}, "GET", sample())
        self.assertEqual((bent.status, bent.document), (204, None))

    def test_body__is_replaced_or_filled_up(self):
        def bend(**fault):
            return faults.bend_body(fault, b'{"a":1}')

        self.assertEqual(bend(fill_to=5), b'{"a":1}')
        filled = bend(fill_to=1 << 20)
        self.assertEqual((len(filled), json.loads(filled)), (1 << 20, {"a": 1}))
        self.assertEqual(bend(body="plain"), b"plain")
        self.assertEqual(bend(body={"b": "é"}), '{"b":"é"}'.encode())
        self.assertEqual(bend(length_4096=True), b'{"a":1}'.ljust(4096))
        self.assertEqual(len(bend(length_4096=True, body="")), 4096)
        self.assertRaises(ValueError, json.loads, bend(garbage=True))


if __name__ == "__main__":
    unittest.main()
