#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails when a program links a library that it must not know: the headless one no Qt, the desktop one no hardware.

    binaries.py headless|desktop PROGRAM
"""
import re
import subprocess
import sys

FORBIDDEN = {
    "headless": r"libQt\d|libqcustomplot",
    "desktop": r"librte_|libibverbs|librdmacm|libcuda|libmpi",
}


def forbidden_libraries(kind, dynamic_section):
    """Names of the needed libraries in readelf's text that a program of this kind must not need."""
    needed = re.findall(r"\(NEEDED\).*\[(.+?)\]", dynamic_section)
    if not needed:
        raise ValueError("no dynamic section: is this a program?")
    return [library for library in needed if re.match(FORBIDDEN[kind], library)]


def main(arguments):
    if len(arguments) != 2 or arguments[0] not in FORBIDDEN:
        print(__doc__, file=sys.stderr)
        return 4
    kind, program = arguments
    section = subprocess.run(["readelf", "--dynamic", "--wide", program], capture_output=True, text=True, check=True)
    libraries = forbidden_libraries(kind, section.stdout)
    for library in libraries:
        print(f"{program}: a {kind} program must not link {library}")
    return 1 if libraries else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
