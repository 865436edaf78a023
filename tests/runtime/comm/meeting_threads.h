// Ranks that are threads and can only meet.
#pragma once

#include <barrier>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/comm/control/control.h"

namespace sgd::comm {

// Where the threads of one job meet.
struct MeetingPlace {
  explicit MeetingPlace(uint32_t size) : barrier(size), shown(size) {}

  std::barrier<> barrier;
  std::vector<std::string> shown;
};

class MeetingControl : public Control {
 public:
  MeetingControl(uint32_t rank, uint32_t size, MeetingPlace& place, bool spans_hosts)
      : rank_(rank), size_(size), place_(place), spans_hosts_(spans_hosts) {}

  uint32_t rank() const override { return rank_; }
  uint32_t size() const override { return size_; }
  bool spans_hosts() const override { return spans_hosts_; }
  Agreements& beside() override { return *this; }
  absl::Status Barrier(absl::Duration) override {
    place_.barrier.arrive_and_wait();
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<std::string>> AllGatherBytes(std::string_view bytes, absl::Duration) override {
    place_.shown[rank_] = std::string(bytes);
    place_.barrier.arrive_and_wait();
    std::vector<std::string> shown = place_.shown;
    place_.barrier.arrive_and_wait();
    return shown;
  }
  void Abort(const absl::Status&) override {}
  void MarkStateKept() override {}
  void Finish() override {}
  absl::Status Poll() override { return absl::OkStatus(); }
  void RequestStop(int) override {}
  absl::StatusOr<bool> BeginStep(uint64_t, absl::Duration) override { return true; }
  int stop_signal() override { return 0; }

 private:
  uint32_t rank_;
  uint32_t size_;
  MeetingPlace& place_;
  bool spans_hosts_;
};

// Runs `body` on `size` ranks and returns their outcomes.
inline std::vector<absl::Status> RunMeetingRanks(uint32_t size, const std::function<absl::Status(Control&)>& body,
                                                 bool spans_hosts = false) {
  MeetingPlace place(size);
  std::vector<absl::Status> outcomes(size);
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      MeetingControl control(rank, size, place, spans_hosts);
      outcomes[rank] = body(control);
      // A rank that fails early must not leave the others waiting.
      if (!outcomes[rank].ok()) place.barrier.arrive_and_drop();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

}  // namespace sgd::comm
