// Agreements that know how long they have waited.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "runtime/clock/steady_clock.h"
#include "runtime/comm/control/agreements.h"

namespace sgd::watch {

// Borrows `ranks`. As theirs, used by one thread at a time.
class TimedAgreements final : public comm::Agreements {
 public:
  explicit TimedAgreements(comm::Agreements& ranks) : ranks_(ranks) {}

  absl::Duration waited() const { return waited_; }

  uint32_t rank() const override { return ranks_.rank(); }
  uint32_t size() const override { return ranks_.size(); }
  bool spans_hosts() const override { return ranks_.spans_hosts(); }
  absl::Status Barrier(absl::Duration timeout) override {
    return Timed([&] { return ranks_.Barrier(timeout); });
  }
  absl::StatusOr<std::vector<std::string>> AllGatherBytes(std::string_view bytes, absl::Duration timeout) override {
    return Timed([&] { return ranks_.AllGatherBytes(bytes, timeout); });
  }
  absl::StatusOr<std::vector<std::string>> GatherBytes(std::string_view bytes, absl::Duration timeout) override {
    return Timed([&] { return ranks_.GatherBytes(bytes, timeout); });
  }

 private:
  template <typename Function>
  std::invoke_result_t<Function> Timed(Function function) {
    const absl::Time begin = SteadyNow();
    auto result = function();
    waited_ += SteadyNow() - begin;
    return result;
  }

  comm::Agreements& ranks_;
  absl::Duration waited_;
};

}  // namespace sgd::watch
