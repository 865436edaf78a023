// Attention, forward and backward, as an operation graph of cuDNN: nodes in the order and form that its fused engines
// know (those of NVIDIA/cudnn-frontend before version 9.21).
#pragma once

#include <map>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/artifact/program_generated.h"
#include "targets/gpu/device/cudnn/cudnn.h"

namespace sgd::cuda {

// The names that tensors have in the graph and in the variant pack; virtual ones and scalars have higher ones.
enum class AttentionTensorId : int64_t {
  Query = 1,
  Key,
  Value,
  Out,
  LogSum,
  Bias,
  OutGradient,
  QueryGradient,
  KeyGradient,
  ValueGradient,
  RowDot,  // f32 [batch, heads, rows]: memory that the backward pass writes and reads
  FirstFree = 100
};

struct AttentionGraph {
  CudnnDescriptor graph;
  std::vector<CudnnDescriptor> parts;  // of the graph
  // Scalars are passed by value with each call: f32, or the diagonal's i32, by name.
  std::map<int64_t, float> scalars;
  std::map<int64_t, int32_t> shifts;
};

// Of batch_step batches and head_step heads. Addresses are multiples of 16 bytes, those of the bias and of statistics
// of their elements. Unimplemented for what cuDNN refuses.
absl::StatusOr<AttentionGraph> BuildAttentionGraph(const Cudnn& cudnn, const artifact::AttentionT& attention);

}  // namespace sgd::cuda
