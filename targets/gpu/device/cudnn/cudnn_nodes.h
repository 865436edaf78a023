// Nodes of cuDNN's operation graphs: tensors of four dimensions, matmuls, elementwise operations, reductions.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/artifact/program_generated.h"
#include "targets/gpu/device/cudnn/cudnn.h"

namespace sgd::cuda {

// None for elements that are not f64, f32, f16 or bf16.
std::optional<cudnnDataType_t> CudnnTypeOf(artifact::ElementType element);

using TensorSizes = std::array<int64_t, 4>;

// A tensor of a graph; 0 stands for none.
using GraphTensor = int64_t;

// Adds nodes one after the other. The first refusal of cuDNN is kept: nothing is done after it, and Finish returns it.
class CudnnGraphBuilder {
 public:
  // Names of tensors that have no other begin at `first_name`.
  CudnnGraphBuilder(const Cudnn& cudnn, int64_t first_name) : cudnn_(cudnn), next_name_(first_name) {}

  // Memory under `name`, which is the tensor's; `strides` in elements.
  GraphTensor Memory(int64_t name, cudnnDataType_t type, const TensorSizes& sizes, const TensorSizes& strides,
                     int64_t alignment = 16);
  // A tensor that is never in memory; its strides say how the library may think of it.
  GraphTensor Virtual(cudnnDataType_t type, const TensorSizes& sizes, const TensorSizes& strides);
  GraphTensor Virtual(cudnnDataType_t type, const TensorSizes& sizes) { return Virtual(type, sizes, Dense(sizes)); }
  // One number that is passed with each call.
  GraphTensor Scalar(float value);
  GraphTensor Scalar(int32_t value);

  // c = a b, summed in f32.
  void Multiply(GraphTensor a, GraphTensor b, GraphTensor c);
  struct Pointwise {
    cudnnPointwiseMode_t mode;
    GraphTensor x = 0, b = 0, t = 0, y = 0;  // as cuDNN calls them: two operands, a condition, the result
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    int64_t axis = -1;
  };
  void Add(const Pointwise& node);
  // Over the dimensions that `y` has 1 of.
  void Reduce(cudnnReduceTensorOp_t kind, GraphTensor x, GraphTensor y);
  // The same elements under other sizes and strides.
  void Reshape(GraphTensor x, GraphTensor y);

  // The finished graph, and what it is made of in `parts`.
  absl::StatusOr<CudnnDescriptor> Finish(std::vector<CudnnDescriptor>& parts);

  const std::map<int64_t, float>& scalars() const { return scalars_; }
  const std::map<int64_t, int32_t>& shifts() const { return shifts_; }

  // Row-major.
  static TensorSizes Dense(const TensorSizes& sizes);

 private:
  enum class Kind { Memory, Virtual, Value };
  GraphTensor AddTensor(int64_t name, Kind kind, cudnnDataType_t type, const TensorSizes& sizes,
                        const TensorSizes& strides, int64_t alignment);
  // A new descriptor, or null after a refusal.
  CudnnDescriptor* Make(cudnnBackendDescriptorType_t type);
  void FinishNode(CudnnDescriptor& node, const char* what);

  const Cudnn& cudnn_;
  int64_t next_name_;
  absl::Status status_;
  std::vector<CudnnDescriptor> parts_;
  std::map<GraphTensor, cudnnBackendDescriptor_t> tensors_;
  std::vector<cudnnBackendDescriptor_t> nodes_;
  std::map<int64_t, float> scalars_;
  std::map<int64_t, int32_t> shifts_;
};

}  // namespace sgd::cuda
