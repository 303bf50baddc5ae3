#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a file of the tree breaks a rule of form that no other tool checks: a licence line, header guards by
#pragma once, names that say what is inside.

    house_rules.py TREE
"""
import pathlib
import re
import sys

ROOTS = ("base", "profiles", "engine", "storage", "gui", "tests", "cmake", "packaging", ".ci")
LICENSED = (".h", ".cpp", ".cu", ".py", ".sh", ".cmake", ".sql")
LICENCE = "SPDX-License-Identifier: Apache-2.0"
CATCH_ALL = re.compile(r"(^|_)(utils?|common|helpers?|manager|misc|stuff)(_|$)")
NAME = re.compile(r"[a-z0-9_]+")


def faults_of(path, text):
    """`path` is relative to the tree, with forward slashes."""
    faults = []
    file = pathlib.PurePosixPath(path)
    if file.suffix in LICENSED or file.name == "CMakeLists.txt":
        if LICENCE not in "\n".join(text.splitlines()[:3]):
            faults.append(f"{path}:1: no licence line ({LICENCE})")
    if file.suffix == ".h" and "#pragma once" not in text:
        faults.append(f"{path}:1: no #pragma once")
    if file.suffix in (".h", ".cpp"):
        for name in (*file.parts[:-1], file.stem):
            if CATCH_ALL.search(name):
                faults.append(f"{path}:1: a name like '{name}' says nothing, name what is inside")
            if not NAME.fullmatch(name):
                faults.append(f"{path}:1: '{name}' is not in snake_case")
    return faults


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 4
    tree = pathlib.Path(arguments[0])
    faults = []
    checked = 0
    for root in ROOTS:
        for file in sorted((tree / root).rglob("*")):
            if file.is_file() and (file.suffix in LICENSED or file.name == "CMakeLists.txt"):
                if "data" in file.relative_to(tree).parts:
                    continue  # test data is as it came
                checked += 1
                faults += faults_of(file.relative_to(tree).as_posix(), file.read_text(encoding="utf-8"))
    for fault in faults:
        print(fault)
    print(f"{checked} files, {len(faults)} faults")
    return 1 if faults or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
