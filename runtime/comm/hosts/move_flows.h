// The messages between two ranks of a collective that moves bytes, while it is executed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "runtime/comm/hosts/flow.h"
#include "runtime/comm/hosts/host_links.h"
#include "runtime/comm/hosts/two_level_plan.h"

namespace sgd::comm {

// One direction: this rank sends, or receives and stores to ranks of its host.
class MoveFlow final : public Flow {
 public:
  // Opens the link. `move` is borrowed.
  static absl::StatusOr<MoveFlow> Create(HostLinks& links, const Move& move, bool sends);

  // Memory for messages that it uses while it is executed.
  uint64_t staging_bytes() const { return Buffers() * move_->chunk_bytes; }

  // Passes on the messages that `earlier` receives. It is borrowed.
  void SendAfter(const MoveFlow* earlier) { earlier_ = earlier; }

  // Starts over. Windows by index on the host; `own` is this rank's.
  void Begin(std::byte* staging, absl::Span<std::byte* const> host_windows, uint32_t own);
  Advance Step() override;
  void Compute(TileScratch& scratch) override;
  bool IsDone() const override;
  void AppendAwaited(AwaitedPeers* awaited) const override;

 private:
  MoveFlow(const Move& move, bool sends, HostLink* link) : move_(&move), sends_(sends), link_(link) {}
  static constexpr uint64_t kSendBuffers = 4;
  uint64_t Buffers() const { return std::min<uint64_t>(chunks(), sends_ ? kSendBuffers : HostLink::kPosted); }
  size_t chunks() const {
    return static_cast<size_t>((move_->end - move_->begin + move_->chunk_bytes - 1) / move_->chunk_bytes);
  }
  uint64_t BeginOf(size_t chunk) const { return move_->begin + chunk * move_->chunk_bytes; }
  uint64_t EndOf(size_t chunk) const { return std::min(move_->end, BeginOf(chunk + 1)); }
  std::byte* Buffer(size_t chunk) const { return staging_ + chunk % Buffers() * move_->chunk_bytes; }
  // Whether the work on memory for the next message is done; asks for it where not.
  bool IsComputed();
  bool Send();
  bool Receive();
  bool StoresElsewhere(const std::byte* place) const;

  const Move* move_;
  bool sends_;
  HostLink* link_;
  const MoveFlow* earlier_ = nullptr;
  std::byte* staging_ = nullptr;
  absl::Span<std::byte* const> host_windows_;
  std::byte* own_window_ = nullptr;
  uint64_t first_ = 0;   // number of the first message
  size_t begun_ = 0;     // chunks sent, or posted
  size_t consumed_ = 0;  // chunks taken
  bool needs_compute_ = false, is_computed_ = false;
};

}  // namespace sgd::comm
