// Nobody waits for a slot: two meetings, before and behind its reading, keep it.
#include "runtime/comm/shared_memory/shared_memory_agreements.h"

#include <algorithm>
#include <cstring>

#include "runtime/comm/shared_memory/shared_memory_control.h"

namespace sgd::comm {
namespace {

constexpr uint64_t kChunk = SharedMemorySegment::kSlotBytes - sizeof(uint64_t);

}  // namespace

SharedMemoryAgreements::SharedMemoryAgreements(SharedMemoryControl& control, Arrivals RankFlag::* arrivals,
                                               uint32_t slot, WaitKind kind)
    : control_(control), slot_(slot), kind_(kind), barrier_(control.segment(), control.rank(), arrivals) {
  // Steps need the core more than waiters beside them.
  barrier_.set_shares_cores(kind == WaitKind::kBeside || control.barrier().shares_cores());
}

uint32_t SharedMemoryAgreements::rank() const { return control_.rank(); }

uint32_t SharedMemoryAgreements::size() const { return control_.size(); }

absl::Status SharedMemoryAgreements::Meet(uint32_t index, absl::Duration timeout, const std::string& description) {
  barrier_.Begin(index, index);
  return control_.WaitAt(barrier_, control_.world(), timeout, description, barrier_.Arrive(), kind_);
}

absl::Status SharedMemoryAgreements::Barrier(absl::Duration timeout) {
  return Meet(kBarrierIndex, timeout, kBarrierName);
}

absl::StatusOr<std::vector<std::string>> SharedMemoryAgreements::AllGatherBytes(std::string_view bytes,
                                                                                absl::Duration timeout) {
  return GatherInChunks(size(), bytes, [&](std::string_view chunk, absl::Span<std::string> parts) {
    return ExchangeChunk(chunk, timeout, parts);
  });
}

absl::Status SharedMemoryAgreements::ExchangeChunk(std::string_view bytes, absl::Duration timeout,
                                                   absl::Span<std::string> parts) {
  PutChunk(bytes, control_.segment().slot(rank(), slot_));
  if (absl::Status status = Meet(kExchangeIndex, timeout, kExchangeName); !status.ok()) return status;
  for (uint32_t peer = 0; peer < size(); ++peer) AppendChunk(control_.segment().slot(peer, slot_), parts[peer]);
  return Meet(kExchangeIndex, timeout, kExchangeName);
}

absl::StatusOr<std::vector<std::string>> GatherInChunks(
    uint32_t ranks, std::string_view bytes,
    absl::FunctionRef<absl::Status(std::string_view chunk, absl::Span<std::string> parts)> exchange) {
  const uint64_t length = bytes.size();
  std::vector<std::string> lengths(ranks), parts(ranks);
  absl::Status status =
      exchange(std::string_view(reinterpret_cast<const char*>(&length), sizeof(length)), absl::MakeSpan(lengths));
  if (!status.ok()) return status;
  uint64_t longest = 0;
  for (const std::string& peer : lengths) {
    uint64_t value = 0;
    std::memcpy(&value, peer.data(), sizeof(value));
    longest = std::max(longest, value);
  }
  for (uint64_t begin = 0; begin < longest; begin += kChunk) {
    status = exchange(begin < length ? bytes.substr(begin, kChunk) : std::string_view(), absl::MakeSpan(parts));
    if (!status.ok()) return status;
  }
  return parts;
}

void PutChunk(std::string_view bytes, std::byte* slot) {
  const uint64_t length = bytes.size();
  std::memcpy(slot, &length, sizeof(length));
  if (length > 0) std::memcpy(slot + sizeof(length), bytes.data(), length);
}

void AppendChunk(const std::byte* slot, std::string& part) {
  uint64_t length = 0;
  std::memcpy(&length, slot, sizeof(length));
  part.append(reinterpret_cast<const char*>(slot + sizeof(length)), length);
}

}  // namespace sgd::comm
