# SPDX-License-Identifier: Apache-2.0
"""The command line: what is printed where, exit codes, and what bad input is told."""

import json
import os
import pathlib
import shutil
import signal
import sqlite3
import time

from gradstorm_program import SHARED_DATA, SMALL_RUN, ProgramTest, main

CRITERION = '[[criterion]]\nmetric = "loss"\nmax = "0ppm"\n'


class Help(ProgramTest):
    def test_help_has_examples_and_exit_codes(self):
        done = self.gradstorm("--help")
        self.assertEqual(done.returncode, 0)
        for text in ("gradstorm run resnet50-ddp-2", "selftest", "Exit codes"):
            self.assertIn(text, done.stdout)
        self.assertEqual(done.stderr, "")

    def test_every_command_has_help(self):
        for command in (["run"], ["plan"], ["profile", "validate"], ["selftest"], ["list"], ["show"], ["replay-seed"]):
            done = self.gradstorm(*command, "--help")
            self.assertEqual(done.returncode, 0, command)
            self.assertIn("--help", done.stdout)

    def test_version_names_the_libraries(self):
        done = self.gradstorm("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^gradstorm \d+\.\d+\.\d+\n")
        self.assertIn("dpdk", done.stdout)


class BadOptions(ProgramTest):
    def test_unknown_option_is_named_with_the_nearest(self):
        self.assertFails(self.gradstorm("run", "resnet50-ddp-2", "--evnts", "-"), 4, "unknown option '--evnts'",
                         "did you mean '--events'?")

    def test_unknown_command(self):
        self.assertFails(self.gradstorm("rnu", "x"), 4, "unknown command 'rnu'", "did you mean 'run'?")

    def test_nothing_asked(self):
        self.assertFails(self.gradstorm(), 4, "a command is missing")

    def test_unknown_format(self):
        self.assertFails(self.gradstorm("run", "resnet50-ddp-2", "--format", "xml"), 4, "xml")

    def test_bad_time(self):
        self.assertFails(self.gradstorm("run", "resnet50-ddp-2", "--stop-timeout", "10"), 4, "--stop-timeout", "ms")

    def test_node_without_rendezvous(self):
        self.assertFails(self.gradstorm("run", "resnet50-ddp-2", "--node", "1"), 4, "--rendezvous")

    def test_contradicting_outputs(self):
        self.assertFails(self.gradstorm("run", "resnet50-ddp-2", "--events", "-", "--format", "json"), 4, "--events -")


class BadSubjects(ProgramTest):
    def test_missing_file(self):
        self.assertFails(self.gradstorm("run", "no/such.toml"), 4, "no/such.toml")

    def test_catalog_name_with_a_typing_error(self):
        self.assertFails(self.gradstorm("run", "resnet50-dpd-2"), 4, "resnet50-ddp-2")

    def test_all_mistakes_at_their_places(self):
        path = self.write("bad.toml", 'format = 1\n[run]\nitertions = 3\nseed = "x"\n')
        done = self.gradstorm("profile", "validate", path)
        self.assertFails(done, 4, f"{path}:3:1: ", "did you mean 'iterations'?", f"{path}:4:")

    def test_override_with_a_typing_error(self):
        self.assertFails(self.gradstorm("run", "resnet50-ddp-2", "--set", "run.itertions=3"), 4, "run.itertions",
                         "did you mean")

    def test_empty_file(self):
        self.assertFails(self.gradstorm("run", self.write("empty.toml", "")), 4, "format")

    def test_binary_file(self):
        path = self.folder / "noise.toml"
        path.write_bytes(bytes(range(256)) * 8)
        self.assertFails(self.gradstorm("run", path), 4, str(path))

    def test_size_beyond_everything(self):
        done = self.gradstorm("plan", "resnet50-ddp-2", "--set", "job.0.calls.0.elements=9223372036854775808")
        self.assertEqual(done.returncode, 4, done.stdout + done.stderr)

    def test_verbs_are_refused_in_one_line(self):
        done = self.gradstorm("run", "resnet50-ddp-2", "--set", "transport.engine=verbs", "--no-store")
        self.assertFails(done, 4, "verbs")
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_device_that_is_not_there(self):
        done = self.gradstorm("run", "selftest-allreduce-4", "--no-store", "--set", 'transport.fabric="ports"',
                              "--set", "port.0.name=p0", "--set",
                              'port.0.address="198.18.0.1/24"', "--set", "cluster.nodes=1", "--set",
                              "cluster.gpus_per_node=4", "--set", 'port.0.device="net_af_packet,iface=nosuch0"')
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("nosuch0", done.stderr)

    def test_not_a_store(self):
        path = self.write("notes.txt", "this is no database, and long enough to be looked at as one\n" * 100)
        self.assertFails(self.gradstorm("list", "--store", path), 3, str(path))

    def test_no_store_yet(self):
        self.assertFails(self.gradstorm("list"), 3, "no run store yet")


