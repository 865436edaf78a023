// Which ranks belong together: groups and permutes of a mesh, evaluated for one rank.
// Ranks are numbered row-major over the mesh axes, the first axis being the most significant.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace sgd::comm {

// Sizes of the named axes, major to minor. No axes means one rank.
struct Mesh {
  std::vector<uint32_t> axis_sizes;

  // Number of ranks.
  uint64_t ranks() const;
};

// Part of a mesh axis. An axis of size S is seen as (pre_size, size, S / (pre_size * size)), major
// to minor, and the middle factor is meant; pre_size 1 and size S is the whole axis.
struct AxisRef {
  uint32_t axis = 0;
  uint32_t pre_size = 1;
  uint32_t size = 1;
};

// Refuses a mesh whose number of ranks is zero or beyond 2^20.
absl::Status CheckMesh(const Mesh& mesh);

// Refuses axes that are not in the mesh, whose sizes do not divide the axis, that overlap, or that
// are not factors of one factorisation of their axis, as (1)2 and (3)2 of an axis of size 6.
absl::Status CheckAxes(const Mesh& mesh, absl::Span<const AxisRef> axes);

// How far apart two ranks are that are neighbours on the axis reference, which must have passed CheckAxes.
uint64_t RankStride(const Mesh& mesh, const AxisRef& ref);

// Product of the sizes of `axes`.
uint64_t AxesSize(absl::Span<const AxisRef> axes);

// Linear index of `rank` over `axes`, the first being the most significant. Axes must have passed
// CheckAxes.
uint64_t LinearIndex(const Mesh& mesh, absl::Span<const AxisRef> axes, uint64_t rank);

// The ranks that differ from one rank only on some axes.
struct Group {
  std::vector<uint32_t> members;  // ranks by linear index over the axes
  uint32_t index = 0;             // position of the rank asked for
};
absl::StatusOr<Group> GroupOf(const Mesh& mesh, absl::Span<const AxisRef> axes, uint32_t rank);

// A collective permute as one rank sees it: within its group, the rank with linear index i over
// `from_axes` sends to the rank with linear index i over `axes`.
struct PermutePeers {
  uint32_t send_to = 0;       // position in the group's members
  uint32_t receive_from = 0;  // position in the group's members
};
// Refuses `from_axes` that do not number the group's ranks 0..n-1, each once.
absl::StatusOr<PermutePeers> PermutePeersOf(const Mesh& mesh, absl::Span<const AxisRef> axes,
                                            absl::Span<const AxisRef> from_axes, uint32_t rank);

}  // namespace sgd::comm
