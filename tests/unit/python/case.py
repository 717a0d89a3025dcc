# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Python module share: NAME_test.py BUILD SOURCE COMPILER. A mock-fm and a
mcastd in a folder of their own, which jobs of two nodes ask for multicast addresses."""
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

BUILD, SOURCE, COMPILER = sys.argv[1:4]
sys.path.insert(0, os.path.join(BUILD, "lib/python"))

import mcast  # noqa: E402 (the path comes first)

CONFIGURATION = """
[broker]
socket = {folder}/s
sync_grace = 1s
[state]
path = {folder}/state.db
key_file = {folder}/state.key
[fm]
url = {url}
auth = basic
authdir = {folder}
link_retry = 50ms
relist = 1s
[inventory]
source = off
[hwcoll]
min_nodes = 2
addresses_per_job = 23
[vni]
hold = 1s
[cluster "elcap"]
users = {user}
"""


def wait_until(what, condition):
    deadline = time.monotonic() + 120
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("not within two minutes: " + what)
        time.sleep(0.02)


class Case(unittest.TestCase):
    """`url` is the broker's, `broker` one to ask."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="mcast-py.", dir=os.environ.get("TMPDIR", "/var/tmp"))
        self.addCleanup(shutil.rmtree, self.folder)
        for name in [name for name in os.environ if name.startswith("MCAST_")]:
            del os.environ[name]
        os.environ["no_proxy"] = "*"
        self.url = "unix:" + self.path("s")
        self.write("passwd", "not-a-secret-of-anyone", 0o600)
        self.start_fm()
        with open(self.path("port")) as file:
            port = file.read().strip()
        self.write("mcastd.conf", CONFIGURATION.format(
            folder=self.folder, user=os.getuid(), url="http://127.0.0.1:" + port))
        self.start_broker()
        self.broker = mcast.Broker(self.url)
        self.addCleanup(self.broker.close)
        wait_until("the fabric manager is reached", self.link_is_up)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text, mode=0o644):
        with open(self.path(name), "w") as file:
            os.chmod(self.path(name), mode)
            file.write(text)

    def start(self, name, *arguments):
        with open(self.path("log"), "a") as log:
            process = subprocess.Popen([os.path.join(BUILD, "bin", name)] + list(arguments),
                                       stdout=log, stderr=log)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def start_fm(self):
        self.fm = self.start("mock-fm", "--listen", "127.0.0.1:0", "--port-file", self.path("port"),
                             "--auth", "basic", "--authdir", self.folder)
        wait_until("mock-fm listens", lambda: os.path.exists(self.path("port")) and
                   os.path.getsize(self.path("port")) > 0)

    def start_broker(self):
        self.process = self.start("mcastd", "--config", self.path("mcastd.conf"))

    def link_is_up(self):
        try:
            return self.broker.status()["fabric_manager"]["link"] == "up"
        except mcast.NoAnswer:
            self.assertIsNone(self.process.poll(), "mcastd has ended")
            return False

    def reserve(self, job, nodes="n[1-2]", **more):
        return self.broker.reserve("elcap", job, os.getuid(), nodes=nodes, **more)


def run():
    unittest.main(argv=sys.argv[:1], verbosity=1)
