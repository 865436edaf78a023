// Finds the ranks that hold up a job when a deadline has passed: follows which rank waits for which to the end, since a
// rank that is waited for may itself wait. Plain data; how ranks tell each other is up to the controls.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace sgd::comm {

// Waits that a rank may have at the same time: a collective, a message of a channel, an agreement, and an agreement of
// a thread beside its steps (Control::beside).
enum class WaitKind : uint8_t { kCollective, kMessage, kAgreement, kBeside };
inline constexpr size_t kWaitKinds = 4;
// A wait that has lasted so long is noted.
inline constexpr int64_t kNoteAfterNanoseconds = 10'000'000;

// One wait of a rank, which has lasted for a moment at least.
struct RankWait {
  std::string description;        // "all_reduce #3 (...)"
  std::vector<uint32_t> awaited;  // ranks of the job that have not come
  // Whether it is a wait of a thread beside the steps. Steps do not wait for it, so only such waits lead through it.
  bool is_beside = false;
};

// A rank as others see it now.
struct RankReport {
  bool answers = true;          // a thread beside its computation has answered within a second
  std::vector<RankWait> waits;  // in the thread that computes, and in that of its collectives
  std::string where;            // what it is at, where it waits for nobody and tells
};

struct Blame {
  // The ranks at fault, in rising order: those that do not answer; without any, those that wait for nobody. Empty when
  // all wait for each other.
  std::vector<uint32_t> ranks;
  // "rank 1 waits for rank 2 in all_reduce #3 (...)" for each wait on the way to them, or along the cycle.
  std::vector<std::string> path;
  bool do_not_answer = false;
  std::string where;  // "rank 2 is at ..." of ranks at fault that tell; may be empty
};

// `own` is the wait of rank `asker` that has taken too long, `reports` are by rank.
Blame FindBlame(uint32_t asker, const RankWait& own, absl::Span<const RankReport> reports);

// DeadlineExceeded: "DESCRIPTION: rank 2 sent nothing within 30s", where a rank at fault is one of `own.awaited`; else
// how the wait leads to the ranks at fault; or the cycle. `owes` is " sent nothing", `name` gives "rank 2 (host b)".
// Without blame, all awaited ranks are named. Behind it comes what `blame` says of where they are.
absl::Status LateError(const RankWait& own, const std::optional<Blame>& blame, std::string_view owes,
                       absl::Duration timeout, const std::function<std::string(uint32_t rank)>& name = nullptr);

// "rank 2 is at ..." of a rank's text; a sentence of a message for each of the first ranks alone.
std::string WhereText(uint32_t rank, std::string_view where);
inline constexpr size_t kToldRanks = 2;

// The first rank that a message of LateError names as at fault, whatever was put before it; nothing in other messages.
std::optional<uint32_t> BlamedRank(std::string_view message);

}  // namespace sgd::comm
