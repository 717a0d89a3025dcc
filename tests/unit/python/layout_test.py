# SPDX-License-Identifier: Apache-2.0
"""client/mcast.h still says what python/mcast/cdecl.py does."""
import os
import subprocess
import tempfile
import unittest

import case
from mcast import cdecl


def compiled(program, folder):
    binary = os.path.join(folder, "check")
    done = subprocess.run([case.COMPILER, "-std=c17", "-Werror", "-I" + case.SOURCE, "-xc", "-",
                           "-o", binary, "-L" + os.path.join(case.BUILD, "lib")],
                          input=program.encode(), stderr=subprocess.PIPE)
    return (binary if done.returncode == 0 else None), done.stderr.decode()


class Layout(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_header_says_the_same(self):
        binary, complaints = compiled(cdecl.check_program(), self.folder.name)
        self.assertEqual(complaints, "")
        shown = dict(line.split() for line in
                     subprocess.check_output([binary]).decode().splitlines() if line)
        self.assertEqual(set(shown), set(cdecl.DEFAULTS))
        for name, value in shown.items():
            self.assertEqual(bytes(cdecl.struct(name)).hex(), value, name + "_INIT")

    def test_a_change_would_be_found(self):
        program = cdecl.check_program()
        for old, new in (("uint32_t), \"mcast_request.uid\"", "int64_t), \"mcast_request.uid\""),
                         ("int mcast_show(struct mcast *,", "int mcast_show(struct mcast *, int,"),
                         ("MCAST_FOLLOW == 1", "MCAST_FOLLOW == 2"),
                         ("sizeof(struct mcast_filter) == ", "sizeof(struct mcast_filter) == 1")):
            self.assertIn(old, program)
            binary, complaints = compiled(program.replace(old, new), self.folder.name)
            self.assertIsNone(binary, old)
            self.assertIn("error", complaints)

    def test_each_function_is_in_the_library(self):
        from mcast.library import lib
        for _, name, _ in cdecl.functions(cdecl.FUNCTIONS):
            self.assertTrue(callable(getattr(lib(), name)))


if __name__ == "__main__":
    case.run()
