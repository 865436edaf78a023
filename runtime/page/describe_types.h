// Words for the small things of an artifact: types, shardings, slices, axes.
#pragma once

#include <string>

#include "nlohmann/json.hpp"
#include "runtime/artifact/reader.h"

namespace sgd::page {

using OrderedJson = nlohmann::ordered_json;

// "data", or "x:(2)4" for a part of an axis.
std::string AxisText(const artifact::Artifact& root, const artifact::AxisRef& axis);
// A list of such names.
template <typename Axes>
OrderedJson AxesJson(const artifact::Artifact& root, const Axes* axes) {
  OrderedJson json = OrderedJson::array();
  for (uint64_t i = 0; i < artifact::Size(axes); ++i)
    json.push_back(AxisText(root, *axes->Get(static_cast<uint32_t>(i))));
  return json;
}

// {"type": "f32[128,64]", "local": "f32[32,64]", "sharding": [["data"], []]}
OrderedJson TypeJson(const artifact::Artifact& root, const artifact::TensorInfo& type);

// Rates of the device that the artifact was compiled for; null where it does not say.
OrderedJson DeviceJson(const artifact::DeviceModel* device);

OrderedJson SliceJson(const artifact::Slice& slice);

// The source location of an instruction or explanation; empty when there is none.
std::string LocationText(const artifact::Program& program, uint32_t location);

}  // namespace sgd::page
