// Thin: each method is one or two calls of the driver.
#include "targets/gpu/device/driver/cuda_streams.h"

#include <utility>

#include "absl/memory/memory.h"

namespace sgd::cuda {
namespace {

class GraphThunk final : public device::Thunk {
 public:
  GraphThunk(std::shared_ptr<const Driver> driver, CUstream stream, ExecutableGraph graph)
      : driver_(std::move(driver)), stream_(stream), graph_(std::move(graph)) {}

  absl::Status Execute() override {
    return driver_->Check(driver_->cuGraphLaunch(graph_.get(), stream_), "cannot launch a graph");
  }

 private:
  std::shared_ptr<const Driver> driver_;
  CUstream stream_;
  ExecutableGraph graph_;
};

class CudaEvent final : public device::Event {
 public:
  CudaEvent(CudaStreams& streams, cuda::Event event) : streams_(streams), event_(std::move(event)) {}

  absl::Status Record(uint32_t stream) override {
    return Check(streams_.driver().cuEventRecord(event_.get(), streams_.stream(stream)), "cannot record an event");
  }
  absl::Status Wait(uint32_t stream) override {
    return Check(streams_.driver().cuStreamWaitEvent(streams_.stream(stream), event_.get(), CU_EVENT_WAIT_DEFAULT),
                 "cannot wait for an event");
  }
  absl::StatusOr<bool> IsReached() override {
    const CUresult result = streams_.driver().cuEventQuery(event_.get());
    if (result == CUDA_ERROR_NOT_READY) return false;
    if (absl::Status status = Check(result, "the GPU"); !status.ok()) return status;
    return true;
  }
  absl::StatusOr<absl::Duration> Since(const device::Event& begin) const override {
    float milliseconds = 0;
    absl::Status status = Check(
        streams_.driver().elapsed_time(&milliseconds, static_cast<const CudaEvent&>(begin).event_.get(), event_.get()),
        "cannot read times of events");
    if (!status.ok()) return status;
    return absl::Milliseconds(static_cast<double>(milliseconds));
  }

 private:
  absl::Status Check(CUresult result, const char* what) const { return streams_.driver().Check(result, what); }

  CudaStreams& streams_;
  cuda::Event event_;
};

absl::StatusOr<Event> MakeDriverEvent(const std::shared_ptr<const Driver>& driver, bool timed) {
  CUevent event = nullptr;
  absl::Status status = driver->Check(driver->cuEventCreate(&event, timed ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING),
                                      "cannot make an event");
  if (!status.ok()) return status;
  return Event(driver, event);
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaStreams>> CudaStreams::Create(std::shared_ptr<const Driver> driver) {
  auto streams = absl::WrapUnique(new CudaStreams(std::move(driver)));
  absl::Status status = streams->driver_->Check(
      streams->driver_->cuCtxGetStreamPriorityRange(&streams->least_priority_, &streams->greatest_priority_),
      "cuCtxGetStreamPriorityRange");
  if (!status.ok()) return status;
  absl::StatusOr<Stream> copies = streams->MakeStream(streams->least_priority_);
  if (!copies.ok()) return copies.status();
  streams->copies_ = *std::move(copies);
  if (absl::Status status = streams->Reserve(1, 0); !status.ok()) return status;
  return streams;
}

absl::StatusOr<Stream> CudaStreams::MakeStream(int priority) const {
  CUstream stream = nullptr;
  absl::Status status = driver_->Check(driver_->cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, priority),
                                       "cannot make a stream");
  if (!status.ok()) return status;
  return Stream(driver_, stream);
}

// Collectives need little of the GPU, and other ranks wait for them: their streams have priority over compute.
absl::Status CudaStreams::Reserve(uint32_t streams, uint32_t events) {
  while (streams_.size() < streams) {
    absl::StatusOr<Stream> stream = MakeStream(streams_.empty() ? least_priority_ : greatest_priority_);
    if (!stream.ok()) return stream.status();
    streams_.push_back(*std::move(stream));
  }
  while (events_.size() < events) {
    absl::StatusOr<Event> event = MakeDriverEvent(driver_, false);
    if (!event.ok()) return event.status();
    events_.push_back(*std::move(event));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<device::Event>> CudaStreams::MakeEvent(bool timed) {
  absl::StatusOr<Event> event = MakeDriverEvent(driver_, timed);
  if (!event.ok()) return event.status();
  return std::make_unique<CudaEvent>(*this, *std::move(event));
}

absl::Status CudaStreams::Record(uint32_t stream, uint32_t event) {
  return driver_->Check(driver_->cuEventRecord(events_[event].get(), streams_[stream].get()), "cannot record an event");
}

absl::Status CudaStreams::Wait(uint32_t stream, uint32_t event) {
  return driver_->Check(driver_->cuStreamWaitEvent(streams_[stream].get(), events_[event].get(), CU_EVENT_WAIT_DEFAULT),
                        "cannot wait for an event");
}

// Thread-local: other threads of the process, such as NCCL's, may call the driver meanwhile.
absl::Status CudaStreams::BeginRecording() {
  return driver_->Check(driver_->cuStreamBeginCapture(compute(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                        "cannot begin to capture a graph");
}

device::PreparedThunk CudaStreams::EndRecording() {
  CUgraph captured = nullptr;
  absl::Status status = driver_->Check(driver_->cuStreamEndCapture(compute(), &captured), "cannot capture a graph");
  if (!status.ok()) return status;
  const Graph graph(driver_, captured);
  CUgraphExec executable = nullptr;
  // Thunks keep the priorities of the streams that they were recorded on.
  status =
      driver_->Check(driver_->cuGraphInstantiate(&executable, captured, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY),
                     "cannot instantiate a graph");
  if (!status.ok()) return status;
  ExecutableGraph owned(driver_, executable);
  // Uploads the graph, which the first launch would otherwise do.
  status = driver_->Check(driver_->cuGraphUpload(executable, compute()), "cannot bring a graph to the GPU");
  if (!status.ok()) return status;
  return std::make_unique<GraphThunk>(driver_, compute(), std::move(owned));
}

absl::StatusOr<bool> CudaStreams::IsIdle() {
  for (size_t i = 0; i <= streams_.size(); ++i) {
    const CUresult result = driver_->cuStreamQuery(StreamAt(i));
    if (result == CUDA_ERROR_NOT_READY) return false;
    if (absl::Status status = driver_->Check(result, "the GPU"); !status.ok()) return status;
  }
  return true;
}

absl::Status CudaStreams::Synchronize() {
  for (size_t i = 0; i <= streams_.size(); ++i) {
    absl::Status status = driver_->Check(driver_->cuStreamSynchronize(StreamAt(i)), "the GPU");
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace sgd::cuda
