// As cuDNN 9.19 refuses it, tried on the library itself.
#include "tests/targets/gpu/fakes/cudnn_graph.h"

#include <algorithm>
#include <set>

#include "tests/targets/gpu/fakes/cudnn_dataflow.h"

namespace sgd::emulated {
namespace {

struct Rule {
  cudnnBackendDescriptorType_t of;
  cudnnBackendAttributeType_t type;
  int64_t most;
  bool is_required;
};

constexpr int64_t kMany = 64;

const std::map<cudnnBackendAttributeName_t, Rule>& Rules() {
  static const std::map<cudnnBackendAttributeName_t, Rule> rules = {
      {CUDNN_ATTR_TENSOR_DATA_TYPE, {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_TYPE_DATA_TYPE, 1, true}},
      {CUDNN_ATTR_TENSOR_DIMENSIONS, {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_TYPE_INT64, CUDNN_DIM_MAX, true}},
      {CUDNN_ATTR_TENSOR_STRIDES, {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_TYPE_INT64, CUDNN_DIM_MAX, true}},
      {CUDNN_ATTR_TENSOR_UNIQUE_ID, {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_TYPE_INT64, 1, true}},
      {CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_TYPE_INT64, 1, true}},
      {CUDNN_ATTR_TENSOR_IS_VIRTUAL, {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_TYPE_BOOLEAN, 1, false}},
      {CUDNN_ATTR_TENSOR_IS_BY_VALUE, {CUDNN_BACKEND_TENSOR_DESCRIPTOR, CUDNN_TYPE_BOOLEAN, 1, false}},
      {CUDNN_ATTR_MATMUL_COMP_TYPE, {CUDNN_BACKEND_MATMUL_DESCRIPTOR, CUDNN_TYPE_DATA_TYPE, 1, true}},
      {CUDNN_ATTR_OPERATION_MATMUL_ADESC,
       {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true}},
      {CUDNN_ATTR_OPERATION_MATMUL_BDESC,
       {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true}},
      {CUDNN_ATTR_OPERATION_MATMUL_CDESC,
       {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true}},
      {CUDNN_ATTR_OPERATION_MATMUL_DESC,
       {CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true}},
      {CUDNN_ATTR_POINTWISE_MODE, {CUDNN_BACKEND_POINTWISE_DESCRIPTOR, CUDNN_TYPE_POINTWISE_MODE, 1, true}},
      {CUDNN_ATTR_POINTWISE_MATH_PREC, {CUDNN_BACKEND_POINTWISE_DESCRIPTOR, CUDNN_TYPE_DATA_TYPE, 1, true}},
      {CUDNN_ATTR_POINTWISE_AXIS, {CUDNN_BACKEND_POINTWISE_DESCRIPTOR, CUDNN_TYPE_INT64, 1, false}},
      {CUDNN_ATTR_POINTWISE_NAN_PROPAGATION,
       {CUDNN_BACKEND_POINTWISE_DESCRIPTOR, CUDNN_TYPE_NAN_PROPOGATION, 1, false}},
      {CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR,
       {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true}},
      {CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
       {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true}},
      {CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
       {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, false}},
      {CUDNN_ATTR_OPERATION_POINTWISE_TDESC,
       {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, false}},
      {CUDNN_ATTR_OPERATION_POINTWISE_YDESC,
       {CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true}},
      {CUDNN_ATTR_REDUCTION_OPERATOR,
       {CUDNN_BACKEND_REDUCTION_DESCRIPTOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, true}},
      {CUDNN_ATTR_REDUCTION_COMP_TYPE, {CUDNN_BACKEND_REDUCTION_DESCRIPTOR, CUDNN_TYPE_DATA_TYPE, 1, true}},
      {CUDNN_ATTR_OPERATION_REDUCTION_DESC,
       {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true}},
      {CUDNN_ATTR_OPERATION_REDUCTION_XDESC,
       {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true}},
      {CUDNN_ATTR_OPERATION_REDUCTION_YDESC,
       {CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true}},
      {CUDNN_ATTR_OPERATION_RESHAPE_XDESC,
       {CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true}},
      {CUDNN_ATTR_OPERATION_RESHAPE_YDESC,
       {CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true}},
      {CUDNN_ATTR_CONVOLUTION_COMP_TYPE, {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_TYPE_DATA_TYPE, 1, true}},
      {CUDNN_ATTR_CONVOLUTION_CONV_MODE, {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_TYPE_CONVOLUTION_MODE, 1, true}},
      {CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_TYPE_INT64, 1, true}},
      {CUDNN_ATTR_CONVOLUTION_DILATIONS, {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_TYPE_INT64, kMany, true}},
      {CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_TYPE_INT64, kMany, true}},
      {CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_TYPE_INT64, kMany, true}},
      {CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, {CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR, CUDNN_TYPE_INT64, kMany, true}},
      {CUDNN_ATTR_OPERATIONGRAPH_OPS,
       {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, kMany, true}},
      {CUDNN_ATTR_OPERATIONGRAPH_HANDLE, {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR, CUDNN_TYPE_HANDLE, 1, true}},
      {CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
       {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true}},
      {CUDNN_ATTR_ENGINEHEUR_MODE, {CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR, CUDNN_TYPE_HEUR_MODE, 1, true}},
      {CUDNN_ATTR_ENGINE_OPERATION_GRAPH, {CUDNN_BACKEND_ENGINE_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true}},
      {CUDNN_ATTR_ENGINE_GLOBAL_INDEX, {CUDNN_BACKEND_ENGINE_DESCRIPTOR, CUDNN_TYPE_INT64, 1, true}},
      {CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, {CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_TYPE_KNOB_TYPE, 1, true}},
      {CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, {CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_TYPE_INT64, 1, true}},
      {CUDNN_ATTR_ENGINECFG_ENGINE, {CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true}},
      {CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
       {CUDNN_BACKEND_ENGINECFG_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, kMany, false}},
      {CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
       {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, true}},
      {CUDNN_ATTR_EXECUTION_PLAN_HANDLE, {CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR, CUDNN_TYPE_HANDLE, 1, true}},
      {CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, CUDNN_TYPE_INT64, kMany, true}},
      {CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS,
       {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, CUDNN_TYPE_VOID_PTR, kMany, true}},
      {CUDNN_ATTR_VARIANT_PACK_WORKSPACE, {CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR, CUDNN_TYPE_VOID_PTR, 1, false}},
  };
  return rules;
}

