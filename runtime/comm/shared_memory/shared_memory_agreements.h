// Meetings of all ranks of a host by arrivals and a staging slot of their own, apart from collectives.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "runtime/comm/control/agreements.h"
#include "runtime/comm/control/blame.h"
#include "runtime/comm/shared_memory/group_barrier.h"
#include "runtime/comm/shared_memory/shared_memory_segment.h"

namespace sgd::comm {

class SharedMemoryControl;

class SharedMemoryAgreements final : public Agreements {
 public:
  // Borrows the control of the same rank. `arrivals` of RankFlag and the slot are nobody else's.
  SharedMemoryAgreements(SharedMemoryControl& control, Arrivals RankFlag::* arrivals, uint32_t slot, WaitKind kind);

  uint32_t rank() const override;
  uint32_t size() const override;
  bool spans_hosts() const override { return false; }
  absl::Status Barrier(absl::Duration timeout) override;
  absl::StatusOr<std::vector<std::string>> AllGatherBytes(std::string_view bytes, absl::Duration timeout) override;

 private:
  absl::Status Meet(uint32_t index, absl::Duration timeout, const std::string& description);
  absl::Status ExchangeChunk(std::string_view bytes, absl::Duration timeout, absl::Span<std::string> parts);

  SharedMemoryControl& control_;
  const uint32_t slot_;
  const WaitKind kind_;
  GroupBarrier barrier_;
};

// The values of Arrivals::current outside of prepared collectives, and their names in messages.
inline constexpr uint32_t kBarrierIndex = 0xffffffff;
inline constexpr uint32_t kExchangeIndex = 0xfffffffe;
inline constexpr char kBarrierName[] = "barrier";
inline constexpr char kExchangeName[] = "exchange of the ranks' properties";

// Gathers texts of any length from `ranks` ranks by exchanges of chunks, each of which is appended to its rank's part.
absl::StatusOr<std::vector<std::string>> GatherInChunks(
    uint32_t ranks, std::string_view bytes,
    absl::FunctionRef<absl::Status(std::string_view chunk, absl::Span<std::string> parts)> exchange);

// A chunk as a staging slot holds it: its length, then its bytes.
void PutChunk(std::string_view bytes, std::byte* slot);
void AppendChunk(const std::byte* slot, std::string& part);

}  // namespace sgd::comm
