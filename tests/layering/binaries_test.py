#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
import unittest

import binaries

SECTION = """
 0x0000000000000001 (NEEDED)             Shared library: [libQt6Core.so.6]
 0x0000000000000001 (NEEDED)             Shared library: [librte_eal.so.23]
 0x0000000000000001 (NEEDED)             Shared library: [libc.so.6]
"""


class Binaries(unittest.TestCase):
    def test_finds_the_libraries_that_a_kind_of_program_must_not_need(self):
        self.assertEqual(binaries.forbidden_libraries("headless", SECTION), ["libQt6Core.so.6"])
        self.assertEqual(binaries.forbidden_libraries("desktop", SECTION), ["librte_eal.so.23"])

    def test_a_text_without_libraries_is_not_a_passed_check(self):
        with self.assertRaises(ValueError):
            binaries.forbidden_libraries("headless", "readelf: Error: Not an ELF file\n")


if __name__ == "__main__":
    unittest.main()
