#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How ./check counts: nothing that failed, or did not run, may end as a pass."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / ".ci"))
import tally  # noqa: E402  the folder is no package


def junit(*cases):
    return f'<?xml version="1.0"?><testsuite name="x">{"".join(cases)}</testsuite>'


PASSED = '<testcase name="A.Passed" status="run"><system-out>ok</system-out></testcase>'
FAILED = '<testcase name="A.Failed" status="fail"><failure message=""/><system-out>boom</system-out></testcase>'
NOT_BUILT = '<testcase name="a_test_NOT_BUILT" status="notrun"><skipped message="Unable to find executable"/></testcase>'
DISABLED = '<testcase name="A.Disabled" status="disabled"><skipped message="Disabled"/></testcase>'
SKIPPED = ('<testcase name="A.Skipped" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/><system-out>'
           "[ RUN      ] A.Skipped\n/some/file_test.cpp:12: Skipped\nneeds the shared capture,\nwhich is not here\n\n"
           "[  SKIPPED ] A.Skipped (0 ms)\n</system-out></testcase>")
SKIPPED_SCRIPT = ('<testcase name="script" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/><system-out>\n'
                  "starting\nneeds network namespaces: not permitted\n</system-out></testcase>")


class Counting(unittest.TestCase):
    def count(self, *cases, exit_code=0):
        result = tally.Tally()
        tally.add_junit(result, "unit", exit_code, junit(*cases))
        return result

    def test_passes_and_failures(self):
        result = self.count(PASSED, FAILED, PASSED)
        self.assertEqual(result.closing_line(), "2 passed, 1 failed")
        self.assertEqual(result.failed, ["unit: A.Failed"])
        self.assertEqual(result.exit_code(), 1)

    def test_a_skipped_test_is_named_with_its_reason(self):
        result = self.count(PASSED, SKIPPED, SKIPPED_SCRIPT, DISABLED)
        self.assertEqual(result.closing_line(), "1 passed, 0 failed, 3 skipped")
        self.assertEqual(result.skipped[0], ("unit: A.Skipped", "needs the shared capture, which is not here"))
        self.assertEqual(result.skipped[1], ("unit: script", "needs network namespaces: not permitted"))
        self.assertEqual(result.exit_code(), 0)

    def test_a_test_that_was_not_built_failed(self):
        result = self.count(PASSED, NOT_BUILT)
        self.assertEqual(result.closing_line(), "1 passed, 1 failed")

    def test_a_tier_without_tests_failed(self):
        self.assertEqual(self.count().closing_line(), "0 passed, 1 failed")

    def test_a_ctest_that_failed_without_a_failed_test_failed(self):
        self.assertEqual(self.count(PASSED, SKIPPED, exit_code=8).closing_line(), "1 passed, 1 failed, 1 skipped")
        self.assertEqual(self.count(PASSED, FAILED, exit_code=8).closing_line(), "1 passed, 1 failed")

    def test_nothing_done_is_no_success(self):
        self.assertEqual(tally.Tally().exit_code(), 1)

    def test_steps_count_as_tests(self):
        result = tally.Tally()
        tally.add_steps(result, "pass build\nfail format\npass header files\n")
        self.assertEqual(result.closing_line(), "2 passed, 1 failed")
        self.assertEqual(result.failed, ["format"])


if __name__ == "__main__":
    unittest.main()
