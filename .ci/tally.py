#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds up what ./check did: its own steps and the tests in the JUnit files that ctest wrote. Names what failed, and what
was skipped with the reason, and ends with the line `N passed, N failed[, N skipped]`. Exit code 1 when anything failed
or nothing passed.

    tally.py STEPS [TIER=EXIT_CODE=JUNIT_FILE ...]

STEPS holds one step a line: `pass NAME` or `fail NAME`. EXIT_CODE is that of ctest: when it failed without a failed test,
it is itself what failed.
"""
import re
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field

# ctest calls a test skipped that asked for it by its exit code or its output; anything else that did not run is a fault.
ASKED_TO_SKIP = ("SKIP_REGULAR_EXPRESSION_MATCHED", "SKIP_RETURN_CODE")
GOOGLETEST_REASON = re.compile(r"^\S+:\d+: Skipped\n(.*?)\n?(?=^\S+:\d+: |^\[|\Z)", re.MULTILINE | re.DOTALL)


@dataclass
class Tally:
    passed: int = 0
    failed: list = field(default_factory=list)
    skipped: list = field(default_factory=list)  # (name, reason)

    def closing_line(self):
        line = f"{self.passed} passed, {len(self.failed)} failed"
        return f"{line}, {len(self.skipped)} skipped" if self.skipped else line

    def exit_code(self):
        return 1 if self.failed or self.passed == 0 else 0


def reason_of(output):
    """Why a test was skipped, as one line: GoogleTest's message, or the last line that the test printed."""
    message = GOOGLETEST_REASON.search(output)
    text = message.group(1) if message else (output.strip().splitlines() or [""])[-1]
    return " ".join(text.split()) or "it gave no reason"


def add_steps(tally, text):
    for line in text.splitlines():
        verdict, _, name = line.partition(" ")
        if verdict == "pass":
            tally.passed += 1
        else:
            tally.failed.append(name or line)


def add_junit(tally, tier, exit_code, text):
    failed_before = len(tally.failed)
    cases = list(ElementTree.fromstring(text).iter("testcase"))
    if not cases:
        tally.failed.append(f"{tier}: no test was found")
    for case in cases:
        name = f"{tier}: {case.get('name')}"
        status = case.get("status")
        skipped = case.find("skipped")
        if status == "run" and case.find("failure") is None:
            tally.passed += 1
        elif status == "disabled":
            tally.skipped.append((name, "it is disabled"))
        elif skipped is not None and any(ask in skipped.get("message", "") for ask in ASKED_TO_SKIP):
            tally.skipped.append((name, reason_of(case.findtext("system-out") or "")))
        else:
            tally.failed.append(name)
    if exit_code != 0 and len(tally.failed) == failed_before:
        tally.failed.append(f"{tier}: ctest ended with exit code {exit_code}")


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 4
    tally = Tally()
    with open(arguments[0], encoding="utf-8") as steps:
        add_steps(tally, steps.read())
    for argument in arguments[1:]:
        tier, exit_code, path = argument.split("=", 2)
        try:
            with open(path, encoding="utf-8", errors="replace") as junit:
                add_junit(tally, tier, int(exit_code), junit.read())
        except (OSError, ElementTree.ParseError) as error:
            tally.failed.append(f"{tier}: its results cannot be read: {error}")
    for name, reason in tally.skipped:
        print(f"skipped  {name}: {reason}")
    for name in tally.failed:
        print(f"FAILED   {name}")
    print(tally.closing_line())
    return tally.exit_code()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
