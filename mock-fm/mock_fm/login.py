# SPDX-License-Identifier: Apache-2.0
"""The login of the fabric manager (who may see and change jobs), and the tokens it gives.

Basic authentication with user `cxi` and the password of `<authdir>/passwd`; or OAuth 2.0, whose
client id and secret are the one line of `<authdir>/client-id` and `client-secret`: where Slurm's
plugin keeps them too. Or none at all."""

import os
import re
from binascii import b2a_base64

from mock_fm.message import Answer, Problem, error_answer

USER = "cxi"
SESSION_PREFIX = "sess-"
MASK = (1 << 64) - 1
TOKEN_PATH = re.compile("/oauth/token|(/auth)?/realms/[^/]+/protocol/openid-connect/token")

# What is said to those who are not logged in: without a login, with a wrong one, and the challenge.
WORDS = {
    "none": ("log in", "wrong login", 'Bearer realm="fabric manager"'),
    "basic": ("log in: this path needs the credentials of user " + USER, "wrong user or password",
              'Basic realm="fabric manager"'),
    "oauth": ("log in: this path needs an access token as bearer token",
              "this access token is unknown, expired or revoked; get a new one",
              'Bearer realm="fabric manager", error="invalid_token"'),
}


class Dice:
    """Reproducible random numbers of 64 bits (splitmix64)."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        mixed = self.state
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & MASK
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & MASK
        return mixed ^ mixed >> 31

    def fraction(self):
        return (self.next() >> 11) * 2.0**-53  # in [0, 1)


def session_token(seed, serial):
    """Of the reservation with this serial number. With a seed from these two only: a restart
    repeats no token and need not count the dice."""
    if seed is None:
        return SESSION_PREFIX + os.urandom(16).hex()
    dice = Dice((Dice(seed).next() + serial) & MASK)
    return SESSION_PREFIX + "%016x%016x" % (dice.next(), dice.next())


class AccessTokens:
    """As long as the signed ones of real servers. In memory only, so a restart voids them all."""

    KEPT = 1024  # one more, and the oldest is void

    def __init__(self, lifetime_us):
        self.lifetime_us = lifetime_us
        self.issued = 0
        self.expiry = {}  # by token, in the order of issue

    def issue(self, now_us):
        digits = os.urandom(511).hex()
        token = "%s.%s.%s" % (digits[:40], digits[40:940], digits[940:])
        if len(self.expiry) >= self.KEPT:
            del self.expiry[next(iter(self.expiry))]
        self.expiry[token] = now_us + self.lifetime_us
        self.issued += 1
        return token

    def opens(self, token, now_us):
        return self.expiry.get(token, 0) > now_us

    def live(self, now_us):
        return sum(expires_us > now_us for expires_us in self.expiry.values())


def after_scheme(header, scheme):
    """What follows the scheme in the header; None for another scheme."""
    if header and header[:len(scheme) + 1].lower() == scheme + " ":
        return header[len(scheme):].lstrip(" ")
    return None


def bearer_of(header):
    return after_scheme(header, "bearer")


def shows_session(header):
    """Whether it shows what looks like a job's session token. An access token never does."""
    return (bearer_of(header) or "").startswith(SESSION_PREFIX)


def read_line(authdir, name):
    path = os.path.join(authdir, name)
    try:
        with open(path, encoding="utf-8") as file:
            line = file.readline().rstrip("\r\n")
    except (OSError, ValueError) as error:
        raise Problem(500, "cannot read %s: %s" %
                      (path, getattr(error, "strerror", "it is not UTF-8"))) from None
    if not line:
        raise Problem(500, "%s is empty; it must hold one line" % path)
    return line


class Login:
    """`tokens` (None unless OAuth) outlive it: it can be read anew with the same ones."""

    def __init__(self, mode, authdir, tokens):
        self.mode = mode
        self.tokens = tokens
        self.missing, self.wrong, self.challenge = WORDS[mode]
        if mode == "basic":
            pair = "%s:%s" % (USER, read_line(authdir, "passwd"))
            self.credentials = b2a_base64(pair.encode(), newline=False).decode()
        elif mode == "oauth":
            self.client = (read_line(authdir, "client-id"), read_line(authdir, "client-secret"))

    def judge(self, header, now_us):
        """"admitted" (or no login is needed); "bearer": shows a bearer token that is no login,
        perhaps a job's session token; "missing"; "wrong". A session token is never judged here,
        also where no login is needed. With OAuth, any other bearer token is an access token."""
        bearer = bearer_of(header)
        if bearer is not None and (self.mode != "oauth" or bearer.startswith(SESSION_PREFIX)):
            return "bearer"
        if self.mode == "none":
            return "admitted"
        if header is None:
            return "missing"
        if self.mode == "basic":
            right = after_scheme(header, "basic") == self.credentials
        else:
            right = bearer is not None and self.tokens.opens(bearer, now_us)
        return "admitted" if right else "wrong"


def decode_form_text(text):
    text = text.replace(b"+", b" ")
    if re.search(rb"%(?![0-9A-Fa-f]{2})", text):
        raise ValueError("escape")
    text = unquote(text)
    if b"\0" in text:
        raise ValueError("NUL")
    return text.decode()


def unquote(text):
    """Of bytes, to bytes."""
    return re.sub(rb"%([0-9A-Fa-f]{2})", lambda match: bytes([int(match[1], 16)]), text)


def parse_form(body):
    """ValueError: a bad escape, a NUL, no UTF-8, or a field that is there twice."""
    form = {}
    for field in filter(None, body.split(b"&")):
        name, _, value = field.partition(b"=")
        name = decode_form_text(name)
        if name in form:
            raise ValueError("twice")
        form[name] = decode_form_text(value)
    return form


def answer_form(login, body, now_us):
    def error(status, word, why):
        return status, {"error": word, "error_description": why}

    try:
        form = parse_form(body)
    except ValueError:
        return error(400, "invalid_request", "the body must be a form "
                     "(application/x-www-form-urlencoded), each field once")
    # A field that is empty is as good as none (RFC 6749, 3.2).
    if not form.get("grant_type"):
        return error(400, "invalid_request", "grant_type is missing")
    if form["grant_type"] != "client_credentials":
        return error(400, "unsupported_grant_type", "grant_type must be client_credentials")
    client = (form.get("client_id"), form.get("client_secret"))
    if not all(client):
        return error(401, "invalid_client", "client_id and client_secret must both be sent")
    if client != login.client:
        return error(401, "invalid_client", "unknown client_id or wrong client_secret")
    # Rounded down, so that a client may trust it; but a client may take 0 for "never".
    seconds = max(login.tokens.lifetime_us // 1000000, 1)
    return 200, {"access_token": login.tokens.issue(now_us), "expires_in": seconds,
                 "token_type": "Bearer", "not-before-policy": 0,
                 "scope": form.get("scope") or "openid"}


def oauth_owns(path):
    return TOKEN_PATH.fullmatch(path) is not None


def oauth_answer(login, request):
    if not login.tokens:
        return error_answer(Problem(404, "there is a token endpoint only with --auth oauth"))
    if request.method != "POST":
        return error_answer(Problem(405, "%.20s is not possible here; try POST" % request.method,
                                    "POST"))
    status, document = answer_form(login, request.body, request.now_us)
    return Answer(status, document, [("Cache-Control", "no-store")])  # RFC 6749, 5.1
