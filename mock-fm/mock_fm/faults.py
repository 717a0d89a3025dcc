# SPDX-License-Identifier: Apache-2.0
"""The rules of misbehaviour in force: which requests each is for, how often, and what goes wrong
then (docs/mock-fm.md has the fields). The first rule that fires decides.

What goes wrong with a request is the JSON of the rule that fired: checked when it was added, and
never changed. {}: nothing."""

import re
from fnmatch import fnmatchcase

from mock_fm.message import Answer, Problem, error_answer, is_integer, render_json

RULES_MAX = 1000
HOUR_MS = 3600000
MANY = 1000000000
FILL_MAX = 67108864  # more than any client should take
GARBAGE = b'<html>\xff\xfe{"documentLinks": ["/fabric'
HEADER_NAME = re.compile("[a-zA-Z0-9!#$%&'*+.^_`|~-]+")  # a token (RFC 9110, 5.6.2)


def are_headers(value):
    """None of those that describe how the body is sent."""
    return isinstance(value, dict) and all(
        HEADER_NAME.fullmatch(name) and isinstance(text, str) and not re.search("[\r\n]", text) and
        name.lower() not in ("content-length", "transfer-encoding")
        for name, text in value.items())


def number(least, most):
    return (lambda value: is_integer(value) and least <= value <= most,
            "a number from %d to %d" % (least, most))


FLAG = (lambda value: isinstance(value, bool), "true or false")
TEXT = (lambda value: isinstance(value, str) and value, "a string that is not empty")

# Of each field: which values it may have, and that in words.
FIELDS = {
    "method": TEXT,
    "path": TEXT,
    "session": FLAG,
    "skip": number(0, MANY),
    "every": number(1, HOUR_MS),
    "count": number(0, MANY),
    "for_ms": number(1, HOUR_MS),
    "probability": (lambda value: type(value) in (int, float) and 0 <= value <= 1, "from 0 to 1"),
    "status": number(200, 599),
    "act": FLAG,
    "body": (lambda value: True, "anything"),
    "delay_ms": number(0, HOUR_MS),
    "act_after_ms": number(0, HOUR_MS),
    "drop": (lambda value: value in ("before", "after"), '"before" or "after"'),
    "merge": (lambda value: isinstance(value, dict), "an object"),
    "headers": (are_headers, "an object of header names and strings, without Content-Length and "
                             "Transfer-Encoding"),
    "byte_every_ms": number(1, HOUR_MS),
    "fill_to": number(0, FILL_MAX),
    "chunked": FLAG,
    "truncate": FLAG,
    "garbage": FLAG,
    "length_4096": FLAG,
    "no_document_links": FLAG,
    "no_session_token": FLAG,
    "no_hw_root": FLAG,
    "short_hw_root": FLAG,
    "patch_no_body": FLAG,
    "session_token": TEXT,
    "stale_ms": number(1, HOUR_MS),
    "stale_writes": number(1, HOUR_MS),
    "page_size": number(1, MANY),
    "half_list": FLAG,
    "shifting_list": FLAG,
}


def check_fault(fault):
    if not isinstance(fault, dict):
        raise Problem(400, "a fault must be a JSON object")
    for name, value in fault.items():
        if name not in FIELDS:
            raise Problem(400, "a fault has no field '%.64s'; see docs/mock-fm.md" % name)
        is_allowed, allowed = FIELDS[name]
        if not is_allowed(value):
            raise Problem(400, "%s of a fault must be %s" % (name, allowed))


class Rule:
    def __init__(self, fault):
        self.fault = fault
        self.matched = self.fired = 0
        self.first_us = 0  # when it fired first

    def is_for(self, request, session):
        fault = self.fault
        return fault.get("method", request.method) == request.method and \
            fault.get("session", session) == session and \
            ("path" not in fault or fnmatchcase(request.path, fault["path"]))

    def fires(self, request, session, dice):
        fault = self.fault
        if not self.is_for(request, session):
            return False
        self.matched += 1
        turn = self.matched - fault.get("skip", 0)
        if turn <= 0 or turn % fault.get("every", 1) or self.fired >= fault.get("count", MANY + 1):
            return False
        if self.fired and "for_ms" in fault and \
                request.now_us - self.first_us >= fault["for_ms"] * 1000:
            return False
        if "probability" in fault and dice.fraction() >= fault["probability"]:
            return False
        if not self.fired:
            self.first_us = request.now_us
        self.fired += 1
        return True


class Faults:
    def __init__(self, dice):
        self.rules = []
        self.dice = dice

    def add(self, faults):
        """One rule or several (an array of them), all or none."""
        faults = faults if isinstance(faults, list) else [faults]
        if len(self.rules) + len(faults) > RULES_MAX:
            raise Problem(400, "%d rules are the limit, and there are %d already" %
                          (RULES_MAX, len(self.rules)))
        for fault in faults:
            check_fault(fault)
        self.rules += map(Rule, faults)

    def pick(self, request, session):
        """What goes wrong with this request, which shows a session token or not. Counts it; may
        advance the dice."""
        for rule in self.rules:
            if rule.fires(request, session, self.dice):
                return rule.fault
        return {}

    def may_lag(self):
        return any("stale_ms" in rule.fault or "stale_writes" in rule.fault for rule in self.rules)

    def document(self):
        return {"faults": [{**rule.fault, "matched": rule.matched, "fired": rule.fired}
                           for rule in self.rules]}


def bend_request(fault, request):
    request.page_size = fault.get("page_size", request.page_size)
    request.half = fault.get("half_list", False)
    request.shifting = fault.get("shifting_list", False)
    request.session_token = fault.get("session_token")
    request.lag = (fault.get("stale_ms", 0), fault.get("stale_writes", 0))


def lets_act(fault):
    return fault.get("drop") != "before" and ("status" not in fault or fault.get("act", False))


def bend_document(fault, document):
    for flag, field in (("no_document_links", "documentLinks"), ("no_hw_root", "hwRoot"),
                        ("no_session_token", "sessionToken")):
        if fault.get(flag):
            document.pop(field, None)
    if fault.get("short_hw_root") and "hwRoot" in document:
        document["hwRoot"] = document["hwRoot"][9:]  # without the three groups that are zero
    for name, value in fault.get("merge", {}).items():
        document[name] = value
        if value is None:
            del document[name]


def bend_answer(fault, method, answer):
    """The answer instead of, or made of, the one that acting gave."""
    status = fault.get("status", 0)
    if status >= 400:
        answer = error_answer(Problem(status, "a fault rule answers %d here" % status))
    elif status:
        answer = Answer(status)
    if fault.get("patch_no_body") and method == "PATCH":
        answer.document = None
    if answer.document is not None:
        bend_document(fault, answer.document)
    return answer


def bend_body(fault, body):
    """The bytes instead of those that were rendered."""
    if "body" in fault:
        given = fault["body"]
        body = given.encode() if isinstance(given, str) else render_json(given)
    if fault.get("garbage"):
        body = GARBAGE
    if fault.get("length_4096"):
        body = body.ljust(max(-(-len(body) // 4096), 1) * 4096)
    return body.ljust(fault.get("fill_to", 0))  # blanks, so that what is JSON stays it
