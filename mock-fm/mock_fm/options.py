# SPDX-License-Identifier: Apache-2.0
"""The command line of mock-fm."""

import re
from getopt import GetoptError, gnu_getopt

from mock_fm.inventory import Inventory
from mock_fm.message import Problem
from mock_fm.objects import MCAST_IDS

LATENCY_MAX_MS = 3600000
LIFETIME_MAX_S = 10 * 365 * 86400  # a year is seen in the field

HELP = """\
Usage: mock-fm [OPTION]...
A fabric manager of HPE Slingshot for tests and demonstrations: the part of its REST
interface that reserves multicast addresses for jobs and makes multicast trees, and the
paths on which a (synthetic) fabric can be read: switches, ports, links, partitions.

  --listen HOST:PORT   where to listen (default 127.0.0.1:8000; port 0: any free one)
  --port-file FILE     write the port number to FILE once it serves
  --tls-cert FILE      serve HTTPS with this certificate (or chain), in PEM
  --tls-key FILE       and its key
  --client-ca FILE     require client certificates of this authority
  --jobs-listen HOST:PORT
                       a second address, for jobs, without client certificates
  --jobs-port-file FILE
                       write the second address's port number to FILE, too
  --auth none|basic|oauth
                       how clients log in (default none)
  --authdir DIR        for basic: DIR/passwd holds the password of user cxi; for oauth:
                       DIR/client-id and DIR/client-secret
  --token-lifetime S   how long an access token is good for, in seconds (default 3600)
  --session-tokens own-job|get|patch|trees-only
                       what a job's session token opens besides the job's trees: GET and
                       PATCH of its own job (default), one of them, or neither
  --addresses N        multicast addresses in the pool, 1 to 8192 (default 4086)
  --overcommit         let reservations add up to more than the pool
  --fabric GxSxP       the fabric to be read: G groups of S switches of P ports, at most
                       512x32x64 (default 2x2x4)
  --state FILE         keep jobs and trees in FILE across restarts
  --latency MS         answer every request that much later (default 0)
  --seed N             the same session tokens and the same dice in every run
  --help, --version

Tests control it at the same port: GET /mock/state, GET /mock/log, POST /mock/faults,
DELETE /mock/faults, POST /mock/forget, /mock/snapshot, /mock/restore, /mock/revoke and
/mock/reload. SIGHUP also reloads: passwords, certificate, key and client CA.

Example: a fabric manager whose every second reservation comes back as 503
  mock-fm --listen 127.0.0.1:8000 --state /tmp/fm.journal &
  curl -d '{"path":"*/jobs","method":"POST","probability":0.5,"status":503}' \\
       http://127.0.0.1:8000/mock/faults
"""


def refuse(name, allowed, text):
    raise Problem(400, "%s must be %s, not '%s'" % (name, allowed, text))


def number(least, most):
    def parse(name, text):
        # int would take a sign, blanks and underscores.
        if not re.fullmatch("[0-9]{1,20}", text) or not least <= int(text) <= most:
            refuse(name, "a number from %d to %d" % (least, most), text)
        return int(text)
    return parse


def choice(*words):
    def parse(name, text):
        if text not in words:
            refuse(name, "%s or %s" % (", ".join(words[:-1]), words[-1]), text)
        return text
    return parse


def any_text(name, text):
    return text


def listen(name, text):
    """HOST:PORT, or [ADDRESS]:PORT for IPv6."""
    host, colon, port = text.rpartition(":")
    if len(host) > 2 and host[0] == "[" and host[-1] == "]":
        host = host[1:-1]
    if not colon or not 0 < len(host) < 256:
        raise Problem(400, "%s must be HOST:PORT, as 127.0.0.1:8000" % name)
    return host, number(0, 65535)("the port of " + name, port)


def lifetime(name, text):
    if not re.fullmatch(r"[0-9]*\.?[0-9]*", text) or text in ("", ".") or \
            not 0.001 <= float(text) <= LIFETIME_MAX_S:
        refuse(name, "seconds from 0.001 to %d" % LIFETIME_MAX_S, text)
    return float(text)


# Of each option: its default, and what reads it. None: a flag.
OPTIONS = {
    "listen": (("127.0.0.1", 8000), listen),
    "port-file": (None, any_text),
    "jobs-listen": (None, listen),
    "jobs-port-file": (None, any_text),
    "auth": ("none", choice("none", "basic", "oauth")),
    "authdir": (None, any_text),
    "token-lifetime": (None, lifetime),
    "session-tokens": ("own-job", choice("own-job", "get", "patch", "trees-only")),
    "tls-cert": (None, any_text),
    "tls-key": (None, any_text),
    "client-ca": (None, any_text),
    "addresses": (4086, number(1, MCAST_IDS)),  # what El Capitan has
    "overcommit": (False, None),
    "fabric": (None, lambda name, text: Inventory(text)),
    "state": (None, any_text),
    "latency": (0, number(0, LATENCY_MAX_MS)),
    "seed": (None, number(0, 2**64 - 1)),
    "help": (False, None),
    "version": (False, None),
}


class Options:
    """An attribute for each option, with _ for -."""

    def __init__(self, arguments):
        try:
            given, rest = gnu_getopt(arguments, "", [name + ("=" if parse else "")
                                                     for name, (_, parse) in OPTIONS.items()])
        except GetoptError as error:
            raise Problem(400, "--%s: %s; see --help" % (error.opt, error.msg)) from None
        if rest:
            raise Problem(400, "mock-fm takes only options, not '%s'; see --help" % rest[0])
        for name, (default, _) in OPTIONS.items():
            setattr(self, name.replace("-", "_"), default)
        for name, text in given:
            parse = OPTIONS[name[2:]][1]
            setattr(self, name[2:].replace("-", "_"), parse(name, text) if parse else True)
        self.fabric = self.fabric or Inventory("2x2x4")
        self.check_combination()
        self.token_lifetime = self.token_lifetime or 3600

    def check_combination(self):
        """What only makes sense together."""
        rules = (
            (self.auth == "basic" and not self.authdir,
             "--auth basic needs --authdir DIR, whose file passwd holds the password"),
            (self.auth == "oauth" and not self.authdir,
             "--auth oauth needs --authdir DIR, with the files client-id and client-secret"),
            (self.auth == "none" and self.authdir,
             "--authdir goes with --auth basic or --auth oauth"),
            (self.auth != "oauth" and self.token_lifetime,
             "--token-lifetime goes with --auth oauth"),
            (bool(self.tls_cert) != bool(self.tls_key), "--tls-cert and --tls-key go together"),
            (self.client_ca and not self.tls_cert,
             "--client-ca goes with --tls-cert and --tls-key"),
            (self.jobs_listen and not self.client_ca,
             "--jobs-listen goes with --client-ca; without it, --listen is for all"),
            (self.jobs_port_file and not self.jobs_listen,
             "--jobs-port-file goes with --jobs-listen"),
        )
        for wrong, text in rules:
            if wrong:
                raise Problem(400, text)