struct OperationNames {
  cudnnBackendAttributeName_t convolution, image, filter, response, alpha, beta;
  int result;
};

const OperationNames* NamesOf(cudnnBackendDescriptorType_t type) {
  static const OperationNames forward = {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                                         CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
                                         2};
  static const OperationNames data = {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                                      CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
                                      0};
  static const OperationNames filter = {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                                        CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
                                        1};
  switch (type) {
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
      return &forward;
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
      return &data;
    case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
      return &filter;
    default:
      return nullptr;
  }
}

size_t SizeOf(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
      return 8;
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR:
      return 1;
    default:
      return 4;
  }
}

bool AllAtLeast(const std::vector<int64_t>& values, int64_t least) {
  return std::all_of(values.begin(), values.end(), [least](int64_t value) { return value >= least; });
}

cudnnStatus_t Demand(bool holds, cudnnStatus_t otherwise = CUDNN_STATUS_BAD_PARAM) {
  return holds ? CUDNN_STATUS_SUCCESS : otherwise;
}

cudnnStatus_t CheckTensor(const GraphDescriptor& tensor) {
  const auto sizes = tensor.All<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  const auto strides = tensor.All<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
  const int64_t alignment = tensor.One<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  const auto type = tensor.One<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
  // Of virtual tensors and scalars: rows, columns and conditions.
  const size_t bytes = type == CUDNN_DATA_INT32 ? 4 : type == CUDNN_DATA_BOOLEAN ? 1 : BytesOf(type);
  return Demand(bytes != 0 && sizes.size() == strides.size() && AllAtLeast(sizes, 1) && AllAtLeast(strides, 1) &&
                alignment > 0 && (alignment & (alignment - 1)) == 0 && alignment >= static_cast<int64_t>(bytes));
}

cudnnStatus_t CheckConvolution(const GraphDescriptor& convolution) {
  const auto count = static_cast<size_t>(convolution.One<int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS));
  const auto fits = [&](cudnnBackendAttributeName_t name, int64_t least) {
    const auto values = convolution.All<int64_t>(name);
    return values.size() == count && AllAtLeast(values, least);
  };
  const auto type = convolution.One<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
  return Demand(count >= 1 && count <= 3 && (type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_DOUBLE) &&
                fits(CUDNN_ATTR_CONVOLUTION_DILATIONS, 1) && fits(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 1) &&
                fits(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 0) && fits(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, 0));
}

