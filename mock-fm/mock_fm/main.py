# SPDX-License-Identifier: Apache-2.0
"""mock-fm: plays the fabric manager of an HPE Slingshot network."""

import os
import resource
import signal
import sys

from mock_fm.fabric import Fabric
from mock_fm.faults import Faults
from mock_fm.journal import Journal
from mock_fm.login import AccessTokens, Dice, Login
from mock_fm.message import Problem
from mock_fm.objects import Objects
from mock_fm.options import HELP, Options
from mock_fm.server import Listener, Service, Tls

DESCRIPTORS = 16384  # for connections, as far as the system lets us
SIGNALS = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}


def write_port_file(path, port):
    """Whole or not at all: a reader that waits for the file never sees half a number."""
    try:
        with open(path + ".new", "w", encoding="ascii") as file:
            file.write("%d\n" % port)
        os.rename(path + ".new", path)
    except OSError as error:
        raise Problem(500, "cannot write %s: %s" % (path, error.strerror)) from None


def announce(listener, what, port_file):
    print("mock-fm: %s://%s" % (what, listener.shown), flush=True)
    # Last: what waits for the file may read what was printed.
    if port_file:
        write_port_file(port_file, listener.port)


def raise_limit():
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if most == resource.RLIM_INFINITY else min(DESCRIPTORS, most)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


class Program:
    def __init__(self, options):
        self.options = options
        self.tokens = AccessTokens(int(options.token_lifetime * 1e6)) \
            if options.auth == "oauth" else None
        login = self.read_login()
        self.tls = Tls(options) if options.tls_cert else None
        objects = Objects(options.addresses, options.overcommit)
        journal = Journal(options.state, objects) if options.state else None
        self.fabric = Fabric(objects, journal, login, options)
        seed = int.from_bytes(os.urandom(8), "big") if options.seed is None else options.seed
        self.service = Service(self.fabric, Faults(Dice(seed)), options.latency, self.reload)

    def read_login(self):
        return Login(self.options.auth, self.options.authdir, self.tokens)

    def reload(self):
        """All or nothing: a certificate that cannot be used leaves the password as it was, too."""
        login = self.read_login()
        if self.tls:
            self.tls.read()
        self.fabric.login = login

    def serve(self):
        options = self.options
        # Blocked in all threads; taken by this one.
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        raise_limit()
        listener = Listener(self.service, options.listen, self.tls, for_jobs=False)
        # The main address last: a program that waits for its port finds both open.
        if options.jobs_listen:
            for_jobs = Listener(self.service, options.jobs_listen, self.tls, for_jobs=True)
            for_jobs.start()
            announce(for_jobs, "listening for jobs on https", options.jobs_port_file)
        listener.start()
        announce(listener, "listening on https" if self.tls else "listening on http",
                 options.port_file)
        while signal.sigwait(SIGNALS) == signal.SIGHUP:
            try:
                with self.service.lock:
                    self.reload()
                print("mock-fm: reloaded", file=sys.stderr, flush=True)
            except Problem as problem:
                print("mock-fm: not reloaded: %s" % problem.text, file=sys.stderr, flush=True)


def main(version):
    try:
        options = Options(sys.argv[1:])
    except Problem as problem:
        print("mock-fm: %s" % problem.text, file=sys.stderr)
        return 2
    if options.help or options.version:
        print(HELP if options.help else "mock-fm %s\n" % version, end="")
        return 0
    try:
        Program(options).serve()
    except Problem as problem:
        print("mock-fm: %s" % problem.text, file=sys.stderr)
        return 1
    os._exit(0)  # requests that are still delayed stay unanswered
