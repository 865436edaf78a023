// Texts for types, slices and enumerators; total on verified artifacts.
#include "tools/sgd-inspect/describe_types.h"

#include "absl/strings/str_cat.h"
#include "runtime/comm/collective_spec.h"
#include "runtime/data/shard.h"

namespace sgd::inspect {

std::string AxisText(const artifact::Artifact& root, const artifact::AxisRef& axis) {
  const artifact::MeshAxis& whole = *root.mesh()->Get(axis.axis());
  if (axis.pre_size() == 1 && axis.size() == whole.size()) return whole.name()->str();
  return absl::StrCat(whole.name()->str(), ":(", axis.pre_size(), ")", axis.size());
}

Json TypeJson(const artifact::Artifact& root, const artifact::TensorInfo& info) {
  const data::TensorType type = data::TypeOf(info);
  Json sharding = Json::array();
  for (size_t d = 0; d < type.global_dims.size(); ++d) {
    const bool is_sharded = d < artifact::Size(info.sharding());
    sharding.push_back(is_sharded ? AxesJson(root, info.sharding()->Get(static_cast<uint32_t>(d))->axes())
                                  : Json::array());
  }
  return {{"type", data::TypeText(type.element, type.global_dims)},
          {"local", data::TypeText(type.element, type.local_dims)},
          {"sharding", sharding}};
}

const char* SpaceName(artifact::Space space) {
  switch (space) {
    case artifact::Space::Private:
      return "private";
    case artifact::Space::Window:
      return "window";
    case artifact::Space::Constant:
      return "constant";
    case artifact::Space::Scratch:
      return "scratch";
  }
  return "unknown";
}

Json SliceJson(const artifact::Slice& slice) {
  return {{"space", SpaceName(slice.space())}, {"offset", slice.offset()}, {"size", slice.size()}};
}

// The values of these enums are comm's.
const char* CollectiveKindName(artifact::CollectiveKind kind) {
  return comm::CollectiveName(static_cast<comm::CollectiveKind>(kind));
}
const char* ReduceKindName(artifact::ReduceKind kind) { return comm::ReduceName(static_cast<comm::ReduceKind>(kind)); }

const char* EpilogueName(artifact::Epilogue epilogue) {
  switch (epilogue) {
    case artifact::Epilogue::None:
      return "none";
    case artifact::Epilogue::Bias:
      return "bias";
    case artifact::Epilogue::BiasRelu:
      return "bias_relu";
    case artifact::Epilogue::Accumulate:
      return "accumulate";
    case artifact::Epilogue::SumsOfA:
      return "sums_of_a";
    case artifact::Epilogue::SumsOfB:
      return "sums_of_b";
  }
  return "unknown";
}

const char* ActivationName(artifact::Activation activation) {
  switch (activation) {
    case artifact::Activation::None:
      return "none";
    case artifact::Activation::Gelu:
      return "gelu";
    case artifact::Activation::GeluGradient:
      return "gelu_gradient";
  }
  return "unknown";
}

const char* OperationKindName(artifact::Operation operation) {
  switch (operation) {
    case artifact::Operation::Launch:
      return "launch";
    case artifact::Operation::Matmul:
      return "matmul";
    case artifact::Operation::Collective:
      return "collective";
    case artifact::Operation::Copy:
      return "copy";
    case artifact::Operation::Fill:
      return "fill";
    case artifact::Operation::Loop:
      return "loop";
    case artifact::Operation::Case:
      return "case";
    case artifact::Operation::Done:
      return "done";
    case artifact::Operation::LaunchGroup:
      return "launch_group";
    case artifact::Operation::Tiled:
      return "tiled";
    case artifact::Operation::Convolution:
      return "convolution";
    case artifact::Operation::Attention:
      return "attention";
    case artifact::Operation::LinearAlgebra:
      return "linear_algebra";
    case artifact::Operation::NONE:
      break;
  }
  return "unknown";
}

std::string LocationText(const artifact::Program& program, uint32_t location) {
  if (location >= artifact::Size(program.locations())) return "";
  return program.locations()->Get(location)->str();
}

}  // namespace sgd::inspect
