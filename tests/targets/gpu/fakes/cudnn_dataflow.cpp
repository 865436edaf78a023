// Values are fakes, rounded to their tensor's type as it is written.
#include "tests/targets/gpu/fakes/cudnn_dataflow.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "tests/targets/gpu/fakes/element_values.h"

extern "C" void* sgd_emulated_resolve(uint64_t address, uint64_t bytes);

namespace sgd::emulated {
namespace {

using Sizes = std::array<int64_t, 4>;

size_t ElementBytes(cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_INT32:
      return 4;
    case CUDNN_DATA_BOOLEAN:
      return 1;
    default:
      return BytesOf(type);
  }
}

struct Tensor {
  int64_t id = 0;
  cudnnDataType_t type{};
  Sizes sizes{}, strides{};
  bool is_virtual = false, is_value = false;
  int64_t alignment = 1;

  explicit Tensor(const GraphDescriptor& from)
      : id(from.One<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID)),
        type(from.One<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE)),
        is_virtual(from.Has(CUDNN_ATTR_TENSOR_IS_VIRTUAL) && from.One<char>(CUDNN_ATTR_TENSOR_IS_VIRTUAL) != 0),
        is_value(from.Has(CUDNN_ATTR_TENSOR_IS_BY_VALUE) && from.One<char>(CUDNN_ATTR_TENSOR_IS_BY_VALUE) != 0),
        alignment(from.One<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT)) {
    const auto own_sizes = from.All<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
    const auto own_strides = from.All<int64_t>(CUDNN_ATTR_TENSOR_STRIDES);
    // Graphs of other ranks are refused before anything is read.
    for (size_t i = 0; i < std::min<size_t>(own_sizes.size(), 4); ++i)
      sizes[i] = own_sizes[i], strides[i] = own_strides[i];
  }

  int64_t Count() const { return sizes[0] * sizes[1] * sizes[2] * sizes[3]; }
  int64_t Reach() const {
    int64_t last = 0;
    for (size_t i = 0; i < 4; ++i) last += (sizes[i] - 1) * strides[i];
    return last + 1;
  }
  // Row-major, dimensions of one element standing for any index.
  int64_t Flat(const Sizes& at) const {
    int64_t place = 0;
    for (size_t i = 0; i < 4; ++i) place = place * sizes[i] + (sizes[i] == 1 ? 0 : at[i]);
    return place;
  }
  int64_t Place(const Sizes& at) const {
    int64_t place = 0;
    for (size_t i = 0; i < 4; ++i) place += at[i] * strides[i];
    return place;
  }
};

template <typename Body>
void ForEach(const Sizes& sizes, Body body) {
  Sizes at{};
  for (at[0] = 0; at[0] < sizes[0]; ++at[0])
    for (at[1] = 0; at[1] < sizes[1]; ++at[1])
      for (at[2] = 0; at[2] < sizes[2]; ++at[2])
        for (at[3] = 0; at[3] < sizes[3]; ++at[3]) body(at);
}

double Round(double value, cudnnDataType_t type) {
  const auto narrow = static_cast<float>(value);
  switch (type) {
    case CUDNN_DATA_HALF:
      return static_cast<float>(static_cast<_Float16>(narrow));
    case CUDNN_DATA_BFLOAT16:
      return Load(Store<Bf16>(narrow));
    case CUDNN_DATA_FLOAT:
      return narrow;
    default:
      return value;
  }
}

double LoadFrom(const std::byte* from, cudnnDataType_t type) {
  switch (type) {
    case CUDNN_DATA_HALF:
      return static_cast<float>(*reinterpret_cast<const _Float16*>(from));
    case CUDNN_DATA_BFLOAT16:
      return Load(*reinterpret_cast<const Bf16*>(from));
    case CUDNN_DATA_INT32:
      return *reinterpret_cast<const int32_t*>(from);
    default:
      return *reinterpret_cast<const float*>(from);
  }
}

void StoreTo(std::byte* to, cudnnDataType_t type, double value) {
  const auto narrow = static_cast<float>(value);
  if (type == CUDNN_DATA_HALF) {
    *reinterpret_cast<_Float16*>(to) = static_cast<_Float16>(narrow);
  } else if (type == CUDNN_DATA_BFLOAT16) {
    *reinterpret_cast<Bf16*>(to) = Store<Bf16>(narrow);
  } else {
    *reinterpret_cast<float*>(to) = narrow;
  }
}

