// Streams and events of one GPU, and recordings of streams as CUDA graphs.
#pragma once

#include <memory>
#include <vector>

#include "runtime/device/streams.h"
#include "targets/gpu/device/driver/driver.h"
#include "targets/gpu/device/driver/ranges.h"

namespace sgd::cuda {

class CudaStreams final : public device::Streams {
 public:
  // The context must be current on this thread, and stay so.
  static absl::StatusOr<std::unique_ptr<CudaStreams>> Create(std::shared_ptr<const Driver> driver);

  absl::Status Reserve(uint32_t streams, uint32_t events) override;
  void Use(uint32_t stream) override { used_ = stream; }
  absl::Status Record(uint32_t stream, uint32_t event) override;
  absl::Status Wait(uint32_t stream, uint32_t event) override;
  absl::StatusOr<std::unique_ptr<device::Event>> MakeEvent(bool timed) override;
  void BeginRange(const char* name) override { cuda::BeginRange(name); }
  void EndRange() override { cuda::EndRange(); }
  absl::Status BeginRecording() override;
  device::PreparedThunk EndRecording() override;
  absl::StatusOr<bool> IsIdle() override;

  // Waits for all streams; the first error of what they ran.
  absl::Status Synchronize();

  const Driver& driver() const { return *driver_; }
  // The stream that thunks go to.
  CUstream used() const { return streams_[used_].get(); }
  CUstream compute() const { return streams_[0].get(); }
  CUstream copies() const { return copies_.get(); }
  CUstream stream(uint32_t stream) const { return stream == kCopies ? copies() : streams_[stream].get(); }

 private:
  explicit CudaStreams(std::shared_ptr<const Driver> driver) : driver_(std::move(driver)) {}
  absl::StatusOr<Stream> MakeStream(int priority) const;
  // All of them: the numbered ones, then that of copies.
  CUstream StreamAt(size_t i) const { return i < streams_.size() ? streams_[i].get() : copies(); }

  std::shared_ptr<const Driver> driver_;
  // Smaller is more urgent.
  int least_priority_ = 0, greatest_priority_ = 0;
  Stream copies_;
  std::vector<Stream> streams_;
  std::vector<Event> events_;
  uint32_t used_ = 0;
};

}  // namespace sgd::cuda
