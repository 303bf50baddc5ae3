# SPDX-License-Identifier: Apache-2.0
"""Runs of two processes over shared memory, and processes that are killed: what survives, and what is said."""

import json
import random
import signal
import sqlite3
import time

from gradstorm_program import ProgramTest, main

TWO_NODES = """
format = 1
[run]
repetitions = {repetitions}
iterations = {iterations}
warmup = 1
[cluster]
nodes = 2
gpus_per_node = 1
[[job]]
name = "pair"
calls = [{{op = "all_reduce", bytes = "{size}"}}]
[transport]
fabric = "ports"
payload = "memory"
timeout = "20ms"
[[port]]
name = "left"
node = 0
device = "net_memif0,role=server,socket={socket}"
address = "198.18.0.1/24"
[[port]]
name = "right"
node = 1
device = "net_memif1,role=client,socket={socket}"
address = "198.18.0.2/24"
"""


class TwoProcesses(ProgramTest):
    def profile(self, **values):
        settings = {"repetitions": 2, "iterations": 3, "size": "1MiB", "socket": self.folder / "memif.sock"}
        return self.write("two.toml", TWO_NODES.format(**{**settings, **values}))

    def start_node(self, node, profile):
        return self.start("run", profile, "--node", node, "--rendezvous", f"unix:{self.folder}/meet.sock", "--format",
                          "json", "--store", self.folder / f"node{node}.db")

    def runs(self, node):
        listed = self.gradstorm("list", "--json", "--store", self.folder / f"node{node}.db")
        return json.loads(listed.stdout)

    def test_verified_over_memif(self):
        profile = self.profile()
        nodes = [self.start_node(node, profile) for node in (0, 1)]
        for node, process in enumerate(nodes):
            output, errors = process.communicate(timeout=90)
            self.assertEqual(process.returncode, 0, errors)
            text = json.dumps(json.loads(output))
            self.assertIn("ports", text)
            self.assertEqual(self.runs(node)[0]["outcome"], "pass")

    def test_kill_of_one_ends_the_other_within_five_seconds(self):
        profile = self.profile(repetitions=1000, iterations=200)
        survivor, victim = self.start_node(0, profile), self.start_node(1, profile)
        self.wait_until_running(node=0)
        time.sleep(1.0)
        victim.send_signal(signal.SIGKILL)
        killed_at = time.monotonic()
        _, errors = survivor.communicate(timeout=30)
        self.assertLess(time.monotonic() - killed_at, 5.0)
        self.assertEqual(survivor.returncode, 3, errors)
        self.assertIn("node 1", errors)
        (run,) = self.runs(0)
        self.assertEqual(run["outcome"], "error")
        self.assertIn("node 1", run["reason"])
        shown = json.loads(self.gradstorm("show", "1", "--format", "json", "--store", self.folder / "node0.db").stdout)
        self.assertIn("completion", json.dumps(shown))
        # The killed one's record is complete up to its death.
        (lost,) = self.runs(1)
        self.assertEqual(lost["outcome"], "interrupted")

    def wait_until_running(self, node):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                with sqlite3.connect(f"file:{self.folder}/node{node}.db?mode=ro", uri=True) as database:
                    if database.execute("SELECT count(*) FROM runs").fetchone()[0]:
                        return
            except sqlite3.OperationalError:
                pass
            time.sleep(0.05)
        self.fail("the run did not begin")

    def test_waiting_for_a_node_can_be_interrupted(self):
        profile = self.profile()
        process = self.start_node(0, profile)
        deadline = time.monotonic() + 30
        while not (self.folder / "meet.sock").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.2)
        self.assertIsNone(process.poll(), "waits for node 1")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=10)
        self.assertEqual(process.returncode, -signal.SIGINT)

    def test_nodes_that_disagree(self):
        self.profile()
        other = self.write("three.toml", TWO_NODES.format(repetitions=2, iterations=3, size="1MiB",
                                                          socket=self.folder / "memif.sock").replace("nodes = 2",
                                                                                                     "nodes = 3"))
        first = self.start_node(0, self.folder / "two.toml")
        second = self.start_node(1, other)
        _, errors = second.communicate(timeout=60)
        self.assertNotEqual(second.returncode, 0)
        self.assertIn("expects", errors)
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=60)


