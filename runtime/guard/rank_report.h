// The report of a rank at a check. All ranks decide by the reports of all, so their decisions are equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace sgd::guard {

// Faults of a step's results, the most severe first.
enum class AlarmKind : uint32_t { kLossNotFinite, kStateNotFinite, kLossLimit, kGradientNormLimit, kNone };

struct Alarm {
  static constexpr uint64_t kNoTensor = ~uint64_t{0};

  AlarmKind kind = AlarmKind::kNone;
  uint64_t step = 0;
  uint64_t tensor = kNoTensor;  // of kStateNotFinite: the input of the program
  double value = 0;             // the loss or the norm
  double limit = 0;             // that it is above

  bool is_set() const { return kind != AlarmKind::kNone; }
};

// A tensor whose bytes have changed between two steps, while nothing wrote it.
struct Change {
  static constexpr uint64_t kNone = ~uint64_t{0};

  uint64_t tensor = kNone;  // the input of the program
  uint64_t steps_done = 0;

  bool is_set() const { return tensor != kNone; }
};

struct RankReport {
  Change change = {};
  Alarm alarm = {};
  uint64_t is_different = 0;           // whether repeated steps have given other bytes than the first time
  std::vector<uint64_t> digests = {};  // of each class of replicas

  std::string Bytes() const;
  // Internal for bytes of another number of `classes`.
  static absl::StatusOr<RankReport> FromBytes(std::string_view bytes, size_t classes);
};

// The first alarm of all ranks: the earliest step, of it the gravest, of these the lowest rank's. `kind` is kNone
// where there is none.
struct FirstAlarm {
  Alarm alarm = {};
  uint32_t rank = 0;
};
FirstAlarm FindFirstAlarm(std::span<const RankReport> reports);

// "rank 1", "ranks 0, 2 and 3".
std::string RanksText(std::span<const uint32_t> ranks);

}  // namespace sgd::guard
