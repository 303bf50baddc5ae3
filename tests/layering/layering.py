#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a source file includes what its folder may not use, or a passive part reads a clock. `rules.py` says who
may what.

    layering.py TREE
"""
import pathlib
import re
import sys

import rules

SOURCES = (".h", ".cpp", ".hpp", ".cc", ".cu")
ROOTS = ("base", "profiles", "engine", "storage", "gui", "tests")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
COMMENT = re.compile(r"//.*$")


def rule_of(path):
    """The longest folder of the rule table that holds this file, or None."""
    parts = path.split("/")[:-1]
    for length in range(len(parts), 0, -1):
        folder = "/".join(parts[:length])
        if folder in rules.FOLDERS:
            return folder
    return None


def within(folder, folders):
    return any(folder == other or folder.startswith(other + "/") for other in folders)


def check_own_include(path, folder, included, tree):
    if not (tree / included).is_file():
        return f'"{included}" is no file of this tree: includes name the path from its root'
    target = rule_of(included)
    if target is None:
        return f'"{included}" lies in a folder without a rule'
    if target == folder or target in rules.EVERYWHERE:
        return None
    if folder == "tests" and within(target, rules.FOLDERS["tests"]):
        return None
    if target in rules.FOLDERS[folder] or target in rules.FILES.get(path, ()):
        return None
    return f"{folder} may not use {target} (\"{included}\")"


def check_library_include(path, folder, header):
    if folder == "tests":
        return None
    if folder in rules.PASSIVE and header in rules.THREAD_HEADERS:
        return f"{folder} is stepped by its driver and starts no thread, takes no lock (<{header}>)"
    for name, pattern, folders, files, _ in rules.LIBRARIES:
        if not re.fullmatch(pattern, header):
            continue
        if "*" not in folders and not within(folder, folders) and path not in files:
            return f"{folder} may not use {name} (<{header}>)"
        if name.startswith("Qt") and folder in rules.QT_CORE_ONLY and not re.fullmatch(rules.QT_CORE_HEADERS, header):
            return f"{folder} may use only the core of Qt (<{header}>)"
    return None


def check_file(path, text, tree):
    """The broken rules of one file, as `path:line: message`. `path` is relative to `tree`, with forward slashes."""
    folder = rule_of(path)
    if folder is None:
        return [f"{path}:1: this folder has no rule: give it one in tests/layering/rules.py and docs/architecture.md"]
    faults = []
    for number, line in enumerate(text.splitlines(), start=1):
        message = None
        include = INCLUDE.match(line)
        if include and include.group(1):
            message = check_own_include(path, folder, include.group(1), tree)
        elif include:
            message = check_library_include(path, folder, include.group(2))
        elif folder in rules.PASSIVE and re.search(rules.CLOCKS_AND_WAITS, COMMENT.sub("", line)):
            message = f"{folder} is stepped by its driver: time is an argument, it neither reads a clock nor waits"
        if message:
            faults.append(f"{path}:{number}: {message}")
    return faults


def includes_of(text):
    """(line number, path of ours or None, outside header or None) of each include."""
    for number, line in enumerate(text.splitlines(), start=1):
        include = INCLUDE.match(line)
        if include:
            yield number, include.group(1), include.group(2)


def check_spread(texts):
    """A library that must not spread may be seen in a header only when that header is private to its folder: nothing
    outside the folder, tests apart, includes it, also not through another header."""
    included_by = {}
    for path, text in texts.items():
        for _, own, _ in includes_of(text):
            if own:
                included_by.setdefault(own, set()).add(path)

    def outside_user(header):
        seen, waiting = {header}, [header]
        while waiting:
            for user in sorted(included_by.get(waiting.pop(), set()) - seen):
                seen.add(user)
                waiting.append(user)
                if rule_of(user) not in (rule_of(header), "tests"):
                    return user
        return None

    contained = [(name, pattern) for name, pattern, _, _, only_cpp in rules.LIBRARIES if only_cpp]
    for path, text in texts.items():
        if not path.endswith((".h", ".hpp")) or rule_of(path) == "tests":
            continue
        for number, _, header in includes_of(text):
            for name, pattern in contained:
                if header and re.fullmatch(pattern, header):
                    user = outside_user(path)
                    if user:
                        yield f"{path}:{number}: {name} stays in .cpp files and private headers, {user} sees this one"


def check_tree(tree):
    tree = pathlib.Path(tree)
    texts = {}
    for root in ROOTS:
        for file in sorted((tree / root).rglob("*")):
            if file.suffix in SOURCES and file.is_file():
                texts[file.relative_to(tree).as_posix()] = file.read_text(encoding="utf-8")
    faults = [fault for path, text in texts.items() for fault in check_file(path, text, tree)]
    faults += check_spread(texts)
    if not texts:
        faults.append(f"{tree}: no source file found, nothing was checked")
    return faults, len(texts)


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 4
    faults, files = check_tree(arguments[0])
    for fault in faults:
        print(fault)
    print(f"{files} files, {len(faults)} forbidden uses")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
