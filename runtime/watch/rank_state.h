// The state of a rank as it publishes it (Control::Publish): its last steps, its memory and its checkpoints.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "runtime/watch/step_sample.h"

namespace sgd::watch {

// Whether the host of a rank has other cores for it: too few, or busy with other programs. Unbound ranks have no cores
// of their own. As wide as its neighbours, so that published bytes have no gaps.
enum class OtherCores : uint64_t { kUnknown, kUnbound, kTooFew, kBusy, kIdle };

// Published as its bytes: all ranks of a job run the same build.
struct RankState {
  static constexpr size_t kSamples = 32;

  uint64_t steps = 0;           // that have ended
  uint64_t resident_bytes = 0;  // of the process
  uint64_t checkpoints = 0;     // saved
  double stalled_seconds = 0;   // in which steps waited for them
  OtherCores other_cores = OtherCores::kUnknown;
  std::array<StepSample, kSamples> samples = {};  // of the last steps, a ring: that of step i at i modulo its size

  std::string_view bytes() const { return {reinterpret_cast<const char*>(this), sizeof(*this)}; }
  // Nothing where `bytes` are not those of a state, as before the first step.
  static std::optional<RankState> Of(std::string_view bytes);

  size_t known() const { return static_cast<size_t>(steps < kSamples ? steps : kSamples); }
  // Of the known ones, 0 being the oldest.
  const StepSample& Sample(size_t index) const { return samples[(steps - known() + index) % kSamples]; }
};

static_assert(std::is_trivially_copyable_v<RankState>);

}  // namespace sgd::watch
