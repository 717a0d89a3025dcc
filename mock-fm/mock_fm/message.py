# SPDX-License-Identifier: Apache-2.0
"""One request as the HTTP server read it, and what is answered to it."""

import json

# What a real fabric manager calls its kinds is not known; only the one for errors is Xenon's own.
KIND_LIST = "com:vmware:xenon:common:ServiceDocumentQueryResult"
KIND_ERROR = "com:vmware:xenon:common:ServiceErrorResponse"


class Problem(Exception):
    """Why a request is refused, or a file cannot be used (500). Never has a token or a password."""

    def __init__(self, status, text, allow=None):
        super().__init__(text)
        self.status = status
        self.text = text
        self.allow = allow  # the methods to name in a 405


class Request:
    __slots__ = ("method", "path", "authorization", "body", "page_size", "after", "now_us",
                 "session_token", "lag", "expand", "half", "shifting")

    def __init__(self, method, path, authorization=None, body=b"", page_size=0, after=0, now_us=0):
        self.method = method
        self.path = path  # percent-decoded, without the query
        self.authorization = authorization  # the header's value, or None
        self.body = body
        self.page_size = page_size  # of lists; 0: no pages
        self.after = after  # where the page of a list begins
        self.now_us = now_us  # since 1970
        self.session_token = None  # what a new job gets; None: one of its own
        self.expand = False  # a list has the documents of its members, too
        self.half = False  # a list has only the first half of its members
        self.shifting = False  # a list changes between two of its pages
        self.lag = (0, 0)  # a read knows nothing of the last milliseconds, of the last changes

    def json(self):
        return parse_json(self.body)

    def json_object(self):
        body = self.json()
        if not isinstance(body, dict):
            raise Problem(400, "the body must be a JSON object")
        return body


class Answer:
    __slots__ = ("status", "document", "headers", "challenge")

    def __init__(self, status, document=None, headers=(), challenge=False):
        self.status = status
        self.document = document  # None: no body
        self.headers = headers  # pairs of name and value
        self.challenge = challenge  # ask for a login (WWW-Authenticate)

    def body(self):
        """Never as long as a multiple of 4096: libfabric writes one byte behind its buffer then."""
        body = b"" if self.document is None else render_json(self.document)
        return body + b"\n" if body and len(body) % 4096 == 0 else body


def refuse_constant(name):
    raise ValueError(name + " is no number")


def parse_json(text):
    """Of bytes; what is no JSON, or no UTF-8, or has NULs or half a surrogate pair, is a 400."""
    try:
        value = json.loads(text.decode(), parse_constant=refuse_constant)
        if b"\\u" in text and "\\u0000" in json.dumps(value):
            raise ValueError("\\u0000 is not allowed")
        render_json(value)
        return value
    except (ValueError, RecursionError) as error:
        raise Problem(400, "the body is not JSON: %s" % error) from None


def render_json(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def is_integer(value):
    return type(value) is int  # True is an int, too


def error_answer(problem):
    """The sentence is `message`, where libfabric looks for it, and `detail`, where Slurm does."""
    return Answer(problem.status, {"message": problem.text, "detail": problem.text,
                                   "statusCode": problem.status, "documentKind": KIND_ERROR,
                                   "errorCode": 0},
                  [("Allow", problem.allow)] if problem.allow else [], problem.status == 401)


def with_tail(document, kind, version=0, updated_us=0):
    document.update(documentVersion=version, documentEpoch=0, documentKind=kind,
                    documentUpdateTimeMicros=updated_us, documentOwner="mock-fm")
    return document


def list_page(request, base, members, version=0, updated_us=0):
    """A list, or the page of it that is asked for: members are pairs of a key that grows and a
    name, those after request.after."""
    links, size, last = [], request.page_size, None
    for key, name in members:
        if size and len(links) >= size:
            break
        links.append("%s/%s" % (base, name))
        last = key
    else:
        last = None
    document = {"documentLinks": links, "documentCount": len(links), "documentSelfLink": base}
    if last is not None:
        document["nextPageLink"] = "%s?pageSize=%d&after=%d%s" % (
            base, size, last, "&expand" if request.expand else "")
    return with_tail(document, KIND_LIST, version, updated_us)


def below(path, base):
    """What follows base in the path, "" for base itself; None: something else."""
    if path == base:
        return ""
    return path[len(base) + 1:] if path.startswith(base + "/") else None
