// Texts for types and slices; total on verified artifacts.
#include "runtime/page/describe_types.h"

#include "absl/strings/str_cat.h"
#include "runtime/artifact/schema_names.h"
#include "runtime/data/shard.h"

namespace sgd::page {

std::string AxisText(const artifact::Artifact& root, const artifact::AxisRef& axis) {
  const artifact::MeshAxis& whole = *root.mesh()->Get(axis.axis());
  if (axis.pre_size() == 1 && axis.size() == whole.size()) return whole.name()->str();
  return absl::StrCat(whole.name()->str(), ":(", axis.pre_size(), ")", axis.size());
}

OrderedJson TypeJson(const artifact::Artifact& root, const artifact::TensorInfo& info) {
  const data::TensorType type = data::TypeOf(info);
  OrderedJson sharding = OrderedJson::array();
  for (size_t d = 0; d < type.global_dims.size(); ++d) {
    const bool is_sharded = d < artifact::Size(info.sharding());
    sharding.push_back(is_sharded ? AxesJson(root, info.sharding()->Get(static_cast<uint32_t>(d))->axes())
                                  : OrderedJson::array());
  }
  OrderedJson json = {{"type", data::TypeText(type.element, type.global_dims)},
                      {"local", data::TypeText(type.element, type.local_dims)},
                      {"sharding", sharding}};
  if (std::ranges::any_of(type.blocks, [](uint64_t blocks) { return blocks != 1; })) json["blocks"] = type.blocks;
  for (const data::RowRange& rows : type.rows) json["rows"].push_back({rows.first, rows.first + rows.count});
  if (type.has_summands) json["summands"] = true;
  if (!type.owner.empty()) json["owner"] = {{"axes", AxesJson(root, info.owner())}, {"index", type.owner_index}};
  return json;
}

OrderedJson DeviceJson(const artifact::DeviceModel* device) {
  if (device == nullptr) return OrderedJson();
  return {{"name", device->name()->str()},
          {"flops", device->flops()},
          {"half_flops", device->half_flops()},
          {"memory_bandwidth", device->memory_bandwidth()}};
}

OrderedJson SliceJson(const artifact::Slice& slice) {
  return {{"space", artifact::NameOf(slice.space())}, {"offset", slice.offset()}, {"size", slice.size()}};
}

std::string LocationText(const artifact::Program& program, uint32_t location) {
  if (location >= artifact::Size(program.locations())) return "";
  return program.locations()->Get(location)->str();
}

}  // namespace sgd::page
