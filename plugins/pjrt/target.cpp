// Variables of the environment, and the driver.
#include "plugins/pjrt/target.h"

#include <cstdlib>
#include <optional>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/device/target_plugin.h"

namespace sgd::pjrt {
namespace {

constexpr uint32_t kMostDevices = 4096;
constexpr char kCuda[] = "cuda";

absl::StatusOr<std::optional<uint32_t>> GivenDevices() {
  const char* text = std::getenv("SGD_NUM_DEVICES");
  if (text == nullptr) return std::nullopt;
  uint32_t devices = 0;
  if (!absl::SimpleAtoi(text, &devices) || devices < 1 || devices > kMostDevices)
    return absl::InvalidArgumentError(
        absl::StrCat("SGD_NUM_DEVICES is '", text, "'; expected a number of devices, 1 to ", kMostDevices));
  return devices;
}

absl::StatusOr<Target> Gpus(const std::string& given, std::optional<uint32_t> devices) {
  absl::StatusOr<const device::TargetPlugin*> plugin = device::OpenTargetPlugin(kCuda);
  if (!plugin.ok()) return plugin.status();
  absl::StatusOr<device::Topology> topology = (*plugin)->Describe();
  if (!topology.ok()) return topology.status();
  const auto there = static_cast<uint32_t>(topology->accelerators.size());
  if (there == 0) return absl::FailedPreconditionError("SGD_TARGET asks for GPUs, and the driver shows none");
  if (devices.value_or(1) > there)
    return absl::FailedPreconditionError(absl::StrCat("SGD_NUM_DEVICES is ", *devices, ", and the driver shows ", there,
                                                      there == 1 ? " GPU" : " GPUs", "; expected at most that"));
  Target target{
      .name = kCuda, .flag = given, .kind = topology->accelerators[0].name, .devices = devices.value_or(there)};
  if (given != kCuda) return target;
  std::set<std::string> architectures;
  for (uint32_t gpu = 0; gpu < target.devices; ++gpu) architectures.insert(topology->accelerators[gpu].architecture);
  target.flag = absl::StrCat(kCuda, ":", absl::StrJoin(architectures, ","));
  return target;
}

}  // namespace

absl::StatusOr<Target> ReadTarget() {
  absl::StatusOr<std::optional<uint32_t>> devices = GivenDevices();
  if (!devices.ok()) return devices.status();
  const char* text = std::getenv("SGD_TARGET");
  const std::string given = text == nullptr || *text == 0 ? "cpu" : text;
  if (given == "cpu") return Target{.devices = devices->value_or(1)};
  if (given == kCuda || absl::StartsWith(given, absl::StrCat(kCuda, ":"))) return Gpus(given, *devices);
  return absl::InvalidArgumentError(
      absl::StrCat("SGD_TARGET is '", given, "'; expected cpu, cuda, or an architecture such as cuda:sm_90"));
}

}  // namespace sgd::pjrt
