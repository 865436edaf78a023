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
  RankDevice opened;
  if (target != kCpu) {
    if (job.options.null_kernels) return absl::InvalidArgumentError("--null-kernels is for artifacts compiled for cpu");
    absl::StatusOr<const device::TargetPlugin*> plugin = device::OpenTargetPlugin(target);
    if (!plugin.ok()) return plugin.status();
    opened.plugin_ = *plugin;
  }
  absl::StatusOr<std::unique_ptr<device::Device>> device =
      opened.plugin_ == nullptr
          ? open_cpu(rank)
          : opened.plugin_->OpenDevice({.local_rank = rank.local_rank,
                                        .shares_gpus = job.options.shares_gpus,
                                        .is_deterministic = !job.options.fast,
                                        .has_messages = artifact::Size(job.file->root().channels()) > 0});
  if (!device.ok()) return device.status();
  opened.device_ = *std::move(device);
  if (absl::Status status = opened.device_->OpenLibraries(*job.file); !status.ok()) return status;
  absl::Status status = opened.BindNearDevice(job, rank);
  if (!status.ok()) return status;
  return opened;
}

// One core for the thread that computes; for one that fills a device's streams, and the threads that libraries start
// from it, those near the device. Before any memory is touched, since pages are allocated near the thread.
absl::Status RankDevice::BindNearDevice(const Job& job, const launch::RankContext& rank) const {
  if (plugin_ == nullptr) {
    if (!rank.cores.empty()) launch::BindToCores({rank.cores[0]});
    return absl::OkStatus();
  }
  const std::string mine = launch::PlaceOfThisProcess(device_->near_cores()).Text();
  absl::StatusOr<std::vector<std::string>> all = rank.control->AllGatherBytes(mine, job.options.deadline);
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
  if (plugin_ == nullptr) {
    communicator_ = rank.communicator;
    return communicator_ != nullptr
               ? absl::OkStatus()
               : absl::UnimplementedError("tensors cannot be sent between the CPUs of several hosts");
  }
  const MemoryNeed need = NeedOf(job, rank.rank);
  if (absl::Status status = device_->Reserve(need.total()); !status.ok())
    return absl::Status(status.code(), absl::StrCat(status.message(), " (", need.Text(), ")"));
  absl::StatusOr<std::unique_ptr<comm::Communicator>> communicator =
      plugin_->OpenCommunicator(*device_, *rank.control, need.window, job.options.deadline);
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
