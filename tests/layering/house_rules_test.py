#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
import unittest

import house_rules

LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"


class HouseRules(unittest.TestCase):
    def test_a_file_in_form_has_no_fault(self):
        self.assertEqual(house_rules.faults_of("engine/wire/frame.h", LICENCE + "#pragma once\n"), [])
        self.assertEqual(house_rules.faults_of("packaging/x.sh", "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n"), [])

    def test_each_broken_rule_is_found(self):
        for path, text in (
            ("engine/wire/frame.h", "#pragma once\n"),
            ("engine/wire/frame.h", LICENCE),
            ("engine/wire/utils.cpp", LICENCE),
            ("engine/common/frame.cpp", LICENCE),
            ("engine/wire/frame_helpers.cpp", LICENCE),
            ("engine/wire/FrameCodec.cpp", LICENCE),
            ("engine/wire/CMakeLists.txt", "add_library(x)\n"),
        ):
            with self.subTest(path=path):
                self.assertEqual(len(house_rules.faults_of(path, text)), 1)


if __name__ == "__main__":
    unittest.main()