class Stopping(ProgramTest):
    LONG = ["selftest-allreduce-4", "--set", "run.repetitions=100000", "--set", "run.iterations=1"]

    # One repetition that would take an hour.
    ENDLESS = ["selftest-allreduce-4", "--set", "run.repetitions=1", "--set", "run.iterations=30000000"]

    def wait_for(self, event):
        events = self.folder / "events.jsonl"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if events.exists() and event in events.read_text(encoding="utf-8"):
                return
            time.sleep(0.05)
        self.fail(f"no event {event}")

    def stop_with(self, signals, subject, event):
        process = self.start("run", *subject, "--events", self.folder / "events.jsonl")
        self.wait_for(event)
        for number in signals:
            process.send_signal(number)
        output, errors = process.communicate(timeout=30)
        return process.returncode, output, errors

    def test_interrupt_drains_and_stores(self):
        code, _, errors = self.stop_with([signal.SIGINT], self.LONG, "repetition_finished")
        self.assertEqual(code, 2, errors)
        self.assertIn("interrupted", errors)
        (run,) = json.loads(self.gradstorm("list", "--json").stdout)
        self.assertEqual(run["outcome"], "interrupted")

    def test_store_locked_to_the_end_is_an_error_and_nothing_is_lost(self):
        process = self.start("run", *self.LONG, "--events", self.folder / "events.jsonl")
        self.wait_for("repetition_finished")
        with sqlite3.connect(self.store, isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
            other.execute("ROLLBACK")
        self.assertEqual(process.returncode, 3, errors)
        self.assertIn("locked by another program", errors)
        self.assertNotIn("stored as", errors)
        (journal,) = self.store.parent.glob("*.gsjournal")
        self.assertIn(str(journal), errors)
        (run,) = json.loads(self.gradstorm("list", "--json").stdout)
        self.assertEqual(run["outcome"], "error")

    def test_second_interrupt_aborts_and_stores(self):
        code, _, errors = self.stop_with([signal.SIGTERM, signal.SIGINT], self.ENDLESS, "repetition_started")
        self.assertEqual(code, 2, errors)
        self.assertIn("aborted in", errors)
        (run,) = json.loads(self.gradstorm("list", "--json").stdout)
        self.assertEqual(run["outcome"], "interrupted")

    def test_a_hundred_kills_lose_nothing_acknowledged(self):
        """Acknowledged: the event was on --events, which the program writes after its journal."""
        chance = random.Random(5)
        for attempt in range(100):
            events = self.folder / f"events-{attempt}.jsonl"
            process = self.start("run", *self.LONG, "--events", events)
            time.sleep(chance.uniform(0.02, 0.6))
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=30)
        listed = json.loads(self.gradstorm("list", "--json").stdout)
        self.assertEqual({run["outcome"] for run in listed}, {"interrupted"})
        with sqlite3.connect(self.store) as database:
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchone()[0], "ok")
        by_uuid = {run["uuid"]: run["run"] for run in listed}
        finished = 0
        for attempt in range(100):
            path = self.folder / f"events-{attempt}.jsonl"
            lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
            whole = [json.loads(line) for line in lines if line.endswith("}")]
            if not whole:
                continue
            repetitions = sum("repetition_finished" in json.dumps(event) for event in whole)
            uuid = next(event["uuid"] for event in whole if "uuid" in event)
            self.assertIn(uuid, by_uuid)
            shown = json.loads(self.gradstorm("show", by_uuid[uuid], "--format", "json").stdout)
            stored = sum(len(measurement["calls"][0]["completion"]["by_repetition_ns"])
                         for measurement in shown["measurements"])
            self.assertGreaterEqual(stored, repetitions, f"attempt {attempt}")
            finished += repetitions
        self.assertGreater(finished, 0, "no run lived long enough to say anything")


if __name__ == "__main__":
    main()
