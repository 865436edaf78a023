// Measures what watching costs, by the processor time of a thread: the least over many batches, in microseconds, as
// one JSON line. Run on demand; no test.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "runtime/comm/one_host/shared_memory_communicator.h"
#include "runtime/watch/core_delay.h"
#include "runtime/watch/flight_ring.h"
#include "runtime/watch/job_status.h"
#include "runtime/watch/step_watch.h"
#include "runtime/watch/straggler_finder.h"

namespace sgd::watch {
namespace {

constexpr int kBatches = 400;

int64_t ThreadNanoseconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Microseconds of one call.
template <typename Function>
double CostOf(int calls, Function function) {
  int64_t least = INT64_MAX;
  for (int batch = 0; batch < kBatches; ++batch) {
    const int64_t begin = ThreadNanoseconds();
    for (int call = 0; call < calls; ++call) function();
    least = std::min(least, ThreadNanoseconds() - begin);
  }
  return static_cast<double>(least) / 1e3 / calls;
}

// A row of samples of 8 ranks, as rank 0 takes it in: at most once in a step.
double CompareCost() {
  constexpr uint32_t kRanks = 8;
  StragglerFinder finder(std::vector<uint32_t>(kRanks, 0));
  uint32_t step = 2;
  return CostOf(50, [&] {
    for (uint32_t rank = 0; rank < kRanks; ++rank)
      finder.Add(rank, {.step = step, .compute = 0.002f, .wait = 1e-4f * static_cast<float>(rank)});
    ++step;
    finder.Take();
  });
}

int Measure() {
  auto segment = comm::SharedMemorySegment::Create(1, 0);
  if (!segment.ok()) return 1;
  auto communicator = comm::SharedMemoryCommunicator::Connect(*segment, 0, absl::Seconds(10));
  auto board = FlightBoard::Create(1);
  if (!communicator.ok() || !board.ok()) return 1;
  CoreDelay delay;
  auto watch = StepWatch::Create((*communicator)->control(),
                                 {.place = {.host = "h", .cores = "core 0", .group = 0}, .delay = &delay});
  if (!watch.ok()) return 1;
  uint64_t step = 0;
  const double ended = CostOf(100, [&] {
    (*watch)->InputsFilled(absl::Microseconds(1));
    (*watch)->StepEnded(step++, absl::Milliseconds(2), absl::Microseconds(100));
  });
  const double wait = CostOf(1000, [&] {
    delay.BeginWait();
    delay.EndWait();
  });
  StatusKeeper keeper({.first_step = 0, .steps = 1'000'000}, watch->get());
  const double kept = CostOf(100, [&] { keeper.StepEnded(step++, absl::Milliseconds(2), 1.0); });
  const double read = CostOf(10, [&] { static_cast<void>(keeper.Read()); });
  const double state = CostOf(100, [&] { static_cast<void>((*watch)->StateOf(0)); });
  const double record = CostOf(1000, [&] { (*board)->ring(0).Write(FlightKind::kInstruction, 7); });
  std::printf(
      "{\"step_us\": %.3f, \"look_at_rank_us\": %.3f, \"compare_8_ranks_us\": %.3f, \"status_step_us\": %.3f, "
      "\"status_read_us\": %.3f, \"record_us\": %.4f, \"wait_us\": %.3f}\n",
      ended, state, CompareCost(), kept, read, record, wait);
  return 0;
}

}  // namespace
}  // namespace sgd::watch

int main() { return sgd::watch::Measure(); }