// Shapes must be those of a convolution, the response's exactly.
cudnnStatus_t CheckOperation(const GraphDescriptor& operation, const OperationNames& names) {
  for (cudnnBackendAttributeName_t name : {names.convolution, names.image, names.filter, names.response}) {
    if (!operation.Has(name)) return CUDNN_STATUS_BAD_PARAM;
  }
  const GraphDescriptor& convolution = operation.Of(names.convolution);
  const auto type = convolution.One<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
  const auto scale = type == CUDNN_DATA_DOUBLE ? CUDNN_TYPE_DOUBLE : CUDNN_TYPE_FLOAT;
  for (cudnnBackendAttributeName_t name : {names.alpha, names.beta}) {
    if (!operation.Has(name) || operation.attributes.at(name).type != scale) return CUDNN_STATUS_BAD_PARAM;
  }
  const GraphConvolution op = ConvolutionOf(operation);
  std::vector<int64_t> sizes[3];
  for (int i = 0; i < 3; ++i) {
    sizes[i] = op.tensors[i]->All<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
    const auto element = op.tensors[i]->One<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
    // A result without memory keeps the sums.
    const bool is_sum = i == op.result && IsVirtual(*op.tensors[i]) && element == type;
    const auto operand = op.tensors[(op.result + 1) % 3]->One<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
    if ((element != operand && !is_sum) || (element == CUDNN_DATA_DOUBLE) != (type == CUDNN_DATA_DOUBLE))
      return CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE;
  }
  const auto& [x, w, y] = sizes;
  const auto spatial = static_cast<size_t>(convolution.One<int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS));
  if (x.size() != spatial + 2 || w.size() != x.size() || y.size() != x.size()) return CUDNN_STATUS_BAD_PARAM;
  if (x[0] != y[0] || x[1] % w[1] != 0 || w[0] != y[1] || w[0] % (x[1] / w[1]) != 0) return CUDNN_STATUS_BAD_PARAM;
  const auto strides = convolution.All<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  const auto dilations = convolution.All<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS);
  const auto before = convolution.All<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  const auto after = convolution.All<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS);
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t room = x[i + 2] + before[i] + after[i] - ((w[i + 2] - 1) * dilations[i] + 1);
    if (room < 0 || room / strides[i] + 1 != y[i + 2]) return CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH;
  }
  return CUDNN_STATUS_SUCCESS;
}

bool HasSizes(const GraphDescriptor& tensor, const std::vector<int64_t>& sizes) {
  return tensor.All<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS) == sizes;
}

// An addition of a feature's bias, or relu, which keeps NaN, of what has the shape of the result.
cudnnStatus_t CheckPointwise(const GraphDescriptor& operation) {
  const GraphDescriptor& function = operation.Of(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  const auto mode = function.One<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
  if (function.One<cudnnDataType_t>(CUDNN_ATTR_POINTWISE_MATH_PREC) != CUDNN_DATA_FLOAT)
    return CUDNN_STATUS_NOT_SUPPORTED_DATA_TYPE;
  const auto sizes = operation.Of(CUDNN_ATTR_OPERATION_POINTWISE_YDESC).All<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  if (!HasSizes(operation.Of(CUDNN_ATTR_OPERATION_POINTWISE_XDESC), sizes)) return CUDNN_STATUS_BAD_PARAM;
  const bool has_bias = operation.Has(CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
  if (mode == CUDNN_POINTWISE_RELU_FWD) {
    const bool keeps_nan = function.Has(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION) &&
                           function.One<int>(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION) == 1;
    return Demand(!has_bias && keeps_nan);
  }
  if (mode != CUDNN_POINTWISE_ADD || !has_bias) return CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN;
  std::vector<int64_t> features(sizes.size(), 1);
  features[1] = sizes[1];
  return Demand(HasSizes(operation.Of(CUDNN_ATTR_OPERATION_POINTWISE_BDESC), features),
                CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH);
}

// Each operation reads what the one before writes, which has memory at the end only.
cudnnStatus_t CheckGraph(const GraphDescriptor& graph) {
  if (IsDataflow(graph)) return CheckDataflow(graph);
  const std::vector<const GraphDescriptor*> operations = OperationsOf(graph);
  if (operations.size() > 3 || NamesOf(operations.front()->type) == nullptr)
    return CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN;
  const GraphConvolution convolution = ConvolutionOf(*operations.front());
  std::set<int64_t> ids;
  std::vector<const GraphDescriptor*> tensors(std::begin(convolution.tensors), std::end(convolution.tensors));
  const GraphDescriptor* written = tensors[static_cast<size_t>(convolution.result)];
  for (size_t i = 1; i < operations.size(); ++i) {
    const GraphDescriptor& operation = *operations[i];
    // Seen of 9.19: what follows gradients, and relu without a bias, have no engine.
    if (operations.front()->type != CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR ||
        operation.type != CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR ||
        operation.Has(CUDNN_ATTR_OPERATION_POINTWISE_BDESC) != (i == 1) || !IsVirtual(*written) ||
        IdOf(operation.Of(CUDNN_ATTR_OPERATION_POINTWISE_XDESC)) != IdOf(*written))
      return CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN;
    if (const cudnnStatus_t status = CheckPointwise(operation); status != CUDNN_STATUS_SUCCESS) return status;
    if (i == 1) tensors.push_back(&operation.Of(CUDNN_ATTR_OPERATION_POINTWISE_BDESC));
    written = &operation.Of(CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
    tensors.push_back(written);
  }
  if (IsVirtual(*written)) return CUDNN_STATUS_BAD_PARAM;
  for (const GraphDescriptor* tensor : tensors) ids.insert(IdOf(*tensor));
  return Demand(ids.size() == tensors.size(), CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES);
}

cudnnStatus_t CheckPack(const GraphDescriptor& pack) {
  const auto ids = pack.All<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  return Demand(ids.size() == pack.All<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).size() &&
                std::set<int64_t>(ids.begin(), ids.end()).size() == ids.size());
}

}  // namespace

size_t BytesOf(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_FLOAT:
      return 4;
    case CUDNN_DATA_DOUBLE:
      return 8;
    case CUDNN_DATA_HALF:
    case CUDNN_DATA_BFLOAT16:
      return 2;
    default:
      return 0;
  }
}