enum class NodeKind { Matmul, Pointwise, Reduction, Reshape };

struct Node {
  NodeKind kind{};
  std::vector<Tensor> operands;  // x, b, t as far as there are
  std::vector<Tensor> result;    // one
  cudnnPointwiseMode_t mode{};
  cudnnReduceTensorOp_t reduction{};
  int64_t axis = -1;
};

// nullopt-like: no operands for a node that is none of ours.
Node NodeOf(const GraphDescriptor& operation) {
  Node node;
  const auto take = [&](std::vector<Tensor>& list, cudnnBackendAttributeName_t name) {
    if (operation.Has(name)) list.emplace_back(operation.Of(name));
  };
  switch (operation.type) {
    case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
      take(node.operands, CUDNN_ATTR_OPERATION_MATMUL_ADESC);
      take(node.operands, CUDNN_ATTR_OPERATION_MATMUL_BDESC);
      take(node.result, CUDNN_ATTR_OPERATION_MATMUL_CDESC);
      break;
    case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR: {
      node.kind = NodeKind::Pointwise;
      const GraphDescriptor& pointwise = operation.Of(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
      node.mode = pointwise.One<cudnnPointwiseMode_t>(CUDNN_ATTR_POINTWISE_MODE);
      if (pointwise.Has(CUDNN_ATTR_POINTWISE_AXIS)) node.axis = pointwise.One<int64_t>(CUDNN_ATTR_POINTWISE_AXIS);
      take(node.operands, CUDNN_ATTR_OPERATION_POINTWISE_XDESC);
      take(node.operands, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
      take(node.operands, CUDNN_ATTR_OPERATION_POINTWISE_TDESC);
      take(node.result, CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
      break;
    }
    case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
      node.kind = NodeKind::Reduction;
      node.reduction =
          operation.Of(CUDNN_ATTR_OPERATION_REDUCTION_DESC).One<cudnnReduceTensorOp_t>(CUDNN_ATTR_REDUCTION_OPERATOR);
      take(node.operands, CUDNN_ATTR_OPERATION_REDUCTION_XDESC);
      take(node.result, CUDNN_ATTR_OPERATION_REDUCTION_YDESC);
      break;
    case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
      node.kind = NodeKind::Reshape;
      take(node.operands, CUDNN_ATTR_OPERATION_RESHAPE_XDESC);
      take(node.result, CUDNN_ATTR_OPERATION_RESHAPE_YDESC);
      break;
    default:
      break;
  }
  return node;
}

std::vector<Node> NodesOf(const GraphDescriptor& graph) {
  std::vector<Node> nodes;
  for (void* handle : graph.All<cudnnBackendDescriptor_t>(CUDNN_ATTR_OPERATIONGRAPH_OPS))
    nodes.push_back(NodeOf(*static_cast<GraphDescriptor*>(handle)));
  return nodes;
}

// Each dimension of `small` is `large`'s, one, or a divisor of it (heads that share a key).
bool Spreads(const Sizes& small, const Sizes& large, bool may_divide_heads = false) {
  for (size_t i = 0; i < 4; ++i) {
    const bool divides = may_divide_heads && i == 1 && large[i] % small[i] == 0;
    if (small[i] != large[i] && small[i] != 1 && !divides) return false;
  }
  return true;
}

bool HasShape(const Node& node) {
  const Sizes &x = node.operands[0].sizes, &y = node.result[0].sizes;
  switch (node.kind) {
    case NodeKind::Matmul: {
      const Sizes& b = node.operands[1].sizes;
      return x[0] == y[0] && b[0] == y[0] && x[1] == y[1] && y[1] % b[1] == 0 && x[2] == y[2] && x[3] == b[2] &&
             b[3] == y[3];
    }
    case NodeKind::Pointwise:
      return std::all_of(node.operands.begin(), node.operands.end(),
                         [&](const Tensor& operand) { return Spreads(operand.sizes, y); });
    case NodeKind::Reduction:
      return Spreads(y, x, /*may_divide_heads=*/true);
    case NodeKind::Reshape:
      break;
  }
  return node.operands[0].Count() == node.result[0].Count();
}

bool IsNarrow(cudnnDataType_t type) { return type == CUDNN_DATA_HALF || type == CUDNN_DATA_BFLOAT16; }

// Of engines for attention, tried on the library: operands of matmuls in memory are f16 or bf16, and depths multiples
// of 8.
bool IsAttention(const std::vector<Node>& nodes) {
  for (const Node& node : nodes) {
    if (node.kind != NodeKind::Matmul) continue;
    for (const Tensor& tensor : {node.operands[0], node.operands[1], node.result[0]}) {
      if (tensor.is_virtual) continue;
      if (!IsNarrow(tensor.type)) return false;
      const size_t depth = tensor.strides[3] == 1 ? 3 : 2;
      if (tensor.strides[depth] != 1 || tensor.sizes[depth] % 8 != 0 || tensor.sizes[depth] > 256) return false;
    }
  }
  return true;
}

class Call final : public DataflowCall {
 public:
  std::vector<Node> nodes;
  std::map<int64_t, uint64_t> addresses;
  std::map<int64_t, std::vector<double>> values;  // by tensor

  bool Run() override {
    // A graph of the driver runs it again.
    std::map<int64_t, std::vector<double>> scalars = values;
    for (const Node& node : nodes) {
      for (const Tensor& operand : node.operands) {
        if (!values.contains(operand.id) && !Read(operand)) return false;
      }
      values[node.result[0].id] = Compute(node);
      if (!node.result[0].is_virtual && !Write(node.result[0])) return false;
    }
    values = std::move(scalars);
    return true;
  }

 private:
  std::byte* MemoryOf(const Tensor& tensor) const {
    const uint64_t bytes = static_cast<uint64_t>(tensor.Reach()) * ElementBytes(tensor.type);
    return static_cast<std::byte*>(sgd_emulated_resolve(addresses.at(tensor.id), bytes));
  }

  bool Read(const Tensor& tensor) {
    const std::byte* memory = MemoryOf(tensor);
    if (memory == nullptr) return false;
    std::vector<double>& read = values[tensor.id];
    ForEach(tensor.sizes, [&](const Sizes& at) {
      read.push_back(
          LoadFrom(memory + tensor.Place(at) * static_cast<int64_t>(ElementBytes(tensor.type)), tensor.type));
    });
    return true;
  }

  bool Write(const Tensor& tensor) {
    std::byte* memory = MemoryOf(tensor);
    if (memory == nullptr) return false;
    const std::vector<double>& written = values.at(tensor.id);
    ForEach(tensor.sizes, [&](const Sizes& at) {
      StoreTo(memory + tensor.Place(at) * static_cast<int64_t>(ElementBytes(tensor.type)), tensor.type,
              written[static_cast<size_t>(tensor.Flat(at))]);
    });
    return true;
  }

  double Get(const Tensor& tensor, const Sizes& at) const {
    return values.at(tensor.id)[static_cast<size_t>(tensor.Flat(at))];
  }

  std::vector<double> Compute(const Node& node) const {
    const Tensor &x = node.operands[0], &y = node.result[0];
    std::vector<double> result(static_cast<size_t>(y.Count()));
    if (node.kind == NodeKind::Reduction) return Reduce(node, std::move(result));
    ForEach(y.sizes, [&](const Sizes& at) {
      double value = 0;
      if (node.kind == NodeKind::Matmul) {
        const Tensor& b = node.operands[1];
        const int64_t head = at[1] / (y.sizes[1] / b.sizes[1]);
        for (int64_t k = 0; k < x.sizes[3]; ++k)
          value += Get(x, {at[0], at[1], at[2], k}) * Get(b, {at[0], head, k, at[3]});
      } else if (node.kind == NodeKind::Reshape) {
        value = Transposed(x, y, at);
      } else {
        value = Apply(node, at);
      }
      result[static_cast<size_t>(y.Flat(at))] = Round(value, y.type);
    });
    return result;
  }

  // Reshapes of attention swap the last two dimensions: the one with the smaller stride is the same in both.
  double Transposed(const Tensor& x, const Tensor& y, const Sizes& at) const {
    const bool swaps = (x.strides[2] < x.strides[3]) != (y.strides[2] < y.strides[3]);
    return swaps ? Get(x, {at[0], at[1], at[3], at[2]}) : Get(x, at);
  }

  std::vector<double> Reduce(const Node& node, std::vector<double> result) const {
    const Tensor &x = node.operands[0], &y = node.result[0];
    const bool is_max = node.reduction == CUDNN_REDUCE_TENSOR_MAX;
    if (is_max) std::fill(result.begin(), result.end(), -std::numeric_limits<double>::infinity());
    ForEach(x.sizes, [&](const Sizes& at) {
      Sizes to = at;
      to[1] = at[1] / (x.sizes[1] / y.sizes[1]);
      double& target = result[static_cast<size_t>(y.Flat(to))];
      target = is_max ? std::max(target, Get(x, at)) : target + Get(x, at);
    });
    for (double& value : result) value = Round(value, y.type);
    return result;
  }

  double Apply(const Node& node, const Sizes& at) const {
    const double x = Get(node.operands[0], at);
    const double b = node.operands.size() > 1 ? Get(node.operands[1], at) : 0;
    switch (node.mode) {
      case CUDNN_POINTWISE_ADD:
        return x + b;
      case CUDNN_POINTWISE_SUB:
        return x - b;
      case CUDNN_POINTWISE_MUL:
        return x * b;
      case CUDNN_POINTWISE_DIV:
        return x / b;
      case CUDNN_POINTWISE_EXP:
        return std::exp(x);
      case CUDNN_POINTWISE_LOG:
        return std::log(x);
      case CUDNN_POINTWISE_IDENTITY:
        return x;
      case CUDNN_POINTWISE_GEN_INDEX:
        return static_cast<double>(at[static_cast<size_t>(node.axis)]);
      case CUDNN_POINTWISE_CMP_GE:
        return x >= b ? 1 : 0;
      case CUDNN_POINTWISE_BINARY_SELECT:
        return Get(node.operands[2], at) != 0 ? x : b;
      default:
        return std::numeric_limits<double>::quiet_NaN();
    }
  }
};

}  // namespace

bool IsDataflow(const GraphDescriptor& graph) {
  const auto operations = graph.All<cudnnBackendDescriptor_t>(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  return std::any_of(operations.begin(), operations.end(), [](void* handle) {
    return static_cast<GraphDescriptor*>(handle)->type == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR;
  });
}

cudnnStatus_t CheckDataflow(const GraphDescriptor& graph) {
  std::set<int64_t> written;
  const std::vector<Node> nodes = NodesOf(graph);
  for (const Node& node : nodes) {
    if (node.operands.empty() || node.result.size() != 1) return CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN;
    if (node.kind == NodeKind::Matmul && node.operands.size() != 2) return CUDNN_STATUS_BAD_PARAM;
    for (const Tensor& operand : node.operands) {
      if (operand.is_virtual && !written.contains(operand.id)) return CUDNN_STATUS_BAD_PARAM;
    }
    if (node.result[0].is_value || !written.insert(node.result[0].id).second)
      return CUDNN_STATUS_BAD_PARAM_DUPLICATED_ENTRIES;
    if (!HasShape(node)) return CUDNN_STATUS_BAD_PARAM_SHAPE_MISMATCH;
  }
  return IsAttention(nodes) ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_SUPPORTED_GRAPH_PATTERN;
}

int64_t WorkspaceOfDataflow(const GraphDescriptor& graph) {
  constexpr int64_t kFixed = 256;
  int64_t matmuls = 0, scores = 0, parts = 0;
  for (const Node& node : NodesOf(graph)) {
    const Sizes& y = node.result[0].sizes;
    if (node.kind == NodeKind::Matmul && matmuls++ == 0)
      scores = y[0] * y[1] * ((y[2] + 63) / 64 * 64) * ((y[3] + 127) / 128 * 128) * 2;
    if (node.kind == NodeKind::Reduction && node.operands[0].is_virtual && IsNarrow(node.operands[0].type))
      parts += node.operands[0].Count() * 2;
  }
  return kFixed + (matmuls > 2 ? scores + parts : 0);
}

cudnnStatus_t DataflowCall::Create(const GraphDescriptor& graph, const std::map<int64_t, uint64_t>& addresses,
                                   std::unique_ptr<DataflowCall>& call) {
  auto made = std::make_unique<Call>();
  made->nodes = NodesOf(graph);
  made->addresses = addresses;
  for (const Node& node : made->nodes) {
    std::vector<Tensor> tensors = node.operands;
    tensors.push_back(node.result[0]);
    for (const Tensor& tensor : tensors) {
      if (tensor.is_virtual) continue;
      const auto found = addresses.find(tensor.id);
      if (found == addresses.end()) return CUDNN_STATUS_BAD_PARAM;
      if (found->second == 0) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
      if (found->second % static_cast<uint64_t>(tensor.alignment) != 0)
        return CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER;
      if (tensor.is_value)
        made->values[tensor.id] = {LoadFrom(reinterpret_cast<const std::byte*>(found->second), tensor.type)};
    }
  }
  call = std::move(made);
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace sgd::emulated
