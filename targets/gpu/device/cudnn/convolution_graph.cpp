// Tensors, the convolution, the operations, the graph: finished in this order, as cuDNN demands.
#include "targets/gpu/device/cudnn/convolution_graph.h"

#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/element_type.h"
#include "targets/gpu/device/cudnn/cudnn_nodes.h"

namespace sgd::cuda {
namespace {

using artifact::ConvolutionForm;
using artifact::ConvolutionKind;
using artifact::ElementType;
using library::Epilogue;
using library::EpilogueStep;

// The alignment of virtual tensors too, though they have no address.
constexpr int64_t kMostAlignment = 16;

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

// One per feature of the response, side by side.
artifact::ConvolutionTensor BiasOf(const artifact::ConvolutionTensor& response) {
  const int64_t features = response.sizes[1];
  artifact::ConvolutionTensor bias;
  bias.sizes.assign(response.sizes.size(), 1);
  bias.strides.assign(response.sizes.size(), features);
  bias.sizes[1] = features, bias.strides[1] = 1;
  return bias;
}

// Every descriptor lives until the graph is finished.
class GraphBuilder {
 public:
  using Descriptor = absl::StatusOr<const CudnnDescriptor*>;

  explicit GraphBuilder(const Cudnn& cudnn) : cudnn_(cudnn) {}

  // `alignment` 0: the tensor has no memory.
  Descriptor Tensor(ConvolutionTensorId id, const artifact::ConvolutionTensor& tensor, cudnnDataType_t type,
                    int64_t alignment) {
    absl::StatusOr<CudnnDescriptor> built = CudnnDescriptor::Create(cudnn_, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    if (!built.ok()) return built.status();
    absl::Status status = built->Set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
    status.Update(built->Set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, std::span<const int64_t>(tensor.sizes)));
    status.Update(built->Set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, std::span<const int64_t>(tensor.strides)));
    status.Update(built->Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, static_cast<int64_t>(id)));
    status.Update(
        built->Set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, alignment == 0 ? kMostAlignment : alignment));
    if (alignment == 0) status.Update(built->Set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, true));
    return Finish(*std::move(built), status, "a tensor");
  }

  // `accumulates`: the result is added to.
  absl::Status AddConvolution(const ConvolutionForm& form, cudnnDataType_t sums, bool accumulates,
                              const CudnnDescriptor& image, const CudnnDescriptor& filter,
                              const CudnnDescriptor& response) {
    Descriptor convolution = Convolution(form, sums);
    if (!convolution.ok()) return convolution.status();
    const OperationNames names = NamesOf(form.kind);
    absl::StatusOr<CudnnDescriptor> operation = CudnnDescriptor::Create(cudnn_, names.type);
    if (!operation.ok()) return operation.status();
    absl::Status status = operation->Set(names.convolution, **convolution);
    status.Update(operation->Set(names.image, image));
    status.Update(operation->Set(names.filter, filter));
    status.Update(operation->Set(names.response, response));
    if (sums == CUDNN_DATA_DOUBLE) {
      status.Update(operation->Set(names.alpha, CUDNN_TYPE_DOUBLE, 1.0));
      status.Update(operation->Set(names.beta, CUDNN_TYPE_DOUBLE, accumulates ? 1.0 : 0.0));
    } else {
      status.Update(operation->Set(names.alpha, CUDNN_TYPE_FLOAT, 1.0f));
      status.Update(operation->Set(names.beta, CUDNN_TYPE_FLOAT, accumulates ? 1.0f : 0.0f));
    }
    return AddOperation(*std::move(operation), status);
  }

  // `y` = `mode`(`x`, `b`) in f32; relu has no `b`.
  absl::Status AddPointwise(cudnnPointwiseMode_t mode, const CudnnDescriptor& x, const CudnnDescriptor* b,
                            const CudnnDescriptor& y) {
    absl::StatusOr<CudnnDescriptor> built = CudnnDescriptor::Create(cudnn_, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    if (!built.ok()) return built.status();
    absl::Status status = built->Set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode);
    status.Update(built->Set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT));
    if (mode == CUDNN_POINTWISE_RELU_FWD)
      status.Update(built->Set(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_TYPE_NAN_PROPOGATION, CUDNN_PROPAGATE_NAN));
    Descriptor pointwise = Finish(*std::move(built), status, "a function of elements");
    if (!pointwise.ok()) return pointwise.status();
    absl::StatusOr<CudnnDescriptor> operation =
        CudnnDescriptor::Create(cudnn_, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    if (!operation.ok()) return operation.status();
    status = operation->Set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, **pointwise);
    status.Update(operation->Set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x));
    if (b != nullptr) status.Update(operation->Set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, *b));
    status.Update(operation->Set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y));
    return AddOperation(*std::move(operation), status);
  }

  absl::StatusOr<CudnnDescriptor> Build() const {
    absl::StatusOr<CudnnDescriptor> graph = CudnnDescriptor::Create(cudnn_, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    if (!graph.ok()) return graph;
    absl::Status status = graph->Set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                     std::span<const cudnnBackendDescriptor_t>(operations_));
    // Demanded before version 9.8.
    if (cudnn_.handle() != nullptr)
      status.Update(graph->Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, cudnn_.handle()));
    status.Update(graph->Finalize("the graph"));
    if (!status.ok()) return status;
    return graph;
  }

 private:
  Descriptor Convolution(const ConvolutionForm& form, cudnnDataType_t sums) {
    absl::StatusOr<CudnnDescriptor> built = CudnnDescriptor::Create(cudnn_, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    if (!built.ok()) return built.status();
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
    return Finish(*std::move(built), status, "a convolution");
  }

  Descriptor Finish(CudnnDescriptor descriptor, absl::Status status, std::string_view what) {
    status.Update(descriptor.Finalize(what));
    if (!status.ok()) return status;
    kept_.push_back(std::move(descriptor));
    return &kept_.back();
  }

  absl::Status AddOperation(CudnnDescriptor operation, absl::Status status) {
    Descriptor finished = Finish(std::move(operation), std::move(status), "an operation");
    if (finished.ok()) operations_.push_back((*finished)->get());
    return finished.status();
  }

  const Cudnn& cudnn_;
  std::deque<CudnnDescriptor> kept_;
  std::vector<cudnnBackendDescriptor_t> operations_;
};

}  // namespace

