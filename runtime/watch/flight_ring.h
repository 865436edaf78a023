// The last moments of a rank: its steps and instructions as they begin, in a ring of memory that its launcher shares
// and reads when the rank is dead.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "runtime/clock/steady_clock.h"

namespace sgd::watch {

enum class FlightKind : uint16_t {
  kStep = 1,     // begins: `number` is the step, `program` the position of its program in the artifact
  kInstruction,  // begins: its position in the program
  kWaited,       // the collective or message that has begun last is complete
  kStepEnded,    // `number` is the step
  kFills,        // the inputs of the next step
  kSaves,        // a checkpoint
};

struct FlightRecord {
  int64_t nanoseconds = 0;  // of the steady clock, which all processes of a host share
  uint32_t number = 0;
  FlightKind kind = {};
  uint16_t program = 0;
};
static_assert(sizeof(FlightRecord) == 16);

// One thread writes. Starts as zeros.
struct FlightRing {
  static constexpr size_t kRecords = 1 << 15;

  // A clock reading and two stores.
  void Write(FlightKind kind, uint64_t number, uint16_t program = 0) {
    const uint64_t at = written.load(std::memory_order_relaxed);
    records[at % kRecords] = {SteadyNanoseconds(), static_cast<uint32_t>(number), kind, program};
    written.store(at + 1, std::memory_order_release);
  }

  std::atomic<uint64_t> written;
  std::array<FlightRecord, kRecords> records;
};

// Rings for ranks that are forked after it was made: memory that all of them share, half a MiB each, as far as it is
// written.
class FlightBoard {
 public:
  static absl::StatusOr<std::unique_ptr<FlightBoard>> Create(uint32_t ranks);
  ~FlightBoard();
  FlightBoard(const FlightBoard&) = delete;
  FlightBoard& operator=(const FlightBoard&) = delete;

  uint32_t ranks() const { return ranks_; }
  FlightRing& ring(uint32_t rank) { return rings_[rank]; }
  const FlightRing& ring(uint32_t rank) const { return rings_[rank]; }

 private:
  FlightBoard(FlightRing* rings, uint32_t ranks) : rings_(rings), ranks_(ranks) {}

  FlightRing* const rings_;
  const uint32_t ranks_;
};

}  // namespace sgd::watch
