// Descriptors of the fake of cuDNN: attributes as they were set, and what finishing one demands.
#pragma once

#include <cudnn_graph.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

namespace sgd::emulated {

struct GraphDescriptor : std::enable_shared_from_this<GraphDescriptor> {
  struct Attribute {
    cudnnBackendAttributeType_t type;
    int64_t count = 0;
    std::vector<char> bytes;
    std::vector<std::shared_ptr<const GraphDescriptor>> kept = {};  // the descriptors that it names
  };

  explicit GraphDescriptor(cudnnBackendDescriptorType_t type) : type(type) {}

  cudnnBackendDescriptorType_t type;
  std::shared_ptr<GraphDescriptor> owner;  // itself, until the caller destroys it
  bool is_finished = false;
  std::map<cudnnBackendAttributeName_t, Attribute> attributes = {};

  bool Has(cudnnBackendAttributeName_t name) const { return attributes.contains(name); }
  template <typename Value>
  std::vector<Value> All(cudnnBackendAttributeName_t name) const {
    const auto found = attributes.find(name);
    if (found == attributes.end()) return {};
    std::vector<Value> values(static_cast<size_t>(found->second.count));
    std::memcpy(values.data(), found->second.bytes.data(), found->second.bytes.size());
    return values;
  }
  // The attribute must be there.
  template <typename Value>
  Value One(cudnnBackendAttributeName_t name) const {
    return All<Value>(name).front();
  }
  const GraphDescriptor& Of(cudnnBackendAttributeName_t name) const {
    return *static_cast<GraphDescriptor*>(One<cudnnBackendDescriptor_t>(name));
  }

  // Refuses attributes that descriptors of this type have not, of another type or number, and after Finish.
  cudnnStatus_t Set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
                    const void* values);
  // Refuses what lacks an attribute or contradicts itself.
  cudnnStatus_t Finish();
};

// A convolution in a finished graph. Tensors are those of the operation, in the order image, filter, response.
struct GraphConvolution {
  const GraphDescriptor* tensors[3] = {};
  const GraphDescriptor* convolution = nullptr;
  int result = 0;   // which of the tensors it writes
  double beta = 0;  // what was there counts so often
};
GraphConvolution ConvolutionOf(const GraphDescriptor& operation);

// Of a finished graph: a convolution, and what follows it in order.
std::vector<const GraphDescriptor*> OperationsOf(const GraphDescriptor& graph);

// Of tensors.
bool IsVirtual(const GraphDescriptor& tensor);
int64_t IdOf(const GraphDescriptor& tensor);

size_t BytesOf(cudnnDataType_t type);

}  // namespace sgd::emulated
