// Element values and collectives in the plainest possible form, to compare communicators with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/comm/collectives/collective_spec.h"

namespace sgd::comm {

// Elements as doubles; stored integers wrap around, floats are rounded to nearest even.
double LoadElement(ElementType element, const std::byte* at);
void StoreElement(ElementType element, double value, std::byte* at);

// windows[rank] before the collective -> after it.
void RunReference(const Mesh& mesh, const CollectiveSpec& spec, std::vector<std::vector<std::byte>>& windows);

}  // namespace sgd::comm
