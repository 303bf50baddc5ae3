# SPDX-License-Identifier: Apache-2.0
"""The dependency rules of docs/architecture.md, section 3, as data. Who may include whom, and which outside library.

A folder not named here may not exist, so that each new folder decides its place in the order first.
"""

# What every folder may use.
EVERYWHERE = {"base"}

_RESULTS = {"engine/wire", "engine/measure", "engine/events"}
_SCHEDULE = _RESULTS | {"engine/collective", "engine/topology"}
_CALLS = _SCHEDULE | {"profiles", "engine/workload", "engine/flow"}
_PLANNED = _CALLS | {"engine/plan"}
_ENGINE = _PLANNED | {"engine/transport", "engine/roce", "engine/fabric", "engine/memory", "engine/cluster",
                      "engine/replay", "engine/suite", "engine/host"}
_BACK_END = _RESULTS | {"engine/transport", "engine/roce", "engine/fabric", "engine/memory"}
_STORAGE = {"storage/store", "storage/analysis", "storage/report"}

# folder -> the other folders whose headers it may include. A folder's subfolders follow its rule unless named.
FOLDERS = {
    "base": set(),
    "profiles": set(),
    # The order of the engine: each only what stands before it.
    "engine/wire": set(),
    "engine/measure": {"engine/wire"},
    "engine/events": {"engine/wire", "engine/measure"},
    "engine/collective": _RESULTS,
    "engine/topology": _RESULTS,
    "engine/workload": _SCHEDULE | {"profiles"},
    "engine/flow": _SCHEDULE | {"profiles"},
    "engine/plan": _CALLS,
    # Moving data. Interfaces first; a back end is known only to the place that composes the program.
    "engine/transport": _RESULTS,
    "engine/memory": _RESULTS,
    "engine/cluster": _RESULTS,
    "engine/roce": _PLANNED | {"engine/transport"},
    "engine/fabric": _PLANNED | {"engine/transport"},
    # A run in virtual time brings its own software HCAs and fabric: neither is a back end of a device.
    "engine/replay": _PLANNED | {"engine/transport", "engine/memory", "engine/cluster", "engine/roce", "engine/fabric"},
    "engine/suite": _PLANNED | {"engine/transport", "engine/memory", "engine/cluster", "engine/replay"},
    "engine/host": _RESULTS,
    "engine/transport/dpdk": _BACK_END,
    "engine/transport/verbs": _BACK_END,
    "engine/memory/cuda": _BACK_END,
    "engine/cluster/mpi": _BACK_END | {"engine/cluster"},
    # Results at rest. The store keeps profiles as text, so it needs no profile type.
    "storage/store": {"engine/measure", "engine/events", "storage/analysis"},
    "storage/analysis": {"engine/measure", "engine/events", "engine/plan", "storage/report"},
    "storage/report": {"engine/measure", "engine/events", "engine/plan", "storage/analysis"},
    # The two programs.
    "engine/app": _ENGINE | _STORAGE,
    "gui/plot": set(),
    "gui/models": {"profiles", "engine/measure", "engine/events", "engine/plan"} | _STORAGE,
    "gui/documents": {"profiles", "engine/measure", "engine/events", "engine/plan", "gui/plot", "gui/models"} | _STORAGE,
    "gui/shell": {"profiles", "engine/measure", "engine/events", "engine/plan", "gui/plot", "gui/models",
                  "gui/documents"} | _STORAGE,
    "gui/app": {"gui/plot", "gui/models", "gui/documents", "gui/shell"} | _STORAGE,
    # Tests look at everything.
    "tests": {"profiles", "engine", "storage", "gui", "tests"},
}

# Files that may include more than their folder.
FILES = {
    "engine/app/compose.cpp": {"engine/transport/dpdk", "engine/transport/verbs", "engine/memory/cuda",
                               "engine/cluster/mpi"},
}

# An outside library: its headers (regular expression), the folders that may include it ("*": all), the files besides,
# and whether it must not spread: seen in .cpp files, and in headers that nothing outside their folder includes (it is
# slow to compile, or its types are nobody else's business).
LIBRARIES = [
    # name, headers, folders, files, must not spread
    ("DPDK", r"rte_.*", {"engine/transport/dpdk"}, {"engine/app/compose.cpp"}, False),
    ("verbs", r"(infiniband|rdma)/.*", {"engine/transport/verbs"}, {"engine/app/compose.cpp"}, True),
    ("CUDA", r"cuda.*\.h|nvml\.h", {"engine/memory/cuda"}, {"engine/app/compose.cpp"}, True),
    ("MPI", r"mpi\.h", {"engine/cluster/mpi"}, {"engine/app/compose.cpp"}, True),
    ("SQLite", r"SQLiteCpp/.*|sqlite3\.h", {"storage/store"}, set(), True),
    ("Qt widgets", r"Q[A-Z]\w*|Qt\w+/.*|qcustomplot\.h", {"gui"}, set(), False),
    ("CLI11", r"CLI/.*", {"engine/app"}, set(), True),
    ("toml++", r"toml\+\+/.*|toml\+\+\.h", {"profiles"}, set(), True),
    ("nlohmann-json", r"nlohmann/.*", {"*"}, set(), True),
    # version.cpp tells which versions of the libraries a run used.
    ("OpenSSL", r"openssl/.*", {"base"}, {"engine/app/version.cpp"}, True),
    ("zlib", r"zlib\.h", {"engine/events", "engine/workload", "storage/store"}, {"engine/app/version.cpp"}, True),
    ("GoogleTest", r"(gtest|gmock)/.*", set(), set(), False),
    ("Google Benchmark", r"benchmark/.*", set(), set(), False),
]

# Folders that may use Qt, but of it only the non-graphical part.
QT_CORE_ONLY = {"gui/models"}
QT_CORE_HEADERS = r"QtCore/.*|Q(Abstract\w*Model|Object|String\w*|Variant\w*|Model\w+|Hash|List|Map|Set|Vector|Date\w*|Timer)"

# Time is injected (section 10.1): these folders are stepped, so they read no clock, never wait and start no thread.
PASSIVE = {"engine/wire", "engine/collective", "engine/workload", "engine/plan", "engine/roce", "engine/fabric",
           "engine/memory", "profiles"}
CLOCKS_AND_WAITS = (r"\b(steady|system|high_resolution)_clock::now|\bclock_gettime\b|\b__?rdtscp?\b|\b_rdtsc\b"
                    r"|\brte_rdtsc\w*|\brte_get_tsc_cycles\b|\bsleep_(for|until)\b|\b(u|nano)sleep\s*\(")
THREAD_HEADERS = {"thread", "mutex", "condition_variable", "future", "semaphore", "latch", "barrier", "shared_mutex"}