absl::StatusOr<CudnnDescriptor> BuildConvolutionGraph(const Cudnn& cudnn, const ConvolutionForm& form,
                                                      ElementType element, const Epilogue& epilogue,
                                                      const ConvolutionAlignments& alignments) {
  const std::optional<cudnnDataType_t> type = CudnnTypeOf(element);
  if (!type)
    return absl::UnimplementedError(absl::StrCat("cuDNN convolves no elements of ", artifact::ElementName(element)));
  const cudnnDataType_t sums = *type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  const bool has_bias = epilogue.Has(EpilogueStep::kBias), has_relu = epilogue.Has(EpilogueStep::kRelu);
  const bool accumulates = epilogue.Has(EpilogueStep::kResidual);
  if ((accumulates && has_bias) || (has_relu && !has_bias))
    return absl::UnimplementedError(absl::StrCat("convolution on a GPU: an epilogue of ", library::TextOf(epilogue)));
  if (has_bias && (form.kind != ConvolutionKind::Forward || sums == CUDNN_DATA_DOUBLE))
    return absl::UnimplementedError("cuDNN adds a bias to forward convolutions of f32, f16 and bf16 only");
  using Id = ConvolutionTensorId;
  GraphBuilder graph(cudnn);
  GraphBuilder::Descriptor image = graph.Tensor(Id::Image, form.image, *type, alignments.image);
  if (!image.ok()) return image.status();
  GraphBuilder::Descriptor filter = graph.Tensor(Id::Filter, form.filter, *type, alignments.filter);
  if (!filter.ok()) return filter.status();
  GraphBuilder::Descriptor response = graph.Tensor(Id::Response, form.response, *type, alignments.response);
  if (!response.ok()) return response.status();
  if (!has_bias) {
    absl::Status status = graph.AddConvolution(form, sums, accumulates, **image, **filter, **response);
    if (!status.ok()) return status;
    return graph.Build();
  }
  GraphBuilder::Descriptor bias = graph.Tensor(Id::Bias, BiasOf(form.response), *type, alignments.bias);
  if (!bias.ok()) return bias.status();
  GraphBuilder::Descriptor summed = graph.Tensor(Id::Sums, form.response, sums, 0);
  if (!summed.ok()) return summed.status();
  absl::Status status = graph.AddConvolution(form, sums, false, **image, **filter, **summed);
  if (status.ok() && !has_relu) status = graph.AddPointwise(CUDNN_POINTWISE_ADD, **summed, *bias, **response);
  if (status.ok() && has_relu) {
    GraphBuilder::Descriptor biased = graph.Tensor(Id::Biased, form.response, sums, 0);
    if (!biased.ok()) return biased.status();
    status = graph.AddPointwise(CUDNN_POINTWISE_ADD, **summed, *bias, **biased);
    if (status.ok()) status = graph.AddPointwise(CUDNN_POINTWISE_RELU_FWD, **biased, nullptr, **response);
  }
  if (!status.ok()) return status;
  return graph.Build();
}

}  // namespace sgd::cuda
