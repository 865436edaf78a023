// Tensors, the convolution, the operation, the graph: finished in this order, as cuDNN demands.
#include "targets/gpu/device/convolution_graph.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/element_type.h"

namespace sgd::cuda {
namespace {

using artifact::ConvolutionForm;
using artifact::ConvolutionKind;
using artifact::ElementType;

std::optional<cudnnDataType_t> TypeOf(ElementType element) {
  switch (element) {
    case ElementType::F64:
      return CUDNN_DATA_DOUBLE;
    case ElementType::F32:
      return CUDNN_DATA_FLOAT;
    case ElementType::F16:
      return CUDNN_DATA_HALF;
    case ElementType::BF16:
      return CUDNN_DATA_BFLOAT16;
    default:
      return std::nullopt;
  }
}

// The attributes' names differ by kind, and nothing else does.
struct OperationNames {
  cudnnBackendDescriptorType_t type;
  cudnnBackendAttributeName_t convolution, image, filter, response, alpha, beta;
};

OperationNames NamesOf(ConvolutionKind kind) {
  switch (kind) {
    case ConvolutionKind::Forward:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
    case ConvolutionKind::DataGradient:
      return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
              CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
    case ConvolutionKind::FilterGradient:
      break;
  }
  return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
          CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
}

absl::StatusOr<CudnnDescriptor> BuildTensor(const Cudnn& cudnn, ConvolutionTensorId id,
                                            const artifact::ConvolutionTensor& tensor, cudnnDataType_t type,
                                            int64_t alignment) {
  absl::StatusOr<CudnnDescriptor> built = CudnnDescriptor::Create(cudnn, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  if (!built.ok()) return built;
  absl::Status status = built->Set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
  status.Update(built->Set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, std::span<const int64_t>(tensor.sizes)));
  status.Update(built->Set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, std::span<const int64_t>(tensor.strides)));
  status.Update(built->Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, static_cast<int64_t>(id)));
  status.Update(built->Set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, alignment));
  status.Update(built->Finalize("a tensor"));
  if (!status.ok()) return status;
  return built;
}

absl::StatusOr<CudnnDescriptor> BuildConvolution(const Cudnn& cudnn, const ConvolutionForm& form,
                                                 cudnnDataType_t sums) {
  absl::StatusOr<CudnnDescriptor> built = CudnnDescriptor::Create(cudnn, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  if (!built.ok()) return built;
  const auto set = [&](cudnnBackendAttributeName_t name, const std::vector<int64_t>& values) {
    return built->Set(name, CUDNN_TYPE_INT64, std::span<const int64_t>(values));
  };
  absl::Status status = built->Set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, sums);
  status.Update(built->Set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
                           form.flips ? CUDNN_CONVOLUTION : CUDNN_CROSS_CORRELATION));
  status.Update(
      built->Set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, static_cast<int64_t>(form.strides.size())));
  status.Update(set(CUDNN_ATTR_CONVOLUTION_DILATIONS, form.dilations));
  status.Update(set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, form.strides));
  status.Update(set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, form.before));
  status.Update(set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, form.after));
  status.Update(built->Finalize("a convolution"));
  if (!status.ok()) return status;
  return built;
}

}  // namespace

absl::StatusOr<CudnnDescriptor> BuildConvolutionGraph(const Cudnn& cudnn, const ConvolutionForm& form,
                                                      ElementType element, const ConvolutionAlignments& alignments) {
  const std::optional<cudnnDataType_t> type = TypeOf(element);
  if (!type)
    return absl::UnimplementedError(absl::StrCat("cuDNN convolves no elements of ", artifact::ElementName(element)));
  const bool is_double = *type == CUDNN_DATA_DOUBLE;
  absl::StatusOr<CudnnDescriptor> image =
      BuildTensor(cudnn, ConvolutionTensorId::Image, form.image, *type, alignments.image);
  if (!image.ok()) return image;
  absl::StatusOr<CudnnDescriptor> filter =
      BuildTensor(cudnn, ConvolutionTensorId::Filter, form.filter, *type, alignments.filter);
  if (!filter.ok()) return filter;
  absl::StatusOr<CudnnDescriptor> response =
      BuildTensor(cudnn, ConvolutionTensorId::Response, form.response, *type, alignments.response);
  if (!response.ok()) return response;
  absl::StatusOr<CudnnDescriptor> convolution =
      BuildConvolution(cudnn, form, is_double ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT);
  if (!convolution.ok()) return convolution;

  const OperationNames names = NamesOf(form.kind);
  absl::StatusOr<CudnnDescriptor> operation = CudnnDescriptor::Create(cudnn, names.type);
  if (!operation.ok()) return operation;
  absl::Status status = operation->Set(names.convolution, *convolution);
  status.Update(operation->Set(names.image, *image));
  status.Update(operation->Set(names.filter, *filter));
  status.Update(operation->Set(names.response, *response));
  if (is_double) {
    status.Update(operation->Set(names.alpha, CUDNN_TYPE_DOUBLE, 1.0));
    status.Update(operation->Set(names.beta, CUDNN_TYPE_DOUBLE, 0.0));
  } else {
    status.Update(operation->Set(names.alpha, CUDNN_TYPE_FLOAT, 1.0f));
    status.Update(operation->Set(names.beta, CUDNN_TYPE_FLOAT, 0.0f));
  }
  status.Update(operation->Finalize("the operation"));
  if (!status.ok()) return status;

  absl::StatusOr<CudnnDescriptor> graph = CudnnDescriptor::Create(cudnn, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  if (!graph.ok()) return graph;
  status = graph->Set(CUDNN_ATTR_OPERATIONGRAPH_OPS, *operation);
  // Demanded before version 9.8.
  if (cudnn.handle() != nullptr)
    status.Update(graph->Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, cudnn.handle()));
  status.Update(graph->Finalize("the graph"));
  if (!status.ok()) return status;
  return graph;
}

}  // namespace sgd::cuda
