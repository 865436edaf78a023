#include "tools/sgdrun/measure.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/writer.h"
#include "runtime/device/target_plugin.h"
#include "runtime/launch/memory_quota.h"
#include "runtime/launch/rank_environment.h"
#include "runtime/launch/secret.h"
#include "runtime/measure/topology_file.h"
#include "runtime/process/launch.h"
#include "runtime/train/rank_device.h"
#include "tools/sgdrun/modes.h"
#include "tools/sgdrun/reporter.h"

namespace sgd::sgdrun {
namespace {

// Of a core, for each thread of a rank; 0 where the system does not say.
uint64_t CacheBytes(uint32_t threads) {
  const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? static_cast<uint64_t>(bytes) * threads : 0;
}

// The memory and, of a GPU, the architecture of a rank's device.
absl::StatusOr<measure::DeviceKind> KindOf(const Options& options, const launch::RankContext& rank) {
  if (options.run.device != "cuda")
    return measure::DeviceKind{.memory_bytes = launch::HostMemoryBytes() / rank.local_size};
  absl::StatusOr<const device::TargetPlugin*> plugin = device::OpenTargetPlugin("cuda");
  if (!plugin.ok()) return plugin.status();
  absl::StatusOr<device::Topology> gpus = (*plugin)->Describe();
  if (!gpus.ok()) return gpus.status();
  const device::Accelerator& gpu = gpus->accelerators[rank.local_rank % gpus->accelerators.size()];
  return measure::DeviceKind{.memory_bytes = gpu.memory_bytes, .architecture = gpu.architecture};
}

// Equal for the ranks of a host that are consecutive.
absl::StatusOr<measure::HostLayout> AgreeOnLayout(const launch::RankContext& rank, absl::Duration timeout) {
  absl::StatusOr<std::vector<std::string>> hosts =
      rank.control->AllGatherBytes(absl::StrCat(rank.rank - rank.local_rank), timeout);
  if (!hosts.ok()) return hosts.status();
  return measure::LayoutOf(*hosts);
}

absl::StatusOr<measure::MeasuredTopology> Measure(const Options& options, const launch::RankContext& rank,
                                                  const measure::HostLayout& layout, train::RankDevice& device) {
  const absl::Duration timeout = options.run.deadline;
  absl::StatusOr<measure::DeviceKind> kind = KindOf(options, rank);
  if (!kind.ok()) return kind.status();
  kind = measure::AgreeOnKind(*kind, *rank.control, timeout);
  if (!kind.ok()) return kind.status();
  if (absl::Status status = device.ConnectWindow(measure::kLinkWindowBytes, rank, timeout); !status.ok()) return status;
  absl::StatusOr<measure::MeasuredLinks> links = measure::MeasureLinks(
      device.communicator(), layout, [&](uint32_t ranks) { return measure::RoundsOf(kind->is_gpu(), ranks); }, timeout);
  if (!links.ok()) return links.status();
  measure::DeviceSizes sizes = kind->is_gpu() ? measure::kGpuSizes : measure::kCpuSizes;
  if (!kind->is_gpu()) sizes.cache_bytes = CacheBytes(rank.threads);
  absl::StatusOr<measure::DeviceRates> rates = measure::MeasureDevice(device.device(), *rank.control, sizes, timeout);
  if (!rates.ok()) return rates.status();
  return measure::MeasuredTopology{.kind = *kind, .device = *rates, .links = *links};
}

absl::Status MeasureOnRank(const Options& options, const launch::RankContext& rank, const train::OpenCpu& open_cpu) {
  // By the rank that writes it, so that all say so, and before anything else.
  if (rank.rank == 0) {
    if (absl::Status status = artifact::CheckWritable(options.measured_topology); !status.ok()) return status;
  }
  absl::StatusOr<measure::HostLayout> layout = AgreeOnLayout(rank, options.run.deadline);
  if (!layout.ok()) return layout.status();
  absl::StatusOr<train::RankDevice> device = train::RankDevice::OpenWithoutArtifact(options.run, rank, open_cpu);
  if (!device.ok()) return device.status();
  absl::StatusOr<measure::MeasuredTopology> measured = Measure(options, rank, *layout, *device);
  if (!measured.ok()) {
    // Before the device is closed, which would wait for what may never end.
    device->Abort(measured.status());
    return measured.status();
  }
  if (rank.rank != 0) return absl::OkStatus();
  absl::Status written = artifact::WriteFileAtomically(options.measured_topology, measure::TopologyJson(*measured));
  if (!written.ok()) return written;
  std::fputs(measure::TopologyTable(*measured).c_str(), stdout);
  return FlushResults();
}

}  // namespace

absl::Status MeasureTopology(const Options& options, const train::OpenCpu& open_cpu) {
  absl::StatusOr<launch::RankEnvironment> environment = launch::DetectWithoutArtifact(options.rank_flags);
  if (!environment.ok()) return environment.status();
  if (environment->size < 2) {
    return absl::InvalidArgumentError(
        "--measure-topology: one rank has no links; expected two or more; start them with -n, or by a launcher");
  }
  absl::StatusOr<std::string> secret = launch::ReadSecret(options.secret_file);
  if (!secret.ok()) return secret.status();
  launch::LaunchOptions launch;
  launch.window_bytes = options.run.device == "cuda" ? 0 : measure::kLinkWindowBytes;
  launch.deadline = options.run.deadline;
  launch.threads = options.threads;
  launch.comm_thread = options.comm_thread;
  launch.secret = *secret;
  launch.net_devices = options.net_devices;
  process::ProcessPolicy policy({.note = PrintNote});
  return process::Launch(*environment, launch, policy,
                         [&](launch::RankContext& rank) { return MeasureOnRank(options, rank, open_cpu); });
}

}  // namespace sgd::sgdrun
