// Shared by all devices: addresses of slices, and the choice of the function that prepares an instruction.
#include "runtime/device/device.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/collective.h"
#include "runtime/artifact/schema_names.h"

namespace sgd::device {
namespace {

using artifact::Operation;

std::vector<CombinedLaunches> CombinedOf(const artifact::LaunchGroup& group) {
  std::vector<CombinedLaunches> combined;
  for (uint32_t i = 0; i < artifact::Size(group.combined()); ++i) {
    const artifact::CombinedLaunches& launches = *group.combined()->Get(i);
    combined.push_back({launches.kernel(), {launches.launches()->begin(), launches.launches()->end()}});
  }
  return combined;
}

std::vector<int64_t> CoordinatesOf(const artifact::Launch& launch, const comm::Mesh& mesh, uint32_t rank) {
  std::vector<int64_t> coordinates;
  if (launch.coordinates() == nullptr) return coordinates;
  for (const artifact::Coordinate* coordinate : *launch.coordinates()) {
    coordinates.push_back(static_cast<int64_t>(comm::LinearIndex(mesh, artifact::AxesOf(coordinate->axes()), rank)));
  }
  return coordinates;
}

}  // namespace

PreparedThunk Device::Prepare(const artifact::Instruction& instruction, const RankContext& rank) {
  switch (instruction.op_type()) {
    case Operation::Launch: {
      const artifact::Launch& launch = *instruction.op_as_Launch();
      return PrepareLaunch(launch, rank.kernels, rank.memory, CoordinatesOf(launch, rank.mesh, rank.rank));
    }
    case Operation::LaunchGroup: {
      const artifact::LaunchGroup& group = *instruction.op_as_LaunchGroup();
      std::vector<GroupedLaunch> launches;
      for (const artifact::Launch* launch : *group.launches())
        launches.push_back({launch, CoordinatesOf(*launch, rank.mesh, rank.rank)});
      return PrepareLaunchGroup(launches, CombinedOf(group), rank.kernels, rank.memory);
    }
    case Operation::Matmul:
      return PrepareMatmul(*instruction.op_as_Matmul(), rank.memory);
    case Operation::Convolution:
      return PrepareConvolution(*instruction.op_as_Convolution(), rank.memory);
    case Operation::Attention:
      return PrepareAttention(*instruction.op_as_Attention(), rank.memory);
    case Operation::LinearAlgebra:
      return PrepareLinearAlgebra(*instruction.op_as_LinearAlgebra(), rank.memory);
    case Operation::Tiled:
      return PrepareTiled(*instruction.op_as_Tiled(), rank.kernels, rank.memory);
    case Operation::Copy: {
      const artifact::Copy& copy = *instruction.op_as_Copy();
      return PrepareCopy(rank.memory.Address(*copy.source()), rank.memory.Address(*copy.target()),
                         copy.target()->size());
    }
    case Operation::Fill: {
      const artifact::Fill& fill = *instruction.op_as_Fill();
      return PrepareFill(rank.memory.Address(*fill.target()), fill.target()->size(),
                         {fill.pattern()->data(), fill.pattern()->size()});
    }
    default:
      return absl::UnimplementedError(absl::StrCat("this device does not execute ",
                                                   artifact::OperationName(instruction),
                                                   "; compile the model for another target"));
  }
}

PreparedThunk Device::PrepareAttention(const artifact::Attention&, const MemoryMap&) {
  return absl::UnimplementedError("this device has no library for attention; compile the model for it");
}

PreparedThunk Device::PrepareLinearAlgebra(const artifact::LinearAlgebra&, const MemoryMap&) {
  return absl::UnimplementedError(
      "this device has no library for decompositions and solvers of linear algebra; compile the model for cpu");
}

void MemoryMap::Bind(const artifact::Slice& range, std::byte* data) {
  const auto is_before = [](const BoundRange& a, const BoundRange& b) {
    return std::pair(a.range.space(), a.range.offset()) < std::pair(b.range.space(), b.range.offset());
  };
  const BoundRange added{range, data};
  bound.insert(std::ranges::upper_bound(bound, added, is_before), added);
}

const MemoryMap::BoundRange* MemoryMap::Find(const artifact::Slice& slice) const {
  const auto behind =
      std::ranges::upper_bound(bound, std::pair(slice.space(), slice.offset()), {},
                               [](const BoundRange& at) { return std::pair(at.range.space(), at.range.offset()); });
  if (behind == bound.begin()) return nullptr;
  const BoundRange& last = *std::prev(behind);
  const bool is_inside =
      last.range.space() == slice.space() && slice.offset() + slice.size() <= last.range.offset() + last.range.size();
  return is_inside ? &last : nullptr;
}

std::byte* MemoryMap::Address(const artifact::Slice& slice) const {
  if (const BoundRange* found = Find(slice)) return found->data + (slice.offset() - found->range.offset());
  switch (slice.space()) {
    case artifact::Space::Private:
      return private_base + slice.offset();
    case artifact::Space::Window:
      return window_base + slice.offset();
    case artifact::Space::Constant:
      // The verifier has refused instructions that write to constants.
      return const_cast<std::byte*>(constant_base) + slice.offset();
    case artifact::Space::Host:
      return host_base + slice.offset();
    case artifact::Space::Scratch:
      return nullptr;
  }
  return nullptr;
}

}  // namespace sgd::device
