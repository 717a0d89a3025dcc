# SPDX-License-Identifier: Apache-2.0
"""The programs of docs/python.md run as they stand there, and print what it says."""
import os
import re
import subprocess
import sys
import unittest

import case


class Page(case.Case):
    def test_programs_print_what_it_says(self):
        with open(os.path.join(case.SOURCE, "docs/python.md"), encoding="utf-8") as file:
            parts = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", file.read(), re.S)
        self.assertEqual(len(parts), 5)
        self.reserve("f2Rs8sydSxmd", nodes="elcap[1-2]")
        modules = os.path.join(case.BUILD, "lib/python")
        env = dict(os.environ, MCAST_URL=self.url, PYTHONPATH=modules)
        for program, printed in parts:
            done = subprocess.run([sys.executable, "-B", "-c", program], env=env,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.stdout.decode(), printed, program)


if __name__ == "__main__":
    case.run()