class Profiles(ProgramTest):
    def test_every_catalog_profile_is_valid(self):
        listed = self.gradstorm("profile", "list")
        names = [line.split()[0] for line in listed.stdout.splitlines()]
        self.assertIn("resnet50-ddp-2", names)
        done = self.gradstorm("profile", "validate", *names)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count(": ok\n"), len(names))

    def test_valid_profile_that_cannot_be_run_says_so(self):
        path = self.write("judged.toml", self.gradstorm("profile", "show", "selftest-allreduce-4").stdout + CRITERION)
        done = self.gradstorm("profile", "validate", path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("ok, but this version cannot run it", done.stdout)

    def test_shown_profile_can_be_run_from_a_file(self):
        shown = self.gradstorm("profile", "show", "resnet50-ddp-2")
        path = self.write("mine.toml", shown.stdout)
        by_file = json.loads(self.gradstorm("plan", path, "--json").stdout)
        by_name = json.loads(self.gradstorm("plan", "resnet50-ddp-2", "--json").stdout)
        self.assertEqual(by_file["schedule_hash"], by_name["schedule_hash"])

    def test_schema_is_json(self):
        document = json.loads(self.gradstorm("profile", "schema", "--json").stdout)
        self.assertIn("iterations", json.dumps(document))


class Plan(ProgramTest):
    def test_resnet50_buckets(self):
        plan = json.loads(self.gradstorm("plan", "resnet50-ddp-2", "--json").stdout)
        (measurement,) = plan["measurements"]
        self.assertEqual([call["bytes"] for call in measurement["calls"]],
                         [8_196_000, 31_502_336, 26_255_360, 26_550_272, 9_724_160])
        # A ring of two sends 2 (n-1)/n S = S: 102,228,128 bytes a rank and iteration.
        self.assertEqual(measurement["payload_bytes_per_rank"], 102_228_128)

    def test_a_huge_cluster_costs_nothing(self):
        done = self.gradstorm("plan", "allreduce-sweep-8", "--set", "cluster.nodes=65536", timeout=20)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("65536", done.stdout)

    def test_trace(self):
        trace = SHARED_DATA / "workloads/param-et/param-resnet_2gpu_comms_excerpt.json"
        if not trace.exists():
            self.skipTest(f"no shared data at {SHARED_DATA}")
        plan = json.loads(self.gradstorm("plan", trace, "--json").stdout)
        sizes = [(call["collective"], call["bytes"]) for call in plan["measurements"][0]["calls"]]
        self.assertEqual([size for kind, size in sizes if kind == "all_reduce"],
                         [8_196_000, 31_502_336, 26_255_360, 26_550_272, 9_724_160])
        self.assertEqual(sorted(size for kind, size in sizes if kind == "broadcast"), [424, 212_480])

    def test_trace_without_communication_says_so(self):
        trace = SHARED_DATA / "workloads/param-et/param-linear_et.json.gz"
        if not trace.exists():
            self.skipTest(f"no shared data at {SHARED_DATA}")
        done = self.gradstorm("plan", trace)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning", done.stderr)


class Run(ProgramTest):
    def test_table_and_store(self):
        done = self.gradstorm("run", *SMALL_RUN)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("all_reduce", done.stdout)
        self.assertIn("stored as run 1 in", done.stderr)
        listed = json.loads(self.gradstorm("list", "--json").stdout)
        self.assertEqual([(run["run"], run["outcome"]) for run in listed], [(1, "pass")])
        self.assertEqual(self.gradstorm("show", "1").stdout, done.stdout)
        self.assertEqual(self.gradstorm("show", listed[0]["uuid"][:8]).stdout, done.stdout)
        leftovers = [path.name for path in self.store.parent.iterdir() if path.suffix == ".gsjournal"]
        self.assertEqual(leftovers, [])

    def test_json_is_one_strict_document(self):
        def refuse(constant):
            raise ValueError(f"{constant} is no JSON")

        done = self.gradstorm("run", *SMALL_RUN, "--format", "json", "--dut", "kmin=150KB")
        document = json.loads(done.stdout, parse_constant=refuse)
        text = json.dumps(document)
        self.assertIn("150KB", text)
        self.assertNotIn("XDG_DATA_HOME", text)

    def test_nccl_rows_have_thirteen_tokens(self):
        done = self.gradstorm("run", *SMALL_RUN, "--format", "nccl-tests")
        rows = [line.split() for line in done.stdout.splitlines() if line.strip() and not line.startswith("#")]
        self.assertTrue(rows)
        for row in rows:
            self.assertEqual(len(row), 13, row)

    def test_events_alone_on_standard_output(self):
        done = self.gradstorm("run", *SMALL_RUN, "--events", "-")
        events = [json.loads(line) for line in done.stdout.splitlines()]
        kinds = [event["event"] if "event" in event else event["kind"] for event in events]
        self.assertEqual(kinds[0], "run_started")
        self.assertEqual(kinds[-1], "outcome")

    def test_setting_without_effect_is_said(self):
        done = self.gradstorm("run", *SMALL_RUN, "--set", "transport.congestion_control=dcqcn")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("transport.congestion_control = dcqcn changes nothing", done.stderr)

    def test_criteria_are_refused_rather_than_passed(self):
        path = self.write("judged.toml", self.gradstorm("profile", "show", "selftest-allreduce-4").stdout + CRITERION)
        self.assertFails(self.gradstorm("run", path), 4, "[[criterion]]")

    def test_run_that_measured_nothing_is_a_document_all_the_same(self):
        excerpt = SHARED_DATA / "workloads/param-et/param-resnet_2gpu_comms_excerpt.json"
        if not excerpt.exists():
            self.skipTest(f"no shared data at {SHARED_DATA}")
        trace = self.write("halves.json", excerpt.read_text(encoding="utf-8").replace('"Float"', '"Half"'))
        done = self.gradstorm("run", trace, "--set", "transport.payload=memory", "--format", "json")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("the host cannot add float16", done.stderr)
        self.assertEqual(json.loads(done.stdout)["run"]["outcome"], "error")

    def test_no_store_leaves_nothing(self):
        done = self.gradstorm("run", *SMALL_RUN, "--no-store")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(self.store.exists())
        self.assertNotIn("stored", done.stderr)

    def test_store_in_an_impossible_place(self):
        done = self.gradstorm("run", *SMALL_RUN, "--store", "/proc/nowhere/runs.db")
        self.assertFails(done, 3, "/proc/nowhere")

    def test_store_that_may_only_be_read(self):
        self.gradstorm("run", *SMALL_RUN)
        exported = self.folder / "exported.db"
        with sqlite3.connect(self.store) as database:
            database.execute("VACUUM INTO ?", (str(exported),))
        with sqlite3.connect(exported) as database:
            database.execute("PRAGMA journal_mode = DELETE")
        exported.chmod(0o444)
        if os.geteuid() == 0:  # to whom the mode says nothing
            os.chown(exported, 65534, 65534)
        listed = self.gradstorm("list", "--store", exported)
        self.assertEqual(listed.returncode, 0, listed.stderr)
        self.assertIn("selftest-allreduce-4", listed.stdout)
        shown = self.gradstorm("show", "1", "--store", exported)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertFails(self.gradstorm("run", *SMALL_RUN, "--store", exported), 3, str(exported))

    def test_store_with_a_name_longer_than_names_can_be(self):
        for command in (["run", *SMALL_RUN], ["list"]):
            self.assertFails(self.gradstorm(*command, "--store", self.folder / ("a" * 300) / "runs.db"), 3, "aaa")

    def test_output_that_cannot_be_written(self):
        if not pathlib.Path("/dev/full").exists():
            self.skipTest("no /dev/full on this system")
        done = self.shell('"$0" profile list >/dev/full')
        self.assertEqual(done.returncode, 3)
        self.assertIn("standard output", done.stderr)

    def test_errors_that_cannot_be_written_change_nothing(self):
        if not pathlib.Path("/dev/full").exists():
            self.skipTest("no /dev/full on this system")
        self.assertEqual(self.shell('"$0" run "$@" 2>/dev/full', *SMALL_RUN).returncode, 0)
        self.assertEqual(self.shell('"$0" show 9999999 2>/dev/full').returncode, 3)
        self.assertEqual(self.shell('"$0" plan no/such.toml 2>/dev/full').returncode, 4)

    def test_settings_and_environment_are_in_the_store(self):
        self.gradstorm("run", *SMALL_RUN, "--dut", "buffer=2MB")
        with sqlite3.connect(self.store) as database:
            dump = "\n".join(database.iterdump())
        for text in ("run.iterations", "buffer", "2MB", "kernel"):
            self.assertIn(text, dump)

    def test_trace_is_replayed(self):
        trace = SHARED_DATA / "workloads/param-et/param-resnet_2gpu_comms_excerpt.json"
        if not trace.exists():
            self.skipTest(f"no shared data at {SHARED_DATA}")
        done = self.gradstorm("run", trace, "--set", "run.repetitions=1", "--set", "run.iterations=1", "--set",
                              "run.warmup=0", "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("26255360", done.stdout)


class Sweeps(ProgramTest):
    """Eight ranks, 8 B to 64 MiB, real sums through the packet engine."""

    def swept(self, profile):
        done = self.gradstorm("run", profile, "--set", "run.repetitions=1", "--set", "run.iterations=2", "--set",
                              "run.warmup=1", "--format", "json", timeout=250)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        calls = [call for measurement in result["measurements"] for call in measurement["calls"]]
        self.assertEqual([call["size_bytes"] for call in calls], [8 << i for i in range(24)])
        self.assertEqual([call["wrong_elements"] for call in calls], [0] * 24)
        return sum(port["retransmitted_frames"] for port in result["ports"])

    def test_float32(self):
        self.swept("allreduce-sweep-8")

    def test_bfloat16(self):
        self.swept("allreduce-sweep-8-bf16")

    def test_with_one_per_cent_loss(self):
        self.assertGreater(self.swept("loss-1pct"), 1000)


class Capture(ProgramTest):
    def test_captured_frames_are_rocev2(self):
        tshark = shutil.which("tshark")
        if tshark is None:
            self.skipTest("tshark is not installed")
        import subprocess
        done = self.gradstorm("run", *SMALL_RUN, "--set", 'transport.capture="frames.pcapng"', "--no-store")
        self.assertEqual(done.returncode, 0, done.stderr)
        listed = subprocess.run([tshark, "-r", str(self.folder / "frames.pcapng"), "-c", "2000", "-T", "fields", "-e",
                                 "_ws.col.Protocol"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(set(listed.stdout.split()), {"RRoCE"})


class ReplaySeed(ProgramTest):
    def test_three_runs_with_loss_write_the_same_bytes(self):
        journals = []
        for number in range(3):
            path = self.folder / f"{number}.gsjournal"
            done = self.gradstorm("replay-seed", "7", "selftest-mixed-4", "--set", "fault.0.drop=1%", "--journal", path)
            self.assertEqual(done.returncode, 0, done.stderr)
            journals.append(path.read_bytes())
        self.assertEqual(journals[0], journals[1])
        self.assertEqual(journals[0], journals[2])
        other = self.folder / "other.gsjournal"
        self.gradstorm("replay-seed", "8", "selftest-mixed-4", "--set", "fault.0.drop=1%", "--journal", other)
        self.assertNotEqual(journals[0], other.read_bytes())


    def test_refuses_what_run_refuses(self):
        path = self.write("judged.toml", self.gradstorm("profile", "show", "selftest-allreduce-4").stdout + CRITERION)
        self.assertFails(self.gradstorm("replay-seed", "1", path), 4, "[[criterion]]")
        done = self.gradstorm("replay-seed", "1", "selftest-allreduce-4", "--set", "transport.memory=cuda")
        self.assertFails(done, 4, "transport.memory")

    def test_names_what_changes_nothing(self):
        done = self.gradstorm("replay-seed", "1", "selftest-allreduce-4", "--set", "transport.idle=spin", "--set",
                              'transport.capture="frames.pcapng"', "--set",
                              "transport.congestion_control=dcqcn")
        self.assertEqual(done.returncode, 0, done.stderr)
        for key in ("transport.idle = spin", "transport.capture = frames.pcapng", "transport.congestion_control = dcqcn"):
            self.assertIn(f"{key} changes nothing", done.stderr)


class Selftest(ProgramTest):
    def test_passes(self):
        done = self.gradstorm("selftest", timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(all(line.startswith("ok") for line in done.stdout.splitlines()))

    def test_interrupted_it_leaves_nothing(self):
        scratch = self.folder / "tmp"
        scratch.mkdir()
        self.environment["TMPDIR"] = str(scratch)
        process = self.start("selftest")
        deadline = time.monotonic() + 30
        while not any(scratch.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2, errors)
        self.assertIn("interrupted", errors)
        self.assertEqual(list(scratch.iterdir()), [])

    def test_without_a_temporary_folder(self):
        self.environment["TMPDIR"] = str(self.folder / "nowhere")
        self.assertFails(self.gradstorm("selftest"), 3, "TMPDIR")


if __name__ == "__main__":
    main()
