// Thin: each method is one or two calls of the driver.
#include "targets/gpu/device/cuda_queues.h"

#include <utility>

#include "absl/memory/memory.h"

namespace sgd::cuda {
namespace {

class GraphNode final : public device::Node {
 public:
  GraphNode(std::shared_ptr<const Driver> driver, CUstream stream, ExecutableGraph graph)
      : driver_(std::move(driver)), stream_(stream), graph_(std::move(graph)) {}

  absl::Status Execute() override {
    return driver_->Check(driver_->cuGraphLaunch(graph_.get(), stream_), "cannot launch a graph");
  }

 private:
  std::shared_ptr<const Driver> driver_;
  CUstream stream_;
  ExecutableGraph graph_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CudaQueues>> CudaQueues::Create(std::shared_ptr<const Driver> driver) {
  auto queues = absl::WrapUnique(new CudaQueues(std::move(driver)));
  if (absl::Status status = queues->Reserve(1, 0); !status.ok()) return status;
  return queues;
}

absl::Status CudaQueues::Reserve(uint32_t streams, uint32_t events) {
  while (streams_.size() < streams) {
    CUstream stream = nullptr;
    absl::Status status =
        driver_->Check(driver_->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cannot make a stream");
    if (!status.ok()) return status;
    streams_.emplace_back(driver_, stream);
  }
  while (events_.size() < events) {
    CUevent event = nullptr;
    absl::Status status =
        driver_->Check(driver_->cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "cannot make an event");
    if (!status.ok()) return status;
    events_.emplace_back(driver_, event);
  }
  return absl::OkStatus();
}

absl::Status CudaQueues::Record(uint32_t stream, uint32_t event) {
  return driver_->Check(driver_->cuEventRecord(events_[event].get(), streams_[stream].get()), "cannot record an event");
}

absl::Status CudaQueues::Wait(uint32_t stream, uint32_t event) {
  return driver_->Check(driver_->cuStreamWaitEvent(streams_[stream].get(), events_[event].get(), CU_EVENT_WAIT_DEFAULT),
                        "cannot wait for an event");
}

// Thread-local: other threads of the process, such as NCCL's, may call the driver meanwhile.
absl::Status CudaQueues::BeginRecording() {
  return driver_->Check(driver_->cuStreamBeginCapture(compute(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                        "cannot begin to capture a graph");
}

absl::StatusOr<std::unique_ptr<device::Node>> CudaQueues::EndRecording() {
  CUgraph captured = nullptr;
  absl::Status status = driver_->Check(driver_->cuStreamEndCapture(compute(), &captured), "cannot capture a graph");
  if (!status.ok()) return status;
  const Graph graph(driver_, captured);
  CUgraphExec executable = nullptr;
  status = driver_->Check(driver_->cuGraphInstantiate(&executable, captured, 0), "cannot instantiate a graph");
  if (!status.ok()) return status;
  return std::make_unique<GraphNode>(driver_, compute(), ExecutableGraph(driver_, executable));
}

absl::StatusOr<bool> CudaQueues::IsIdle() {
  for (const Stream& stream : streams_) {
    const CUresult result = driver_->cuStreamQuery(stream.get());
    if (result == CUDA_ERROR_NOT_READY) return false;
    if (absl::Status status = driver_->Check(result, "the GPU"); !status.ok()) return status;
  }
  return true;
}

absl::Status CudaQueues::Synchronize() {
  for (const Stream& stream : streams_) {
    absl::Status status = driver_->Check(driver_->cuStreamSynchronize(stream.get()), "the GPU");
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace sgd::cuda
