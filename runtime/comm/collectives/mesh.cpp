// Mixed-radix arithmetic over mesh axes and sub-axes; every rank computes only its own group.
#include "runtime/comm/collectives/mesh.h"

#include <cstddef>

#include "absl/strings/str_cat.h"

namespace sgd::comm {
namespace {

constexpr uint64_t kMaxRanks = uint64_t{1} << 20;

// Rank of the group member with linear index `index` over `axes`, given the rank at index 0.
uint64_t MemberAt(const Mesh& mesh, absl::Span<const AxisRef> axes, uint64_t first, uint64_t index) {
  for (size_t i = axes.size(); i-- > 0;) {
    first += index % axes[i].size * RankStride(mesh, axes[i]);
    index /= axes[i].size;
  }
  return first;
}

// Whether one factorisation of the axis has both as factors: the minor one begins at a multiple of
// where the major ends.
bool Disjoint(const AxisRef& a, const AxisRef& b) {
  if (a.axis != b.axis || a.size == 1 || b.size == 1) return true;
  const AxisRef& major = a.pre_size <= b.pre_size ? a : b;
  const AxisRef& minor = a.pre_size <= b.pre_size ? b : a;
  return minor.pre_size % (uint64_t{major.pre_size} * major.size) == 0;
}

}  // namespace

uint64_t Mesh::ranks() const {
  uint64_t ranks = 1;
  for (uint32_t size : axis_sizes) ranks *= size;
  return ranks;
}

absl::Status CheckMesh(const Mesh& mesh) {
  uint64_t ranks = 1;
  for (size_t axis = 0; axis < mesh.axis_sizes.size(); ++axis) {
    const uint64_t size = mesh.axis_sizes[axis];
    if (size == 0) {
      return absl::InvalidArgumentError(absl::StrCat("mesh axis ", axis, " has size 0"));
    }
    ranks *= size;
    if (ranks > kMaxRanks) {
      return absl::InvalidArgumentError(absl::StrCat("mesh has more than ", kMaxRanks, " ranks"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckAxes(const Mesh& mesh, absl::Span<const AxisRef> axes) {
  for (size_t i = 0; i < axes.size(); ++i) {
    const AxisRef& ref = axes[i];
    if (ref.axis >= mesh.axis_sizes.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", ref.axis, " is not in a mesh of ", mesh.axis_sizes.size(), " axes"));
    }
    const uint64_t axis_size = mesh.axis_sizes[ref.axis];
    const uint64_t used = uint64_t{ref.pre_size} * ref.size;
    if (used == 0 || axis_size % used != 0) {
      return absl::InvalidArgumentError(absl::StrCat("sub-axis (", ref.pre_size, ")", ref.size,
                                                     " does not divide mesh axis ", ref.axis, " of size ", axis_size));
    }
    for (size_t j = 0; j < i; ++j) {
      if (!Disjoint(axes[j], ref)) {
        return absl::InvalidArgumentError(
            absl::StrCat("parts of mesh axis ", ref.axis, " overlap or split it in two ways"));
      }
    }
  }
  return absl::OkStatus();
}

uint64_t RankStride(const Mesh& mesh, const AxisRef& ref) {
  uint64_t stride = mesh.axis_sizes[ref.axis] / (ref.pre_size * ref.size);
  for (size_t axis = ref.axis + 1; axis < mesh.axis_sizes.size(); ++axis) {
    stride *= mesh.axis_sizes[axis];
  }
  return stride;
}

uint64_t AxesSize(absl::Span<const AxisRef> axes) {
  uint64_t size = 1;
  for (const AxisRef& ref : axes) size *= ref.size;
  return size;
}

uint64_t LinearIndex(const Mesh& mesh, absl::Span<const AxisRef> axes, uint64_t rank) {
  uint64_t index = 0;
  for (const AxisRef& ref : axes) {
    index = index * ref.size + rank / RankStride(mesh, ref) % ref.size;
  }
  return index;
}

absl::StatusOr<Group> GroupOf(const Mesh& mesh, absl::Span<const AxisRef> axes, uint32_t rank) {
  if (absl::Status status = CheckMesh(mesh); !status.ok()) return status;
  if (absl::Status status = CheckAxes(mesh, axes); !status.ok()) return status;
  if (rank >= mesh.ranks()) {
    return absl::InvalidArgumentError(absl::StrCat("rank ", rank, " is not in a mesh of ", mesh.ranks(), " ranks"));
  }
  Group group;
  group.index = static_cast<uint32_t>(LinearIndex(mesh, axes, rank));
  uint64_t first = rank;
  for (const AxisRef& ref : axes) {
    const uint64_t stride = RankStride(mesh, ref);
    first -= rank / stride % ref.size * stride;
  }
  const uint64_t size = AxesSize(axes);
  group.members.reserve(size);
  for (uint64_t index = 0; index < size; ++index) {
    group.members.push_back(static_cast<uint32_t>(MemberAt(mesh, axes, first, index)));
  }
  return group;
}

absl::StatusOr<PermutePeers> PermutePeersOf(const Mesh& mesh, absl::Span<const AxisRef> axes,
                                            absl::Span<const AxisRef> from_axes, uint32_t rank) {
  absl::StatusOr<Group> group = GroupOf(mesh, axes, rank);
  if (!group.ok()) return group.status();
  if (absl::Status status = CheckAxes(mesh, from_axes); !status.ok()) return status;
  const size_t size = group->members.size();
  const auto mismatch = absl::InvalidArgumentError("the source axes of a permute do not number the ranks of its group");
  if (AxesSize(from_axes) != size) return mismatch;
  PermutePeers peers;
  std::vector<bool> seen(size, false);
  for (size_t position = 0; position < size; ++position) {
    const uint64_t target = LinearIndex(mesh, from_axes, group->members[position]);
    if (seen[target]) return mismatch;
    seen[target] = true;
    if (position == group->index) peers.send_to = static_cast<uint32_t>(target);
    if (target == group->index) peers.receive_from = static_cast<uint32_t>(position);
  }
  return peers;
}

}  // namespace sgd::comm
