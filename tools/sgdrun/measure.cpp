#include "tools/sgdrun/measure.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/data/tensor_file_writer.h"
#include "runtime/device/target_plugin.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/rank_environment.h"
#include "runtime/launch/secret.h"
#include "runtime/measure/topology_file.h"
#include "runtime/trace/json_log.h"
#include "tools/sgdrun/modes.h"

namespace sgd::sgdrun {
namespace {

// What a rank measures with. On GPUs both are of the plugin, and the communicator is the rank's own.
struct Instruments {
  std::unique_ptr<device::Device> device = {};
  std::unique_ptr<comm::Communicator> own_communicator = {};
  comm::Communicator* communicator = nullptr;
  measure::DeviceKind kind = {};
};

// Of this host, or of the container that the process is in.
uint64_t HostMemoryBytes() {
  uint64_t bytes = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  uint64_t limit = 0;
  if (std::ifstream("/sys/fs/cgroup/memory.max") >> limit) bytes = std::min(bytes, limit);
  return bytes;
}

// Of a core, for each thread of a rank; 0 where the system does not say.
uint64_t CacheBytes(uint32_t threads) {
  const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? static_cast<uint64_t>(bytes) * threads : 0;
}

absl::StatusOr<Instruments> OpenGpu(const Options& options, const launch::RankContext& rank) {
  absl::StatusOr<const device::TargetPlugin*> plugin = device::OpenTargetPlugin("cuda");
  if (!plugin.ok()) return plugin.status();
  absl::StatusOr<device::Topology> gpus = (*plugin)->Describe();
  if (!gpus.ok()) return gpus.status();
  const device::Accelerator& gpu = gpus->accelerators[rank.local_rank % gpus->accelerators.size()];
  Instruments instruments;
  instruments.kind = {.memory_bytes = gpu.memory_bytes, .architecture = gpu.architecture};
  auto device = (*plugin)->OpenDevice({.local_rank = rank.local_rank,
                                       .shares_gpus = options.run.shares_gpus,
                                       .is_deterministic = !options.run.fast,
                                       .has_collectives = true});
  if (!device.ok()) return device.status();
  instruments.device = *std::move(device);
  // What ranks read of each other is taken as a whole.
  if (absl::Status status = instruments.device->Reserve(measure::kLinkWindowBytes); !status.ok()) return status;
  auto communicator =
      (*plugin)->OpenCommunicator(*instruments.device, *rank.control, measure::kLinkWindowBytes, options.run.deadline);
  if (!communicator.ok()) return communicator.status();
  instruments.own_communicator = *std::move(communicator);
  instruments.communicator = instruments.own_communicator.get();
  return instruments;
}

absl::StatusOr<Instruments> OpenCpuInstruments(const launch::RankContext& rank, const train::OpenCpu& open_cpu) {
  Instruments instruments{.communicator = rank.communicator};
  instruments.kind.memory_bytes = HostMemoryBytes() / rank.local_size;
  auto device = open_cpu(rank);
  if (!device.ok()) return device.status();
  instruments.device = *std::move(device);
  return instruments;
}

// Equal for the ranks of a host that are consecutive.
absl::StatusOr<measure::HostLayout> AgreeOnLayout(const launch::RankContext& rank, absl::Duration timeout) {
  absl::StatusOr<std::vector<std::string>> hosts =
      rank.control->AllGatherBytes(absl::StrCat(rank.rank - rank.local_rank), timeout);
  if (!hosts.ok()) return hosts.status();
  return measure::LayoutOf(*hosts);
}

absl::Status MeasureOnRank(const Options& options, const launch::RankContext& rank, const train::OpenCpu& open_cpu) {
  const bool is_gpu = options.run.device == "cuda";
  const absl::Duration timeout = options.run.deadline;
  absl::StatusOr<measure::HostLayout> layout = AgreeOnLayout(rank, timeout);
  if (!layout.ok()) return layout.status();
  absl::StatusOr<Instruments> instruments = is_gpu ? OpenGpu(options, rank) : OpenCpuInstruments(rank, open_cpu);
  if (!instruments.ok()) return instruments.status();
  absl::StatusOr<measure::DeviceKind> kind = measure::AgreeOnKind(instruments->kind, *rank.control, timeout);
  if (!kind.ok()) return kind.status();
  measure::MeasuredTopology measured{.kind = *kind};
  absl::StatusOr<measure::MeasuredLinks> links = measure::MeasureLinks(
      *instruments->communicator, *layout, [&](uint32_t ranks) { return measure::RoundsOf(is_gpu, ranks); }, timeout);
  if (!links.ok()) return links.status();
  measured.links = *links;
  measure::DeviceSizes sizes = is_gpu ? measure::kGpuSizes : measure::kCpuSizes;
  if (!is_gpu) sizes.cache_bytes = CacheBytes(rank.threads);
  absl::StatusOr<measure::DeviceRates> rates =
      measure::MeasureDevice(*instruments->device, *rank.control, sizes, timeout);
  if (!rates.ok()) return rates.status();
  measured.device = *rates;
  if (rank.rank != 0) return absl::OkStatus();
  const absl::Status written = data::WriteFileAtomically(options.measured_topology, measure::TopologyJson(measured));
  if (!written.ok()) return written;
  std::fputs(measure::TopologyTable(measured).c_str(), stdout);
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
  if (environment->rank == 0) {
    if (absl::Status status = trace::JsonLog::CheckWritable(options.measured_topology); !status.ok()) return status;
  }
  launch::LaunchOptions launch;
  launch.window_bytes = options.run.device == "cuda" ? 0 : measure::kLinkWindowBytes;
  launch.deadline = options.run.deadline;
  launch.threads = options.threads;
  launch.comm_thread = options.comm_thread;
  launch.secret = *secret;
  launch.net_devices = options.net_devices;
  return launch::Launch(*environment, launch,
                        [&](launch::RankContext& rank) { return MeasureOnRank(options, rank, open_cpu); });
}

}  // namespace sgd::sgdrun
