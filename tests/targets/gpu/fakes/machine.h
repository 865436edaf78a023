// Streams, events and graphs of the emulated GPU. Work is done only when someone waits for it, and then in a random
// order among those that events allow, so that a missing event shows. With SGD_EMULATED_NOTHING=1 nothing is done at
// all, and is complete at once: what is left of a step is the host's own work.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <vector>

namespace sgd::emulated {

// CUDA_ERROR_NOT_READY when it has to be called again.
using Operation = std::function<CUresult()>;

// Operations with the ones that come before them.
struct GraphNodes {
  struct Node {
    Operation run;
    std::vector<size_t> after;
  };
  std::vector<Node> nodes;
};

// A graph that has been launched: its operations in a random order among those that it allows.
class GraphRun {
 public:
  explicit GraphRun(std::shared_ptr<const GraphNodes> graph);
  // Runs until all is done, or until what is left is not ready.
  CUresult Advance(std::mt19937& random);

 private:
  std::shared_ptr<const GraphNodes> graph_;
  std::vector<size_t> waits_;              // by node: how many before it are not done
  std::vector<std::vector<size_t>> next_;  // by node
  std::vector<size_t> ready_;
};

// A point that a stream has come to.
struct Completion {
  bool is_done = false;
  double done_at = 0;  // of the host's clock, in milliseconds
};

struct EmulatedEvent {
  bool is_timed = false;
  std::shared_ptr<Completion> recorded = {};  // the last record; null before the first
  // The last record while capturing.
  GraphNodes* graph = nullptr;
  std::set<size_t> after = {};
};

struct EmulatedStream {
  struct Item {
    Operation run;                             // may be null
    std::shared_ptr<Completion> wait, record;  // may be null
  };
  std::vector<Item> items;
  size_t next = 0;  // of items
  // While capturing.
  GraphNodes* graph = nullptr;
  std::set<size_t> after;

  bool is_idle() const { return next == items.size(); }
};

// The streams of one thread: each rank has one that uses the device.
class Machine {
 public:
  static Machine& OfThisThread();

  EmulatedStream* AddStream();
  void RemoveStream(EmulatedStream* stream);

  CUresult Enqueue(EmulatedStream* stream, Operation run);
  CUresult Record(EmulatedStream* stream, EmulatedEvent* event);
  CUresult Wait(EmulatedStream* stream, EmulatedEvent* event);

  CUresult BeginCapture(EmulatedStream* stream);
  // Gives the graph to the caller. CUDA_ERROR_STREAM_CAPTURE_UNJOINED when a stream that joined the capture was not
  // joined back.
  CUresult EndCapture(EmulatedStream* stream, std::unique_ptr<GraphNodes>& graph);
  bool is_capturing() const { return capture_ != nullptr; }

  // The context ends, and its error with it.
  void ForgetError() { error_ = CUDA_SUCCESS; }

  CUresult Launch(EmulatedStream* stream, std::shared_ptr<const GraphNodes> graph);

  // Runs until the stream is idle; the first error of any operation, from then on always. CUDA_ERROR_LAUNCH_TIMEOUT
  // when nothing gets ready for a minute: the driver would wait for ever.
  CUresult Drain(EmulatedStream* stream);
  // The same for all streams, whatever comes of them.
  void DrainAll();
  // Runs a little; CUDA_ERROR_NOT_READY while there is more.
  CUresult Poll(EmulatedStream* stream);
  CUresult Poll(EmulatedEvent* event);

 private:
  Machine();
  // Runs one item of a random stream that can. CUDA_ERROR_NOT_READY when what can run is not ready, and
  // CUDA_ERROR_LAUNCH_TIMEOUT when nothing can: all wait for events of another thread, which this fake has not.
  CUresult Advance();

  std::vector<std::unique_ptr<EmulatedStream>> streams_;
  std::unique_ptr<GraphNodes> capture_;
  EmulatedStream* origin_ = nullptr;
  CUresult error_ = CUDA_SUCCESS;
  bool does_nothing_ = false;
  std::mt19937 random_;
  int fruitless_ = 0;  // calls of Advance since the last that did something
};

}  // namespace sgd::emulated
