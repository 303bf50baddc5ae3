// SPDX-License-Identifier: Apache-2.0
#include "profiles/schema.h"

#include <array>

namespace gradstorm::profiles::schema {
namespace {

constexpr std::uint64_t kKiB = 1ULL << 10U;
constexpr std::uint64_t kGiB = 1ULL << 30U;
constexpr std::uint64_t kPiB = 1ULL << 50U;
constexpr std::uint64_t kMicrosecond = 1'000;
constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kHour = 3600 * kSecond;
constexpr std::uint64_t kMegabit = 1'000'000;
constexpr std::uint64_t kTerabit = 1'000'000'000'000;
constexpr std::uint64_t kIterations = 30'000'000;    ///< a repetition's times are one record of the journal
constexpr std::uint64_t kCount = (1ULL << 32U) - 1;  ///< counters of the engine are 32 bit
constexpr std::uint64_t kNodes = 1ULL << 20U;
constexpr std::uint64_t kGpus = 1ULL << 10U;
constexpr std::uint64_t kRanks = kNodes * kGpus;
constexpr std::uint64_t kWhole = kPartsPerBillion;

constexpr std::string_view kDataTypes = "uint8|int32|int64|float16|bfloat16|float32|float64";

// clang-format off
constexpr auto kKeys = std::to_array<Key>({
    {.name = "format", .type = Type::integer, .required = true, .choices = "1", .help = "version of the profile schema: write format = 1"},
    {.name = "run", .type = Type::table, .help = "how often, how long and from which seed"},
    {.name = "cluster", .type = Type::table, .help = "the shape of the cluster: how many ranks there are and how they sit in nodes and rails"},
    {.name = "job", .type = Type::tables, .help = "what to send, as a training job: a list of collective calls, or a model; jobs run at the same time"},
    {.name = "flow", .type = Type::tables, .help = "what to send, as open-loop traffic between ports, started by [[phase]]; read and kept, not replayed by this version"},
    {.name = "phase", .type = Type::tables, .help = "which flows run together, and for how long; read and kept, not replayed by this version"},
    {.name = "library", .type = Type::table, .help = "the collective library to imitate"},
    {.name = "transport", .type = Type::table, .help = "how messages travel"},
    {.name = "port", .type = Type::tables, .help = "where: a port of this testbed; a file given by --testbed replaces all of them and [bind]"},
    {.name = "bind", .type = Type::table, .help = "where: which rank uses which port or HCA; a file given by --testbed replaces it"},
    {.name = "fault", .type = Type::tables, .help = "a fault to inject into the embedded fabric"},
    {.name = "criterion", .type = Type::tables, .help = "a limit that a result must keep to pass; read and kept, not judged by this version"},
    {.name = "dut", .type = Type::free_table, .help = "free keys: what was set on the device under test, part of the record and of what differs between runs; --dut-file and --dut win over it"},

    {.table = "run", .name = "seed", .type = Type::integer, .fallback = "1", .help = "all random choices and the payload follow from it"},
    {.table = "run", .name = "repetitions", .type = Type::integer, .min = 1, .max = kCount, .fallback = "5", .help = "independent measurements, for statistics"},
    {.table = "run", .name = "warmup", .type = Type::integer, .max = kIterations, .fallback = "5", .help = "iterations before each measurement that are not measured"},
    {.table = "run", .name = "iterations", .type = Type::integer, .min = 1, .max = kIterations, .fallback = "50", .help = "measured iterations of each repetition"},
    {.table = "run", .name = "stall_timeout", .type = Type::duration, .min = 10 * kMillisecond, .max = kHour, .fallback = "5s", .help = "no progress for so long, compute gaps apart, ends the run as failed"},
    {.table = "run", .name = "check", .type = Type::choice, .fallback = "all", .choices = "all|last|none", .help = "which results the payload `memory` verifies: of all iterations, of the last of each repetition, or none"},

    {.table = "cluster", .name = "nodes", .type = Type::integer, .min = 1, .max = kNodes, .fallback = "2", .help = "hosts"},
    {.table = "cluster", .name = "gpus_per_node", .type = Type::integer, .min = 1, .max = kGpus, .fallback = "1", .help = "ranks on each host; nodes x gpus_per_node is the number of ranks"},
    {.table = "cluster", .name = "rails", .type = Type::integer, .min = 1, .max = kGpus, .fallback = "1", .help = "independent planes of the fabric; gpus_per_node is a multiple"},
    {.table = "cluster", .name = "nvlink_domain", .type = Type::integer, .min = 1, .max = kRanks, .fallback = "1", .help = "ranks that reach each other without the fabric"},

    {.table = "job", .name = "name", .type = Type::text, .required = true, .help = "name in results; unlike those of the other jobs"},
    {.table = "job", .name = "dtype", .type = Type::choice, .fallback = "float32", .choices = kDataTypes, .help = "element type of calls that name none"},
    {.table = "job", .name = "overlap", .type = Type::boolean, .fallback = "false", .help = "gaps count from the moment the call before became ready, as in a backward pass, not from its end"},
    {.table = "job", .name = "calls", .type = Type::tables, .help = "the collective calls of one iteration, in order"},
    {.table = "job", .name = "model", .type = Type::text, .help = "in place of calls: the model whose gradient sync is meant; read and kept, not replayed by this version"},
    {.table = "job", .name = "parallelism", .type = Type::table, .help = "with model: how it is spread over the ranks"},
    {.table = "job", .name = "sequence", .type = Type::integer, .min = 1, .max = kCount, .help = "with model: tokens in a sequence"},
    {.table = "job", .name = "micro_batches", .type = Type::integer, .min = 1, .max = kCount, .help = "with model: micro-batches in an iteration"},
    {.table = "job", .name = "prefetch", .type = Type::integer, .max = kCount, .help = "with model: layers whose parameters are gathered ahead"},
    {.table = "job", .name = "compute", .type = Type::table, .help = "with model: how long computation takes"},

    {.table = "job.calls", .name = "op", .type = Type::choice, .required = true, .choices = "all_reduce|reduce_scatter|all_gather|broadcast|all_to_all|send_receive", .help = "the collective"},
    {.table = "job.calls", .name = "elements", .type = Type::integer, .max = kPiB, .help = "size in elements of dtype; exactly one of elements, bytes and sweep is given. The size is the buffer of all_reduce, broadcast and send_receive, and the total over all ranks of the others, as nccl-tests counts"},
    {.table = "job.calls", .name = "bytes", .type = Type::size, .max = 8 * kPiB, .help = "size in bytes, a multiple of dtype"},
    {.table = "job.calls", .name = "sweep", .type = Type::table, .help = "a range of sizes, measured one after the other"},
    {.table = "job.calls", .name = "dtype", .type = Type::choice, .choices = kDataTypes, .help = "element type; that of the job where absent"},
    {.table = "job.calls", .name = "group", .type = Type::integers, .max = kRanks - 1, .help = "the ranks that take part, at least two; all where absent"},
    {.table = "job.calls", .name = "root", .type = Type::integer, .max = kRanks - 1, .fallback = "0", .help = "broadcast: place of the sender in the group, from 0; without a group that is its rank"},
    {.table = "job.calls", .name = "from", .type = Type::integer, .max = kRanks - 1, .help = "send_receive of one pair: place of the sender in the group; without from and to each rank sends to the next"},
    {.table = "job.calls", .name = "to", .type = Type::integer, .max = kRanks - 1, .help = "send_receive of one pair: place of the receiver in the group"},
    {.table = "job.calls", .name = "gap", .type = Type::duration, .max = kHour, .fallback = "0ns", .help = "compute time before the call"},

    {.table = "job.calls.sweep", .name = "from", .type = Type::size, .min = 1, .max = 8 * kPiB, .required = true, .help = "smallest size, a multiple of dtype"},
    {.table = "job.calls.sweep", .name = "to", .type = Type::size, .min = 1, .max = 8 * kPiB, .required = true, .help = "largest size"},
    {.table = "job.calls.sweep", .name = "factor", .type = Type::integer, .min = 2, .max = kKiB, .fallback = "2", .help = "each size is so many times the one before"},

    {.table = "job.parallelism", .name = "dp", .type = Type::integer, .min = 1, .max = kRanks, .help = "data parallel ranks"},
    {.table = "job.parallelism", .name = "fsdp", .type = Type::integer, .min = 1, .max = kRanks, .help = "fully sharded data parallel ranks"},
    {.table = "job.parallelism", .name = "tp", .type = Type::integer, .min = 1, .max = kRanks, .help = "tensor parallel ranks"},
    {.table = "job.parallelism", .name = "pp", .type = Type::integer, .min = 1, .max = kRanks, .help = "pipeline stages"},
    {.table = "job.parallelism", .name = "cp", .type = Type::integer, .min = 1, .max = kRanks, .help = "context parallel ranks"},
    {.table = "job.parallelism", .name = "ep", .type = Type::integer, .min = 1, .max = kRanks, .help = "expert parallel ranks, taken from the data parallel ones"},

    {.table = "job.compute", .name = "mfu", .type = Type::share, .min = 1, .max = kWhole, .required = true, .help = "model FLOP utilisation: share of peak that the model reaches"},
    {.table = "job.compute", .name = "peak", .type = Type::compute_rate, .min = 1, .required = true, .help = "peak rate of one GPU for dtype"},
    {.table = "job.compute", .name = "jitter", .type = Type::share, .max = kWhole, .fallback = "0%", .help = "spread of compute times between ranks"},

    {.table = "flow", .name = "name", .type = Type::text, .required = true, .help = "name in phases and results"},
    {.table = "flow", .name = "from", .type = Type::texts, .required = true, .help = "names of the sending ports"},
    {.table = "flow", .name = "to", .type = Type::text, .required = true, .help = "name of the receiving port"},
    {.table = "flow", .name = "verb", .type = Type::choice, .fallback = "write", .choices = "write|write_immediate|send|read", .help = "RDMA operation"},
    {.table = "flow", .name = "message", .type = Type::size, .min = 1, .max = 2 * kGiB, .required = true, .help = "size of a message"},
    {.table = "flow", .name = "qps", .type = Type::integer, .min = 1, .max = 65'536, .fallback = "1", .help = "queue pairs of each sending port"},
    {.table = "flow", .name = "rate", .type = Type::load, .fallback = "100%", .help = "offered load of each sending port: a rate, a share of its line rate, or packets a second"},
    {.table = "flow", .name = "rate_layer", .type = Type::choice, .fallback = "l1", .choices = "l1|l2|goodput", .help = "what rate counts: l1 with preamble and gap, l2 frames, goodput payload"},
    {.table = "flow", .name = "udp_source_port", .type = Type::source_port, .min = 1, .max = 65'535, .fallback = "random", .help = "of each queue pair: \"random\" by the seed, or the first of consecutive ports"},
    {.table = "flow", .name = "dscp", .type = Type::integer, .max = 63, .help = "in place of transport.dscp"},

    {.table = "phase", .name = "name", .type = Type::text, .required = true, .help = "name in results"},
    {.table = "phase", .name = "flows", .type = Type::texts, .required = true, .help = "names of the flows that run"},
    {.table = "phase", .name = "baseline", .type = Type::text, .help = "name of an earlier phase that this one is compared with"},
    {.table = "phase", .name = "warmup", .type = Type::duration, .max = kHour, .fallback = "0ns", .help = "time before the measurement"},
    {.table = "phase", .name = "duration", .type = Type::duration, .min = kMillisecond, .max = 1'000 * kHour, .required = true, .help = "measured time"},

    {.table = "library", .name = "name", .type = Type::text, .help = "what is imitated, for the record: \"nccl 2.30\""},
    {.table = "library", .name = "algorithm", .type = Type::choice, .fallback = "auto", .choices = "auto|ring", .help = "auto: what the library would choose of those that gradstorm has"},
    {.table = "library", .name = "protocol", .type = Type::choice, .fallback = "auto", .choices = "auto|simple|ll|ll128", .help = "protocol of the library"},
    {.table = "library", .name = "channels", .type = Type::integer, .min = 1, .max = 64, .fallback = "1", .help = "parallel rings, each with its own queue pairs"},
    {.table = "library", .name = "chunk", .type = Type::size, .min = 64, .max = kGiB, .fallback = "1MiB", .help = "largest message at fidelity `messages`"},
    {.table = "library", .name = "fidelity", .type = Type::choice, .fallback = "messages", .choices = "bytes|messages|nccl", .help = "bytes: a message per peer and step; messages: per channel and chunk; nccl: NCCL's work requests"},
    {.table = "library", .name = "slots", .type = Type::integer, .min = 1, .max = 1'024, .fallback = "8", .help = "landing slots of a connection: messages under way before the receiver grants more"},

    {.table = "transport", .name = "engine", .type = Type::choice, .fallback = "dpdk", .choices = "dpdk|verbs", .help = "dpdk: software HCA, frame by frame; verbs: real HCAs"},
    {.table = "transport", .name = "fabric", .type = Type::choice, .choices = "embedded|ports", .help = "embedded: inside this process, without hardware; ports: through [[port]]. Where absent: ports if there is a [[port]] or the engine is verbs, else embedded"},
    {.table = "transport", .name = "payload", .type = Type::choice, .fallback = "synthetic", .choices = "synthetic|memory", .help = "synthetic: constant bytes, for load; memory: real buffers, real sums, results verified"},
    {.table = "transport", .name = "memory", .type = Type::choice, .fallback = "host", .choices = "host|cuda", .help = "where buffers lie"},
    {.table = "transport", .name = "gpudirect", .type = Type::texts, .choices = "dmabuf|peermem|staged", .help = "with memory `cuda`: the allowed ways to GPU memory, tried in order; no silent fallback to others"},
    {.table = "transport", .name = "path_mtu", .type = Type::integer, .fallback = "4096", .choices = "256|512|1024|2048|4096", .help = "largest payload of a frame in bytes"},
    {.table = "transport", .name = "workers", .type = Type::integer, .max = 256, .fallback = "0", .help = "threads; 0: as many as cores allow, at most one a rank"},
    {.table = "transport", .name = "idle", .type = Type::choice, .fallback = "auto", .choices = "auto|spin|yield|wait", .help = "what an idle worker does; auto: spin where each has a core of its own"},
    {.table = "transport", .name = "qps_per_connection", .type = Type::integer, .min = 1, .max = 128, .fallback = "1", .help = "queue pairs over which a connection is spread"},
    {.table = "transport", .name = "send_depth", .type = Type::integer, .min = 1, .max = 32'768, .fallback = "128", .help = "work requests of a send queue"},
    {.table = "transport", .name = "receive_depth", .type = Type::integer, .min = 1, .max = 32'768, .fallback = "512", .help = "receives of a receive queue"},
    {.table = "transport", .name = "window_frames", .type = Type::integer, .min = 1, .max = 32'768, .fallback = "512", .help = "unacknowledged frames of a queue pair; below half of the 24-bit PSN space"},
    {.table = "transport", .name = "timeout", .type = Type::duration, .min = 10 * kMicrosecond, .max = 60 * kSecond, .fallback = "1ms", .help = "time without an ACK after which a queue pair retransmits"},
    {.table = "transport", .name = "retry_limit", .type = Type::integer, .max = 255, .fallback = "7", .help = "retransmissions without progress before a queue pair fails; verbs: at most 7"},
    {.table = "transport", .name = "dscp", .type = Type::integer, .max = 63, .fallback = "26", .help = "DSCP of RoCEv2 frames; 26 is the usual lossless class"},
    {.table = "transport", .name = "service_level", .type = Type::integer, .max = 15, .fallback = "0", .help = "InfiniBand service level"},
    {.table = "transport", .name = "congestion_control", .type = Type::choice, .fallback = "none", .choices = "none|dcqcn", .help = "reaction to congestion notification packets"},
    {.table = "transport", .name = "lossless_priorities", .type = Type::integers, .max = 7, .help = "priorities that honour PFC pause"},
    {.table = "transport", .name = "line_rate", .type = Type::rate, .min = kMegabit, .max = 100 * kTerabit, .help = "of an emulated port, for ceilings; without it no ceiling is given"},
    {.table = "transport", .name = "step_latency", .type = Type::duration, .max = kSecond, .help = "alpha: time from posting a short message to its landing, a step's share of ideal times; without it they rest on bandwidth alone"},
    {.table = "transport", .name = "capture", .type = Type::text, .help = "pcapng file for the frames of one port"},
    {.table = "transport", .name = "capture_port", .type = Type::integer, .max = kRanks - 1, .fallback = "0", .help = "rank whose port is captured"},

    {.table = "port", .name = "name", .type = Type::text, .required = true, .help = "name in flows, bindings and results"},
    {.table = "port", .name = "device", .type = Type::text, .required = true, .help = "PCI address, DPDK virtual device (\"net_memif,...\", \"net_af_packet,iface=...\") or HCA (\"mlx5_0\")"},
    {.table = "port", .name = "address", .type = Type::text, .required = true, .help = "IPv4 or IPv6 address with prefix length: \"198.18.0.10/24\""},
    {.table = "port", .name = "mac", .type = Type::text, .help = "MAC address; where absent the device's own, or a locally administered one"},
    {.table = "port", .name = "node", .type = Type::integer, .max = kNodes - 1, .fallback = "0", .help = "host that has the port, from 0"},

    {.table = "bind", .name = "rule", .type = Type::choice, .fallback = "per_gpu", .choices = "per_gpu|per_node", .help = "per_gpu: a port for each rank; per_node: the ranks of a node share its ports in turn"},
    {.table = "bind", .name = "hca", .type = Type::text, .fallback = "nearest", .help = "\"nearest\" to the GPU, or the name of one"},

    {.table = "fault", .name = "port", .type = Type::integer, .max = kRanks - 1, .help = "rank whose port has the fault"},
    {.table = "fault", .name = "all_ports", .type = Type::boolean, .help = "whether all ports have it; where absent: true unless port is given"},
    {.table = "fault", .name = "drop", .type = Type::share, .max = kWhole, .fallback = "0%", .help = "frames lost at random"},
    {.table = "fault", .name = "duplicate", .type = Type::share, .max = kWhole, .fallback = "0%", .help = "frames delivered twice"},
    {.table = "fault", .name = "reorder", .type = Type::share, .max = kWhole, .fallback = "0%", .help = "frames delivered after a later one"},
    {.table = "fault", .name = "corrupt", .type = Type::share, .max = kWhole, .fallback = "0%", .help = "frames with a flipped bit"},
    {.table = "fault", .name = "ce_mark", .type = Type::share, .max = kWhole, .fallback = "0%", .help = "frames marked congestion experienced"},
    {.table = "fault", .name = "delay", .type = Type::duration, .max = 10 * kSecond, .fallback = "0ns", .help = "added to each frame"},
    {.table = "fault", .name = "rate", .type = Type::rate, .min = kMegabit, .max = 100 * kTerabit, .help = "the port is slowed to it"},

    {.table = "criterion", .name = "metric", .type = Type::choice, .required = true, .choices = "loss|retransmissions|ceiling|goodput|algbw|busbw|completion_time", .help = "what is limited: loss, retransmissions and ceiling are shares, goodput, algbw and busbw rates, completion_time a duration"},
    {.table = "criterion", .name = "phase", .type = Type::text, .help = "only in this phase"},
    {.table = "criterion", .name = "min", .type = Type::limit, .help = "smallest value that passes"},
    {.table = "criterion", .name = "max", .type = Type::limit, .help = "largest value that passes"},
});
// clang-format on

}  // namespace

std::span<const Key> keys() { return kKeys; }

}  // namespace gradstorm::profiles::schema
