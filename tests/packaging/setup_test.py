#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""packaging/setup against a made-up distribution: dpkg-query, apt-get and apt-cache are small scripts in its PATH."""
import os
import pathlib
import subprocess
import tempfile
import unittest

SETUP = pathlib.Path(__file__).resolve().parents[2] / "packaging" / "setup"
TOOLS = ("bash", "env", "sed", "tail", "mktemp", "rm", "cat", "touch", "grep")


class MadeUpDistribution(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bin = pathlib.Path(folder.name)
        self.installed = self.bin / "installed.txt"
        self.calls = self.bin / "apt-calls.txt"
        self.installed.write_text("")
        self.calls.write_text("")
        for tool in TOOLS:
            self.script(tool, f'exec {self.real(tool)} "$@"')

    @staticmethod
    def real(tool):
        return next(p for p in (f"/usr/bin/{tool}", f"/bin/{tool}") if os.path.exists(p))

    def script(self, name, body):
        path = self.bin / name
        path.write_text(f"#!/bin/bash\n{body}\n")
        path.chmod(0o755)

    def distribution(self, offers="*", broken=False):
        """`offers`: packages with a candidate; an install adds its arguments to the installed ones."""
        self.script("dpkg-query", f'while read -r p; do echo "$p installed"; done < {self.installed}')
        known = "true" if offers == "*" else f'[[ " {offers} " == *" $2 "* ]]'
        self.script("apt-cache", f'if {known}; then echo "  Candidate: 1.0"; else echo "  Candidate: (none)"; fi')
        install = "exit 100" if broken else f'printf "%s\\n" "${{@}}" | grep -v "^-" >> {self.installed}'
        self.script("apt-get", f'echo "$@" >> {self.calls}\ncase "$*" in *" install "*) {install};; esac')
        self.script("sudo", 'exec "$@"')

    def run_setup(self, *parts):
        return subprocess.run(["/bin/bash", SETUP, *parts], env={"PATH": str(self.bin), "TMPDIR": str(self.bin)},
                              capture_output=True, text=True, check=False, timeout=60)

    def test_installs_what_is_missing_and_is_done_at_once_the_next_time(self):
        self.distribution()
        first = self.run_setup("build")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("--no-install-recommends", self.calls.read_text())
        self.assertIn("ninja-build", self.installed.read_text())

        self.calls.write_text("")
        second = self.run_setup("build")
        self.assertEqual((second.returncode, second.stdout, second.stderr), (0, "", ""))
        self.assertEqual(self.calls.read_text(), "", "nothing was missing, so apt-get must not be called")

    def test_names_what_the_distribution_does_not_have_and_installs_the_rest(self):
        self.distribution(offers="shellcheck python3 clang-format-19")
        run = self.run_setup("lint")
        self.assertEqual(run.returncode, 1)
        self.assertIn("not in this system's package sources: clang-tidy-19", run.stderr)
        self.assertIn("still missing: clang-tidy-19", run.stderr)
        self.assertIn("clang-format-19", self.installed.read_text())

    def test_takes_the_alternative_that_the_distribution_has(self):
        self.distribution(offers="clang-18 libclang-rt-18-dev")
        self.assertEqual(self.run_setup("fuzz").returncode, 0)
        self.assertIn("clang-18", self.installed.read_text())

    def test_a_failing_apt_is_told_with_the_packages_that_are_missing(self):
        self.distribution(broken=True)
        run = self.run_setup("fuzz")
        self.assertEqual(run.returncode, 1)
        self.assertIn("still missing: clang-14|clang-18", run.stderr)

    def test_another_distribution_is_told_what_to_install(self):
        run = self.run_setup("build")
        self.assertEqual(run.returncode, 1)
        self.assertIn("no Debian or Ubuntu", run.stderr)
        self.assertIn("ninja-build", run.stderr)

    def test_an_unknown_part_is_named(self):
        self.distribution()
        run = self.run_setup("build", "kitchen")
        self.assertEqual(run.returncode, 4)
        self.assertIn("no such part: kitchen", run.stderr)
        self.assertEqual(self.calls.read_text(), "")


if __name__ == "__main__":
    unittest.main()
