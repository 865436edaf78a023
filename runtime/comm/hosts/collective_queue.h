// The collectives that have been started, run one after another by the threads that drive the engine.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/comm/hosts/progress_engine.h"
#include "runtime/comm/hosts/stepped_collective.h"

namespace sgd::comm {

// Used under the lock of ProgressEngine.
class CollectiveQueue final : public Operation {
 public:
  // Borrows both. `control` is of this host's ranks.
  CollectiveQueue(ProgressEngine& engine, SharedMemoryControl& control) : engine_(engine), control_(control) {}

  // At most so many collectives are in it at a time.
  void Reserve(size_t collectives) { items_.resize(std::max<size_t>(items_.size(), collectives)); }
  // Appends a collective, which is borrowed, and returns its ticket. `timeout` as of Communicator::Execute.
  uint32_t Push(SteppedCollective& collective, absl::Duration timeout);
  bool HasEnded(uint32_t ticket) const { return static_cast<int32_t>(ended_ - ticket) > 0; }
  // Returns the result of a collective that has ended. After an error none runs, and all later ones have that result.
  absl::Status ResultOf(uint32_t ticket) const;

  Advance Step() override;
  void Compute() override;
  bool IsInFlight() const override { return ended_ != pushed_; }
  void AppendAwaited(AwaitedPeers* awaited) const override;
  void Check(int64_t now) override;
  int64_t SleepLimit(int64_t now) const override;

 private:
  using For = CollectiveWait::For;
  struct Item {
    SteppedCollective* collective = nullptr;
    absl::Duration timeout;
  };
  const Item& head() const { return items_[ended_ % items_.size()]; }
  absl::Status ErrorOfHead(int64_t now) const;
  void NoteHead(int64_t now);
  void Fail(absl::Status error);

  ProgressEngine& engine_;
  SharedMemoryControl& control_;
  std::vector<Item> items_;
  uint32_t pushed_ = 0, ended_ = 0;  // tickets, which wrap around
  bool has_begun_ = false;           // the head
  bool is_ready_ = false;            // for its next step
  bool is_noted_ = false;            // as a wait of this rank
  CollectiveWait wait_;
  absl::Status error_;
  uint32_t first_failed_ = 0;
};

}  // namespace sgd::comm
