#include "runtime/measure/timing.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace sgd::measure {

namespace {

constexpr int kRepetitions = 5;

absl::Status NoNumber(const std::string& text) {
  return absl::InternalError(absl::StrCat("a rank has sent no number: ", text));
}

}  // namespace

absl::StatusOr<double> Agreement::Largest(double number) const {
  absl::StatusOr<std::vector<std::string>> all = control_.AllGatherBytes(absl::StrFormat("%.17g", number), timeout_);
  if (!all.ok()) return all.status();
  double largest = -std::numeric_limits<double>::infinity();
  for (const std::string& text : *all) {
    double one = 0;
    if (!absl::SimpleAtod(text, &one)) return NoNumber(text);
    largest = std::max(largest, one);
  }
  return largest;
}

absl::StatusOr<uint64_t> Agreement::Least(uint64_t number) const {
  absl::StatusOr<std::vector<std::string>> all = control_.AllGatherBytes(absl::StrCat(number), timeout_);
  if (!all.ok()) return all.status();
  uint64_t least = number;
  for (const std::string& text : *all) {
    uint64_t one = 0;
    if (!absl::SimpleAtoi(text, &one)) return NoNumber(text);
    least = std::min(least, one);
  }
  return least;
}

absl::StatusOr<double> Agreement::ShortestOfAll(const std::function<absl::Status()>& body) const {
  using Clock = std::chrono::steady_clock;
  if (absl::Status status = body(); !status.ok()) return status;
  double shortest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRepetitions; ++i) {
    if (absl::Status status = control_.Barrier(timeout_); !status.ok()) return status;
    const Clock::time_point begin = Clock::now();
    if (absl::Status status = body(); !status.ok()) return status;
    // A rank that had to wait for a core before it began has not been quick.
    if (absl::Status status = control_.Barrier(timeout_); !status.ok()) return status;
    const absl::StatusOr<double> slowest = Largest(std::chrono::duration<double>(Clock::now() - begin).count());
    if (!slowest.ok()) return slowest.status();
    shortest = std::min(shortest, *slowest);
  }
  return std::max(shortest, 1e-9);
}

}  // namespace sgd::measure
