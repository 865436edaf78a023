// Cases that every communicator must pass: each kind x element type x group shape x size, with the windows before and
// after.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "runtime/comm/collectives/collective_spec.h"

namespace sgd::comm {

inline constexpr uint64_t kConformanceWindowBytes = 1 << 20;

struct Shape {
  std::string name;
  Mesh mesh;
  std::vector<AxisRef> axes;
  std::vector<AxisRef> from_axes;
  std::vector<AxisRef> to_axes = from_axes;
};

std::vector<Shape> AllShapes();

struct Case {
  CollectiveSpec spec;
  std::vector<std::vector<std::byte>> before;
  std::vector<std::vector<std::byte>> after;
};

std::vector<Case> AllCases(const Shape& shape, CollectiveKind kind);

}  // namespace sgd::comm
