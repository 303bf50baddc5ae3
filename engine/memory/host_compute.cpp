// SPDX-License-Identifier: Apache-2.0
#include "engine/memory/host_compute.h"

#include "engine/memory/sum.h"

#include <algorithm>
#include <cstring>

namespace gradstorm::memory {

namespace {

std::byte* at(std::uint64_t address) { return reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(address)); }

}  // namespace

bool HostCompute::submit(const ComputeJob& job) {
    if (jobs_.full()) return false;
    jobs_.push(job);
    return true;
}

std::size_t HostCompute::poll(std::span<ComputeCompletion> out) {
    std::size_t completed = 0;
    std::uint64_t budget = kQuantum;
    while (!jobs_.empty() && completed < out.size()) {
        const ComputeJob& job = jobs_.front();
        std::uint64_t length = job.length - done_;
        if (length > budget) length = budget - budget % measure::size_of(job.type);  // elements stay whole
        work(job, length);
        budget -= length;
        done_ += length;
        if (done_ < job.length) break;
        out[completed++] = {job.id, mismatch_};
        jobs_.pop();
        done_ = 0;
        mismatch_ = {};
    }
    return completed;
}

void HostCompute::work(const ComputeJob& job, std::uint64_t length) {
    if (length == 0) return;
    std::byte* const to = at(job.to + done_);
    const std::byte* const a = at(job.a + done_);
    switch (job.kind) {
        case ComputeKind::sum: sum(job.type, to, a, at(job.b + done_), length); break;
        case ComputeKind::copy: std::memcpy(to, a, length); break;
        case ComputeKind::fill: fill_pattern({to, length}, *job.pattern, job.phase + done_); break;
        case ComputeKind::verify: {
            const Mismatch part = compare({a, length}, *job.pattern, job.phase + done_, measure::size_of(job.type));
            if (part.wrong_elements == 0) break;
            const std::uint64_t before = mismatch_.wrong_elements;
            if (before == 0) {
                mismatch_ = part;
                mismatch_.first_offset += done_;
            } else {
                mismatch_.wrong_elements = before + part.wrong_elements;
            }
            break;
        }
    }
}

}  // namespace gradstorm::memory
