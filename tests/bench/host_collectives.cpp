// Times collectives between CPU ranks of several hosts, started as sgdrun's ranks are by torchrun. usage: RANK=...
// WORLD_SIZE=... LOCAL_WORLD_SIZE=... MASTER_ADDR=... MASTER_PORT=... host_collectives [KIND [KIB...]]
// One line per size on rank 0: kind, KiB of the full vector, ranks, least and median milliseconds between barriers.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/launch/secret.h"
#include "runtime/process/launch.h"
#include "runtime/process/transport_variables.h"

namespace {

using namespace sgd;
using comm::CollectiveKind;

constexpr absl::Duration kTimeout = absl::Seconds(60);
constexpr int kWarmUp = 2;

comm::CollectiveSpec SpecOf(CollectiveKind kind, uint64_t bytes, uint32_t ranks) {
  comm::CollectiveSpec spec;
  spec.kind = kind;
  spec.axes = {{0, 1, ranks}};
  comm::CollectiveOperand operand;
  const uint64_t elements = bytes / sizeof(float) / ranks * ranks;
  operand.inner = elements / ranks;
  operand.count = kind == CollectiveKind::kAllGather ? elements / ranks : elements;
  operand.target_offset = kind == CollectiveKind::kAllReduce ? 0 : bytes;
  spec.operands = {operand};
  return spec;
}

absl::Status Time(launch::RankContext& rank, CollectiveKind kind, uint64_t kib) {
  auto handle = rank.communicator->Prepare(comm::Mesh{{rank.size}}, SpecOf(kind, kib << 10, rank.size));
  if (!handle.ok()) return handle.status();
  const int iterations = static_cast<int>(std::clamp<uint64_t>(40'000 / kib, 5, 200));
  std::vector<double> milliseconds;
  for (int i = 0; i < iterations + kWarmUp; ++i) {
    if (absl::Status status = rank.control->Barrier(kTimeout); !status.ok()) return status;
    const auto begin = std::chrono::steady_clock::now();
    if (absl::Status status = rank.communicator->Execute(*handle, kTimeout); !status.ok()) return status;
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
    if (i >= kWarmUp) milliseconds.push_back(time.count());
  }
  std::ranges::sort(milliseconds);
  if (rank.rank == 0) {
    std::printf("%s %llu %u %.3f %.3f\n", comm::CollectiveName(kind), static_cast<unsigned long long>(kib), rank.size,
                milliseconds[0], milliseconds[milliseconds.size() / 2]);
    std::fflush(stdout);
  }
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "all_reduce";
  std::vector<uint64_t> sizes;
  for (int i = 2; i < argc; ++i) sizes.push_back(std::strtoull(argv[i], nullptr, 10));
  if (sizes.empty()) sizes = {4, 64, 1024, 4096, 16384, 65536};
  const auto kind = std::ranges::find(comm::kCollectives, name, [](const auto& row) { return std::string(row.name); });
  const char* ranks = std::getenv("WORLD_SIZE");
  if (kind == std::end(comm::kCollectives) || ranks == nullptr) return 2;
  auto environment = launch::DetectRankEnvironment({}, static_cast<uint32_t>(std::atoi(ranks)));
  auto secret = launch::ReadSecret("");
  absl::Status status = environment.ok() ? secret.status() : environment.status();
  if (status.ok()) {
    launch::LaunchOptions options;
    options.window_bytes = (*std::ranges::max_element(sizes) << 10) * 2;
    options.deadline = kTimeout;
    options.threads = 1;
    options.secret = *secret;
    process::SetTransportVariables();
    process::ProcessPolicy policy({});
    status = process::Launch(*environment, options, policy, [&](launch::RankContext& rank) -> absl::Status {
      for (const uint64_t kib : sizes) {
        if (absl::Status done = Time(rank, kind->kind, kib); !done.ok()) return done;
      }
      return absl::OkStatus();
    });
  }
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}
