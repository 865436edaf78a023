// CPUs are what the caller opens; other targets are plugins.
#include "runtime/train/rank_device.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/launch/core_assignment.h"
#include "runtime/launch/near_cores.h"
#include "runtime/train/memory_need.h"

namespace sgd::train {
namespace {

constexpr char kCpu[] = "cpu";

}  // namespace

absl::StatusOr<RankDevice> RankDevice::Open(const Job& job, const launch::RankContext& rank, const OpenCpu& open_cpu) {
  const std::string target = job.file->root().target()->str();
  if (!job.options.device.empty() && job.options.device != target) {
    return absl::FailedPreconditionError(absl::StrCat(job.file->path(), ": compiled for ", target,
                                                      ", not for --device=", job.options.device,
                                                      "; compile it with --target=", job.options.device));
  }
  if (target != kCpu && job.options.null_kernels)
    return absl::InvalidArgumentError("--null-kernels is for artifacts compiled for cpu");
  RankDevice opened;
  absl::Status status = opened.OpenTarget(target,
                                          {.local_rank = rank.local_rank,
                                           .shares_gpus = job.options.shares_gpus,
                                           .is_deterministic = !job.options.fast,
                                           .has_messages = artifact::Size(job.file->root().channels()) > 0},
                                          rank, open_cpu);
  if (status.ok()) status = opened.device_->OpenLibraries(*job.file);
  if (status.ok()) status = opened.BindNearDevice(rank, job.options.deadline);
  if (!status.ok()) return status;
  return opened;
}

absl::StatusOr<RankDevice> RankDevice::OpenWithoutArtifact(const RunOptions& options, const launch::RankContext& rank,
                                                           const OpenCpu& open_cpu) {
  RankDevice opened;
  absl::Status status = opened.OpenTarget(options.device.empty() ? kCpu : options.device,
                                          {.local_rank = rank.local_rank,
                                           .shares_gpus = options.shares_gpus,
                                           .is_deterministic = !options.fast,
                                           .has_collectives = true},
                                          rank, open_cpu);
  if (status.ok()) status = opened.BindNearDevice(rank, options.deadline);
  if (!status.ok()) return status;
  return opened;
}

absl::Status RankDevice::OpenTarget(const std::string& target, const device::DeviceRequest& request,
                                    const launch::RankContext& rank, const OpenCpu& open_cpu) {
  if (target != kCpu) {
    absl::StatusOr<const device::TargetPlugin*> plugin = device::OpenTargetPlugin(target);
    if (!plugin.ok()) return plugin.status();
    plugin_ = *plugin;
  }
  absl::StatusOr<std::unique_ptr<device::Device>> device =
      plugin_ == nullptr ? open_cpu(rank) : plugin_->OpenDevice(request);
  if (!device.ok()) return device.status();
  device_ = *std::move(device);
  return absl::OkStatus();
}

// One core for the thread that computes; for one that fills a device's streams, and the threads that libraries start
// from it, those near the device. Before any memory is touched, since pages are allocated near the thread.
absl::Status RankDevice::BindNearDevice(const launch::RankContext& rank, absl::Duration timeout) const {
  if (plugin_ == nullptr) {
    if (!rank.cores.empty()) launch::BindToCores({rank.cores[0]});
    return absl::OkStatus();
  }
  const std::string mine = launch::PlaceOfThisProcess(device_->near_cores()).Text();
  absl::StatusOr<std::vector<std::string>> all = rank.control->AllGatherBytes(mine, timeout);
  if (!all.ok()) return all.status();
  std::vector<launch::RankPlace> places;
  for (const std::string& text : *all) {
    absl::StatusOr<launch::RankPlace> place = launch::RankPlace::Parse(text);
    if (!place.ok()) return place.status();
    places.push_back(*std::move(place));
  }
  launch::BindToCores(launch::ShareOfNearCores(places, rank.rank));
  return absl::OkStatus();
}

absl::Status RankDevice::Connect(const Job& job, const launch::RankContext& rank) {
  const MemoryNeed need = NeedOf(job, rank.rank);
  if (plugin_ != nullptr) {
    if (absl::Status status = device_->Reserve(need.total()); !status.ok())
      return absl::Status(status.code(), absl::StrCat(status.message(), " (", need.Text(), ")"));
  }
  return OpenCommunicator(need.window, rank, job.options.deadline);
}

absl::Status RankDevice::ConnectWindow(uint64_t window_bytes, const launch::RankContext& rank, absl::Duration timeout) {
  if (absl::Status status = device_->Reserve(window_bytes); !status.ok()) return status;
  return OpenCommunicator(window_bytes, rank, timeout);
}

absl::Status RankDevice::OpenCommunicator(uint64_t window_bytes, const launch::RankContext& rank,
                                          absl::Duration timeout) {
  communicator_ = rank.communicator;
  if (plugin_ == nullptr) return absl::OkStatus();
  absl::StatusOr<std::unique_ptr<comm::Communicator>> communicator =
      plugin_->OpenCommunicator(*device_, *rank.control, window_bytes, timeout);
  if (!communicator.ok()) return communicator.status();
  own_communicator_ = *std::move(communicator);
  communicator_ = own_communicator_.get();
  return absl::OkStatus();
}

uint64_t HostWindowBytes(const artifact::ArtifactFile& file) {
  // Without collectives too: none at all is for ranks that talk through their devices.
  constexpr uint64_t kLeast = 64;
  return file.root().target()->string_view() == kCpu ? std::max(kLeast, uint64_t{file.root().window_bytes()}) : 0;
}

}  // namespace sgd::train
