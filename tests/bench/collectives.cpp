// Times collectives between rank processes of this host through shared memory. usage: collectives RANKS [written]
// With `written` each rank writes its operand before each run, as a program's kernels do; without, an all-reduce in
// place finds in each rank's cache the part that the rank has left there.
// One line per kind (an all-reduce is in place, or "apart"; "copy" is what memory allows) and size: kind, KiB of the
// full vector, ranks, least and median microseconds between barriers, on rank 0.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/comm/one_host/shared_memory_communicator.h"

namespace {

using namespace sgd::comm;

constexpr absl::Duration kTimeout = absl::Seconds(60);
constexpr uint64_t kKib[] = {1, 4, 64, 1024, 4096, 16384, 65536};
constexpr uint64_t kWindow = 2 * (uint64_t{65536} << 10);

// A failure of a benchmark ends it.
template <typename T>
T Must(absl::StatusOr<T> value) {
  if (!value.ok()) {
    std::fprintf(stderr, "%s\n", value.status().ToString().c_str());
    std::exit(1);
  }
  return *std::move(value);
}
void Must(const absl::Status& status) {
  if (!status.ok()) Must(absl::StatusOr<int>(status));
}

// The full vector has `bytes`: the operand of all-reduce and reduce-scatter, the result of all-gather.
CollectiveSpec SpecFor(CollectiveKind kind, bool in_place, uint64_t bytes, uint32_t ranks) {
  const uint64_t elements = bytes / sizeof(float) / ranks * ranks;
  CollectiveOperand operand;
  operand.inner = elements / ranks;
  operand.count = kind == CollectiveKind::kAllGather ? elements / ranks : elements;
  operand.target_offset = in_place ? 0 : kWindow / 2;
  CollectiveSpec spec;
  spec.kind = kind;
  spec.axes = {{0, 1, ranks}};
  spec.operands = {operand};
  return spec;
}

// Writes `written` bytes of its window before each run.
std::vector<double> Time(Communicator& communicator, CollectiveHandle handle, uint64_t written, int iterations) {
  std::vector<double> microseconds;
  for (int i = 0; i < iterations + 3; ++i) {
    float* const window = reinterpret_cast<float*>(communicator.window());
    for (uint64_t element = 0; element < written / sizeof(float); ++element) window[element] = static_cast<float>(i);
    Must(communicator.control().Barrier(kTimeout));
    const auto begin = std::chrono::steady_clock::now();
    Must(communicator.Execute(handle, kTimeout));
    const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - begin;
    if (i >= 3) microseconds.push_back(elapsed.count());
  }
  std::sort(microseconds.begin(), microseconds.end());
  return microseconds;
}

// One core per rank, as sgdrun gives them.
void Pin(uint32_t rank) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(rank % static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_ONLN)), &cpus);
  sched_setaffinity(0, sizeof(cpus), &cpus);
}

// Measures the limit that memory sets: all ranks at once copy the full vector from one half of their windows to the
// other.
std::vector<double> TimeCopy(Communicator& communicator, uint64_t bytes, int iterations) {
  std::vector<double> microseconds;
  for (int i = 0; i < iterations + 3; ++i) {
    Must(communicator.control().Barrier(kTimeout));
    const auto begin = std::chrono::steady_clock::now();
    std::memcpy(communicator.window() + kWindow / 2, communicator.window(), bytes);
    const std::chrono::duration<double, std::micro> elapsed = std::chrono::steady_clock::now() - begin;
    if (i >= 3) microseconds.push_back(elapsed.count());
  }
  std::sort(microseconds.begin(), microseconds.end());
  return microseconds;
}

void Print(const char* kind, uint64_t kib, const Communicator& communicator, const std::vector<double>& times) {
  if (communicator.control().rank() != 0) return;
  std::printf("%s %lu %u %.2f %.2f\n", kind, static_cast<unsigned long>(kib), communicator.control().size(),
              times.front(), times[times.size() / 2]);
}

void RunRank(std::shared_ptr<SharedMemorySegment> segment, uint32_t rank, bool written) {
  Pin(rank);
  const uint32_t ranks = segment->ranks();
  auto communicator = Must(SharedMemoryCommunicator::Connect(std::move(segment), rank, kTimeout));
  const Mesh mesh{{ranks}};
  for (const uint64_t kib : kKib) {
    const int iterations = std::clamp<int>(300000 / static_cast<int>(kib + 300), 7, 1000);
    const auto time = [&](const char* name, CollectiveKind kind, bool in_place) {
      const CollectiveHandle handle = Must(communicator->Prepare(mesh, SpecFor(kind, in_place, kib << 10, ranks)));
      Print(name, kib, *communicator, Time(*communicator, handle, written ? kib << 10 : 0, iterations));
    };
    time("all_reduce", CollectiveKind::kAllReduce, /*in_place=*/true);
    time("all_reduce_apart", CollectiveKind::kAllReduce, /*in_place=*/false);
    time("all_gather", CollectiveKind::kAllGather, /*in_place=*/false);
    time("reduce_scatter", CollectiveKind::kReduceScatter, /*in_place=*/false);
    Print("copy", kib, *communicator, TimeCopy(*communicator, kib << 10, iterations));
  }
  communicator->control().Finish();
}

}  // namespace

int main(int argc, char** argv) {
  const bool written = argc == 3 && std::strcmp(argv[2], "written") == 0;
  const uint32_t ranks = argc == 2 || written ? static_cast<uint32_t>(std::atoi(argv[1])) : 0;
  if (ranks < 1 || ranks > 64) {
    std::fprintf(stderr, "usage: collectives RANKS [written] (1 to 64 ranks)\n");
    return 2;
  }
  auto segment = Must(SharedMemorySegment::Create(ranks, kWindow));
  for (uint32_t rank = 1; rank < ranks; ++rank) {
    if (fork() == 0) {
      RunRank(segment, rank, written);
      std::exit(0);
    }
  }
  RunRank(segment, 0, written);
  int worst = 0;
  for (int status; wait(&status) > 0;) worst = std::max(worst, status);
  return worst == 0 ? 0 : 1;
}
