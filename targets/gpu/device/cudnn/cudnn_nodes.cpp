// Every descriptor is finished as soon as it is set; a graph keeps the handles of its nodes.
#include "targets/gpu/device/cudnn/cudnn_nodes.h"

#include <utility>

namespace sgd::cuda {

std::optional<cudnnDataType_t> CudnnTypeOf(artifact::ElementType element) {
  switch (element) {
    case artifact::ElementType::F64:
      return CUDNN_DATA_DOUBLE;
    case artifact::ElementType::F32:
      return CUDNN_DATA_FLOAT;
    case artifact::ElementType::F16:
      return CUDNN_DATA_HALF;
    case artifact::ElementType::BF16:
      return CUDNN_DATA_BFLOAT16;
    default:
      return std::nullopt;
  }
}

TensorSizes CudnnGraphBuilder::Dense(const TensorSizes& sizes) {
  return {sizes[1] * sizes[2] * sizes[3], sizes[2] * sizes[3], sizes[3], 1};
}

CudnnDescriptor* CudnnGraphBuilder::Make(cudnnBackendDescriptorType_t type) {
  if (!status_.ok()) return nullptr;
  absl::StatusOr<CudnnDescriptor> made = CudnnDescriptor::Create(cudnn_, type);
  if (!made.ok()) {
    status_ = made.status();
    return nullptr;
  }
  parts_.push_back(*std::move(made));
  return &parts_.back();
}

GraphTensor CudnnGraphBuilder::AddTensor(int64_t name, Kind kind, cudnnDataType_t type, const TensorSizes& sizes,
                                         const TensorSizes& strides, int64_t alignment) {
  CudnnDescriptor* tensor = Make(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  if (tensor == nullptr) return 0;
  status_.Update(tensor->Set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type));
  status_.Update(tensor->Set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, std::span<const int64_t>(sizes)));
  status_.Update(tensor->Set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, std::span<const int64_t>(strides)));
  status_.Update(tensor->Set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, name));
  status_.Update(tensor->Set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, alignment));
  if (kind == Kind::Virtual) status_.Update(tensor->Set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, true));
  if (kind == Kind::Value) status_.Update(tensor->Set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, true));
  status_.Update(tensor->Finalize("a tensor"));
  tensors_[name] = tensor->get();
  return name;
}

GraphTensor CudnnGraphBuilder::Memory(int64_t name, cudnnDataType_t type, const TensorSizes& sizes,
                                      const TensorSizes& strides, int64_t alignment) {
  return AddTensor(name, Kind::Memory, type, sizes, strides, alignment);
}

GraphTensor CudnnGraphBuilder::Virtual(cudnnDataType_t type, const TensorSizes& sizes, const TensorSizes& strides) {
  return AddTensor(next_name_++, Kind::Virtual, type, sizes, strides, 16);
}

GraphTensor CudnnGraphBuilder::Scalar(float value) {
  scalars_[next_name_] = value;
  return AddTensor(next_name_++, Kind::Value, CUDNN_DATA_FLOAT, {1, 1, 1, 1}, {1, 1, 1, 1}, sizeof(value));
}

GraphTensor CudnnGraphBuilder::Scalar(int32_t value) {
  shifts_[next_name_] = value;
  return AddTensor(next_name_++, Kind::Value, CUDNN_DATA_INT32, {1, 1, 1, 1}, {1, 1, 1, 1}, sizeof(value));
}

void CudnnGraphBuilder::FinishNode(CudnnDescriptor& node, const char* what) {
  status_.Update(node.Finalize(what));
  nodes_.push_back(node.get());
}

void CudnnGraphBuilder::Multiply(GraphTensor a, GraphTensor b, GraphTensor c) {
  CudnnDescriptor* matmul = Make(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  if (matmul == nullptr) return;
  status_.Update(matmul->Set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT));
  status_.Update(matmul->Finalize("a matmul"));
  const cudnnBackendDescriptor_t handle = matmul->get();
  CudnnDescriptor* node = Make(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  if (node == nullptr) return;
  status_.Update(node->Set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, tensors_[a]));
  status_.Update(node->Set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, tensors_[b]));
  status_.Update(node->Set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, tensors_[c]));
  status_.Update(node->Set(CUDNN_ATTR_OPERATION_MATMUL_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, handle));
  FinishNode(*node, "a matmul in a graph");
}

void CudnnGraphBuilder::Add(const Pointwise& pointwise) {
  CudnnDescriptor* kind = Make(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  if (kind == nullptr) return;
  status_.Update(kind->Set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, pointwise.mode));
  status_.Update(kind->Set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, pointwise.type));
  if (pointwise.axis >= 0) status_.Update(kind->Set(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, pointwise.axis));
  status_.Update(kind->Finalize("an elementwise operation"));
  const cudnnBackendDescriptor_t handle = kind->get();
  CudnnDescriptor* node = Make(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  if (node == nullptr) return;
  const auto set = [&](cudnnBackendAttributeName_t name, GraphTensor tensor) {
    if (tensor != 0) status_.Update(node->Set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, tensors_[tensor]));
  };
  status_.Update(node->Set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, CUDNN_TYPE_BACKEND_DESCRIPTOR, handle));
  set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, pointwise.x);
  set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, pointwise.b);
  set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, pointwise.t);
  set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, pointwise.y);
  FinishNode(*node, "an elementwise operation in a graph");
}

void CudnnGraphBuilder::Reduce(cudnnReduceTensorOp_t kind, GraphTensor x, GraphTensor y) {
  CudnnDescriptor* reduction = Make(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  if (reduction == nullptr) return;
  status_.Update(reduction->Set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, kind));
  status_.Update(reduction->Set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT));
  status_.Update(reduction->Finalize("a reduction"));
  const cudnnBackendDescriptor_t handle = reduction->get();
  CudnnDescriptor* node = Make(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  if (node == nullptr) return;
  status_.Update(node->Set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, handle));
  status_.Update(node->Set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, tensors_[x]));
  status_.Update(node->Set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, tensors_[y]));
  FinishNode(*node, "a reduction in a graph");
}

void CudnnGraphBuilder::Reshape(GraphTensor x, GraphTensor y) {
  CudnnDescriptor* node = Make(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  if (node == nullptr) return;
  status_.Update(node->Set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, tensors_[x]));
  status_.Update(node->Set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, CUDNN_TYPE_BACKEND_DESCRIPTOR, tensors_[y]));
  FinishNode(*node, "a reshape in a graph");
}

absl::StatusOr<CudnnDescriptor> CudnnGraphBuilder::Finish(std::vector<CudnnDescriptor>& parts) {
  if (!status_.ok()) return status_;
  absl::StatusOr<CudnnDescriptor> graph = CudnnDescriptor::Create(cudnn_, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  if (!graph.ok()) return graph;
  absl::Status status = graph->Set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                   std::span<const cudnnBackendDescriptor_t>(nodes_));
  // Demanded before version 9.8.
  if (cudnn_.handle() != nullptr)
    status.Update(graph->Set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, cudnn_.handle()));
  status.Update(graph->Finalize("the graph"));
  if (!status.ok()) return status;
  parts = std::move(parts_);
  return graph;
}

}  // namespace sgd::cuda
