// The ranks of a host meet at a name that the first of them has drawn, so that no other job has it.
#include "runtime/launch/host_memory.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/comm/shared_memory/rendezvous.h"

namespace sgd::launch {

void HostMemory::Abort(uint32_t at_fault, const absl::Status& cause) {
  const std::lock_guard lock(mutex_);
  if (segment_ != nullptr) {
    segment_->Abort(at_fault, cause);
  } else if (cause_.ok()) {
    at_fault_ = at_fault;
    cause_ = cause;
  }
}

void HostMemory::Set(std::shared_ptr<comm::SharedMemorySegment> segment) {
  const std::lock_guard lock(mutex_);
  segment_ = std::move(segment);
  if (!cause_.ok()) segment_->Abort(at_fault_, cause_);
}

absl::StatusOr<HostRanks> ShareMemory(comm::Control& control, std::shared_ptr<comm::SharedMemorySegment> segment,
                                      uint32_t first, const LocalRanks& local, uint64_t window_bytes,
                                      absl::Duration timeout, FailurePolicy& policy) {
  HostRanks host;
  if (segment != nullptr) {
    for (uint32_t rank = 0; rank < segment->ranks(); ++rank) host.ranks.push_back(first + rank);
  } else {
    host.ranks = local.alone;
  }
  host.own = static_cast<uint32_t>(std::ranges::find(host.ranks, control.rank()) - host.ranks.begin());
  host.key = absl::StrCat(segment == nullptr ? "a " : "l ", host.ranks[0]);
  host.segment = std::move(segment);
  if (host.segment != nullptr) return host;
  comm::RendezvousOptions options;
  options.name = absl::StrCat("job-", local.name);
  options.rank = host.own;
  options.size = static_cast<uint32_t>(host.ranks.size());
  options.window_bytes = window_bytes;
  options.timeout = timeout;
  options.own_failure = [&] { return control.Poll(); };
  options.note = NotesTo(policy);
  absl::StatusOr<std::shared_ptr<comm::SharedMemorySegment>> made =
      options.size == 1 ? comm::SharedMemorySegment::Create(1, window_bytes) : comm::Rendezvous(options);
  if (!made.ok()) return made.status();
  host.segment = *std::move(made);
  return host;
}

}  // namespace sgd::launch