bool IsVirtual(const GraphDescriptor& tensor) {
  return tensor.Has(CUDNN_ATTR_TENSOR_IS_VIRTUAL) && tensor.One<char>(CUDNN_ATTR_TENSOR_IS_VIRTUAL) != 0;
}

int64_t IdOf(const GraphDescriptor& tensor) { return tensor.One<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID); }

std::vector<const GraphDescriptor*> OperationsOf(const GraphDescriptor& graph) {
  std::vector<const GraphDescriptor*> operations;
  for (void* handle : graph.All<cudnnBackendDescriptor_t>(CUDNN_ATTR_OPERATIONGRAPH_OPS))
    operations.push_back(static_cast<const GraphDescriptor*>(handle));
  return operations;
}

GraphConvolution ConvolutionOf(const GraphDescriptor& operation) {
  const OperationNames& names = *NamesOf(operation.type);
  return {{&operation.Of(names.image), &operation.Of(names.filter), &operation.Of(names.response)},
          &operation.Of(names.convolution),
          names.result,
          operation.attributes.at(names.beta).type == CUDNN_TYPE_DOUBLE ? operation.One<double>(names.beta)
                                                                        : operation.One<float>(names.beta)};
}

cudnnStatus_t GraphDescriptor::Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t attribute_type,
                                   int64_t count, const void* values) {
  if (is_finished) return CUDNN_STATUS_BAD_PARAM;
  if (values == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  int64_t most = 1;
  if (const OperationNames* names = NamesOf(type)) {
    const bool is_scale = name == names->alpha || name == names->beta;
    if (!is_scale && name != names->convolution && name != names->image && name != names->filter &&
        name != names->response)
      return CUDNN_STATUS_BAD_PARAM;
    if (is_scale ? attribute_type != CUDNN_TYPE_FLOAT && attribute_type != CUDNN_TYPE_DOUBLE
                 : attribute_type != CUDNN_TYPE_BACKEND_DESCRIPTOR)
      return CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
  } else {
    const auto rule = Rules().find(name);
    if (rule == Rules().end() || rule->second.of != type) return CUDNN_STATUS_BAD_PARAM;
    if (rule->second.type != attribute_type) return CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
    most = rule->second.most;
  }
  if (count < 1 || count > most) return CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT;
  Attribute attribute{attribute_type, count, std::vector<char>(static_cast<size_t>(count) * SizeOf(attribute_type))};
  std::memcpy(attribute.bytes.data(), values, attribute.bytes.size());
  if (attribute_type == CUDNN_TYPE_BACKEND_DESCRIPTOR) {
    for (int64_t i = 0; i < count; ++i) {
      const auto* other = static_cast<GraphDescriptor* const*>(values)[i];
      if (other == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
      if (!other->is_finished) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
      attribute.kept.push_back(other->shared_from_this());
    }
  }
  attributes[name] = std::move(attribute);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t GraphDescriptor::Finish() {
  if (is_finished) return CUDNN_STATUS_BAD_PARAM;
  for (const auto& [name, rule] : Rules()) {
    if (rule.of == type && rule.is_required && !Has(name)) return CUDNN_STATUS_BAD_PARAM;
  }
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
  if (const OperationNames* names = NamesOf(type)) status = CheckOperation(*this, *names);
  if (type == CUDNN_BACKEND_TENSOR_DESCRIPTOR) status = CheckTensor(*this);
  if (type == CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR) status = CheckConvolution(*this);
  if (type == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) status = CheckGraph(*this);
  if (type == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR) status = CheckPack(*this);
  is_finished = status == CUDNN_STATUS_SUCCESS;
  return status;
}

}  // namespace sgd::emulated
