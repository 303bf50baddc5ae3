#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The layering check itself: each kind of forbidden use, put into a made-up tree, must be found, and only those."""
import pathlib
import tempfile
import unittest

import layering
import rules


class Layering(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)

    def write(self, path, text=""):
        file = self.tree / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def faults(self):
        return layering.check_tree(self.tree)[0]

    def assert_one_fault(self, *words):
        faults = self.faults()
        self.assertEqual(len(faults), 1, faults)
        for word in words:
            self.assertIn(word, faults[0])

    def test_an_allowed_tree_has_no_fault(self):
        self.write("base/result.h", "#include <tl/expected.hpp>\n")
        self.write("engine/wire/frame.h", '#include "base/result.h"\n#include <cstdint>\n')
        self.write("engine/measure/run_result.h", '#include "engine/wire/frame.h"\n')
        self.write("engine/transport/endpoint.h", '#include "engine/wire/frame.h"\n')
        self.write("engine/transport/dpdk/ports.h", '#include "engine/transport/endpoint.h"\n#include <rte_ring.h>\n')
        self.write("engine/app/compose.cpp", '#include "engine/transport/dpdk/ports.h"\n#include <rte_eal.h>\n')
        self.write("storage/store/run_store.cpp",
                   '#include "engine/measure/run_result.h"\n#include <SQLiteCpp/Database.h>\n')
        self.write("tests/unit/wire/frame_test.cpp",
                   '#include "engine/transport/dpdk/ports.h"\n#include <gtest/gtest.h>\n#include <rte_ring.h>\n')
        self.assertEqual(self.faults(), [])

    def test_a_lower_folder_that_includes_a_higher_one(self):
        self.write("engine/plan/plan.h")
        self.write("engine/wire/frame.h", '\n#include "engine/plan/plan.h"\n')
        self.assert_one_fault("engine/wire/frame.h:2:", "engine/wire may not use engine/plan")

    def test_the_engine_does_not_know_the_store_and_the_store_not_the_engine(self):
        self.write("storage/store/run_store.h", '#include "engine/replay/session.h"\n')
        self.write("engine/replay/session.h", '#include "storage/store/run_store.h"\n')
        self.assertEqual(len(self.faults()), 2)

    def test_a_back_end_is_seen_only_by_the_composition(self):
        self.write("engine/transport/dpdk/ports.h")
        for path in ("engine/roce/hca.h", "engine/replay/worker.cpp", "engine/app/run_command.cpp"):
            self.write(path, '#include "engine/transport/dpdk/ports.h"\n')
        self.assertEqual(len(self.faults()), 3)

    def test_outside_libraries_in_the_wrong_folder(self):
        for path, header in (
            ("engine/roce/hca.cpp", "rte_mbuf.h"),
            ("engine/app/list.cpp", "rte_eal.h"),
            ("engine/app/list2.cpp", "SQLiteCpp/Database.h"),
            ("storage/report/table.cpp", "sqlite3.h"),
            ("engine/replay/worker.cpp", "infiniband/verbs.h"),
            ("engine/app/window.cpp", "QMainWindow"),
            ("engine/measure/parse.cpp", "toml++/toml.h"),
            ("profiles/schema.cpp", "CLI/CLI.hpp"),
            ("engine/wire/icrc.cpp", "openssl/evp.h"),
            ("engine/wire/fixture.cpp", "gtest/gtest.h"),
        ):
            with self.subTest(path=path, header=header):
                self.write(path, f"#include <{header}>\n")
                self.assert_one_fault(path, header)
                (self.tree / path).unlink()

    def test_heavy_libraries_do_not_spread_through_headers(self):
        self.write("storage/store/database.h", "#include <SQLiteCpp/Database.h>\n")
        self.write("storage/store/rows.h", '#include "storage/store/database.h"\n')
        self.write("storage/store/run_store.h")
        self.write("storage/store/run_store.cpp", '#include "storage/store/rows.h"\n#include "storage/store/run_store.h"\n')
        self.write("tests/unit/store/rows_test.cpp", '#include "storage/store/rows.h"\n')
        self.write("engine/app/list.cpp", '#include "storage/store/run_store.h"\n')
        self.assertEqual(self.faults(), [], "private headers may see the library")

        self.write("storage/store/run_store.h", '#include "storage/store/rows.h"\n')
        self.assert_one_fault("storage/store/database.h:1:", "SQLite", "engine/app/list.cpp")

    def test_a_heavy_library_in_a_public_header(self):
        for path, header in (("profiles/parse.h", "toml++/toml.h"), ("storage/report/json.h", "nlohmann/json.hpp")):
            with self.subTest(header=header):
                self.write(path, f"#include <{header}>\n")
                self.write("engine/app/show.cpp", f'#include "{path}"\n')
                self.assert_one_fault(path, "engine/app/show.cpp")
                (self.tree / path).unlink()
                (self.tree / "engine/app/show.cpp").unlink()

    def test_models_of_the_desktop_program_use_no_widgets(self):
        self.write("gui/models/runs.cpp", "#include <QAbstractTableModel>\n#include <QWidget>\n")
        self.assert_one_fault("only the core of Qt", "QWidget")

    def test_a_passive_part_reads_no_clock_and_never_waits(self):
        for line in ("auto t = std::chrono::steady_clock::now();", "std::this_thread::sleep_for(1ms);",
                     "clock_gettime(CLOCK_MONOTONIC, &t);", "auto t = __rdtsc();", "#include <thread>"):
            with self.subTest(line=line):
                self.write("engine/roce/requester.cpp", line + "\n")
                self.assertEqual(len(self.faults()), 1)
        self.write("engine/roce/requester.cpp", "// unlike steady_clock::now(), this is an argument\n")
        self.assertEqual(self.faults(), [])

    def test_a_new_folder_needs_a_rule(self):
        self.write("engine/helpers/strings.h")
        self.assert_one_fault("engine/helpers/strings.h", "has no rule")

    def test_includes_name_the_path_from_the_root(self):
        self.write("engine/wire/frame.h")
        self.write("engine/wire/address.h", '#include "frame.h"\n')
        self.assert_one_fault("path from its root")

    def test_an_empty_tree_is_not_a_passed_check(self):
        self.assertEqual(len(self.faults()), 1)

    def test_the_rules_name_only_folders_that_have_rules(self):
        for folder, allowed in rules.FOLDERS.items():
            if folder != "tests":
                self.assertLessEqual(allowed, set(rules.FOLDERS), folder)

    def test_the_rules_have_no_circle(self):
        """But for the types that analysis and report share."""
        def reaches(start, goal, seen):
            for other in rules.FOLDERS[start] - seen:
                seen.add(other)
                if other == goal or reaches(other, goal, seen):
                    return True
            return False

        in_circle = {folder for folder in rules.FOLDERS if folder != "tests" and reaches(folder, folder, set())}
        self.assertEqual(in_circle, {"storage/analysis", "storage/report"})


if __name__ == "__main__":
    unittest.main()
