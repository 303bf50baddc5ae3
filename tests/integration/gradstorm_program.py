# SPDX-License-Identifier: Apache-2.0
"""The gradstorm program as tests see it: run it, with a store of its own, and look at what it left."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ.get("GRADSTORM_PROGRAM", "")
SHARED_DATA = pathlib.Path(os.environ.get("GRADSTORM_SHARED_DATA", ""))
SOURCE = pathlib.Path(__file__).resolve().parents[2]

# Small enough for any machine; every test run that needs traffic starts from it.
SMALL_RUN = ["selftest-allreduce-4", "--set", "run.repetitions=2", "--set", "run.iterations=2", "--set", "run.warmup=1"]


class ProgramTest(unittest.TestCase):
    """Each test has a folder of its own, which is also the home of the program's default store."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gradstorm-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = {**os.environ, "XDG_DATA_HOME": str(self.folder)}
        self.store = self.folder / "gradstorm" / "runs.db"

    def gradstorm(self, *arguments, timeout=120, **options):
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=timeout,
                              env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL, check=False, **options)

    def shell(self, script, *arguments):
        """`script` for sh, with the program as $0 and the arguments as $1..."""
        return subprocess.run(["sh", "-c", script, PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                              timeout=120, env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL,
                              check=False)

    def start(self, *arguments):
        """A program in the background; ended with the test, by its process id."""
        process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env=self.environment, cwd=self.folder, stdin=subprocess.DEVNULL)
        self.addCleanup(self._end, process)
        return process

    @staticmethod
    def _end(process):
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.communicate()

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def assertFails(self, done, code, *fragments):
        """The exit code, one clear line on standard error, nothing on standard output."""
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        for fragment in fragments:
            self.assertIn(fragment, done.stderr)


def main():
    if not PROGRAM:
        sys.exit("GRADSTORM_PROGRAM names no program")
    unittest.main(verbosity=2)
