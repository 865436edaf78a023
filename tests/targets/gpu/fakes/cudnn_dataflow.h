// Operation graphs of matmuls, elementwise operations and reductions in the fake of cuDNN: what fused attention is
// made of. Executed node by node, everything between them in memory.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "tests/targets/gpu/fakes/cudnn_graph.h"

namespace sgd::emulated {

// Whether the nodes of a graph are of this kind: one of them is a matmul.
bool IsDataflow(const GraphDescriptor& graph);

// As the library refuses them: nodes before those that they read, tensors of other shapes, virtual tensors that nobody
// writes, and of attention what its engines do not take.
cudnnStatus_t CheckDataflow(const GraphDescriptor& graph);

// Bytes that the engines ask for: the backward pass keeps scores, in tiles.
int64_t WorkspaceOfDataflow(const GraphDescriptor& graph);

// A call with everything that it needs, copied.
class DataflowCall {
 public:
  // BAD_PARAM for tensors in memory without an address, or misaligned ones. Values of scalars are read here.
  static cudnnStatus_t Create(const GraphDescriptor& graph, const std::map<int64_t, uint64_t>& addresses,
                              std::unique_ptr<DataflowCall>& call);
  virtual ~DataflowCall() = default;
  // False when a tensor lies outside of the GPU's memory.
  virtual bool Run() = 0;
};

}  // namespace sgd::emulated
