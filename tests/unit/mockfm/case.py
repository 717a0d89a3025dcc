# SPDX-License-Identifier: Apache-2.0
"""What the unit tests of mock-fm share: they find its modules, and compare what is refused."""

import os
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../../mock-fm"))

from mock_fm.message import Problem  # noqa: E402 (the path comes first)


class Case(unittest.TestCase):
    def assert_refused(self, status, words, call, *arguments):
        """The call is refused with this status, and with a sentence that has these words."""
        with self.assertRaises(Problem) as caught:
            call(*arguments)
        self.assertEqual(caught.exception.status, status)
        self.assertIn(words, caught.exception.text)

    def make_folder(self):
        folder = tempfile.mkdtemp(prefix="mockfm-")
        self.addCleanup(shutil.rmtree, folder)
        return folder

    def write(self, folder, name, text):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
