// Ranks that are threads and can only meet: enough of a communicator for code that moves no tensors
// through it.
#pragma once

#include <barrier>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/comm/communicator.h"

namespace sgd::checkpoint {

class MeetingCommunicator : public comm::Communicator {
 public:
  MeetingCommunicator(uint32_t rank, uint32_t size, std::barrier<>& barrier)
      : rank_(rank), size_(size), barrier_(barrier) {}

  uint32_t rank() const override { return rank_; }
  uint32_t size() const override { return size_; }
  std::byte* window() override { return nullptr; }
  uint64_t window_bytes() const override { return 0; }
  absl::StatusOr<comm::CollectiveHandle> Prepare(const comm::Mesh&,
                                                 const comm::CollectiveSpec&) override {
    return absl::UnimplementedError("no collectives");
  }
  absl::Status Execute(comm::CollectiveHandle, absl::Duration) override {
    return absl::UnimplementedError("no collectives");
  }
  absl::Status Barrier(absl::Duration) override {
    barrier_.arrive_and_wait();
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<std::string>> AllGatherBytes(std::string_view,
                                                          absl::Duration) override {
    return absl::UnimplementedError("no exchange");
  }
  void Abort(const absl::Status&) override {}
  void Finish() override {}
  uint64_t sent_bytes() const override { return 0; }

 private:
  uint32_t rank_;
  uint32_t size_;
  std::barrier<>& barrier_;
};

// Runs `body` on `size` ranks and returns their outcomes.
inline std::vector<absl::Status> RunRanks(
    uint32_t size, const std::function<absl::Status(comm::Communicator&)>& body) {
  std::barrier<> barrier(size);
  std::vector<absl::Status> outcomes(size);
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      MeetingCommunicator communicator(rank, size, barrier);
      outcomes[rank] = body(communicator);
      // A rank that fails early must not leave the others waiting.
      if (!outcomes[rank].ok()) barrier.arrive_and_drop();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

}  // namespace sgd::checkpoint
