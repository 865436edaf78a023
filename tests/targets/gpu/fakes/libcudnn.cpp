// A fake of libcudnn.so for tests: the part of the graph API that convolutions need, as strict as the library; sums
// in f64, in the order of the stream. Its engines: one that nobody may choose first, then one with tensor cores, one
// that needs workspace, and a fallback.
#include <cuda.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "tests/targets/gpu/fakes/cudnn_dataflow.h"
#include "tests/targets/gpu/fakes/cudnn_graph.h"
#include "tests/targets/gpu/fakes/element_values.h"
#include "tests/targets/gpu/fakes/enqueue.h"

extern "C" void* sgd_emulated_resolve(uint64_t address, uint64_t bytes);

struct cudnnContext {
  cudaStream_t stream = nullptr;
};

namespace {

using sgd::emulated::BytesOf;
using sgd::emulated::ConvolutionOf;
using sgd::emulated::GraphConvolution;
using sgd::emulated::GraphDescriptor;

constexpr int64_t kFallback = 0, kNondeterministic = 20, kWinograd = 6, kTensorCores = 45, kCopies = 70;
constexpr int64_t kTileValues = 4;  // of the knob for tiles, which engines but the fallback have

GraphDescriptor& Of(cudnnBackendDescriptor_t descriptor) { return *static_cast<GraphDescriptor*>(descriptor); }

struct Tensor {
  cudnnDataType_t type{};
  std::vector<int64_t> sizes, strides;
  std::byte* data = nullptr;

  int64_t Reach() const {
    int64_t last = 0;
    for (size_t i = 0; i < sizes.size(); ++i) last += (sizes[i] - 1) * strides[i];
    return last + 1;
  }
  int64_t Place(const std::vector<int64_t>& index) const {
    int64_t place = 0;
    for (size_t i = 0; i < index.size(); ++i) place += index[i] * strides[i];
    return place;
  }
  double Load(int64_t at) const {
    const std::byte* from = data + at * static_cast<int64_t>(BytesOf(type));
    if (type == CUDNN_DATA_DOUBLE) return *reinterpret_cast<const double*>(from);
    if (type == CUDNN_DATA_HALF) return sgd::emulated::Load(*reinterpret_cast<const _Float16*>(from));
    if (type == CUDNN_DATA_BFLOAT16) return sgd::emulated::Load(*reinterpret_cast<const sgd::emulated::Bf16*>(from));
    return *reinterpret_cast<const float*>(from);
  }
  void Store(int64_t at, double value) {
    std::byte* to = data + at * static_cast<int64_t>(BytesOf(type));
    const auto narrow = static_cast<float>(value);
    if (type == CUDNN_DATA_DOUBLE) {
      *reinterpret_cast<double*>(to) = value;
    } else if (type == CUDNN_DATA_HALF) {
      *reinterpret_cast<_Float16*>(to) = sgd::emulated::Store<_Float16>(narrow);
    } else if (type == CUDNN_DATA_BFLOAT16) {
      *reinterpret_cast<sgd::emulated::Bf16*>(to) = sgd::emulated::Store<sgd::emulated::Bf16>(narrow);
    } else {
      *reinterpret_cast<float*>(to) = narrow;
    }
  }
};

// Everything of one call, copied.
struct Convolution {
  // Image, filter, response and, where there is one, bias; what is written has the place of the convolution's result.
  std::vector<Tensor> tensors;
  std::vector<int64_t> ids, alignments;  // of these
  std::vector<uint64_t> addresses;
  size_t result = 0;
  double beta = 0;
  bool has_relu = false;
  bool flips = false;
  std::vector<int64_t> strides, dilations, before;

  bool Run() {
    for (size_t i = 0; i < tensors.size(); ++i) {
      const uint64_t bytes = static_cast<uint64_t>(tensors[i].Reach()) * BytesOf(tensors[i].type);
      tensors[i].data = static_cast<std::byte*>(sgd_emulated_resolve(addresses[i], bytes));
      if (tensors[i].data == nullptr) return false;
    }
    Tensor& target = tensors[result];
    std::vector<double> sums(static_cast<size_t>(target.Reach()));
    const Tensor &x = tensors[0], &w = tensors[1], &y = tensors[2];
    const int64_t per_group = w.sizes[0] / (x.sizes[1] / w.sizes[1]);
    // Over all of y and, for each, of the taps of w.
    const std::vector<int64_t> taps(w.sizes.begin() + 2, w.sizes.end());
    ForEach(y.sizes, [&](const std::vector<int64_t>& at) {
      ForEach(taps, [&](const std::vector<int64_t>& tap) {
        int64_t places[3] = {at[0] * x.strides[0] + at[1] / per_group * w.sizes[1] * x.strides[1], at[1] * w.strides[0],
                             y.Place(at)};
        for (size_t i = 0; i < tap.size(); ++i) {
          const int64_t position = at[i + 2] * strides[i] + tap[i] * dilations[i] - before[i];
          if (position < 0 || position >= x.sizes[i + 2]) return;
          places[0] += position * x.strides[i + 2];
          places[1] += (flips ? taps[i] - 1 - tap[i] : tap[i]) * w.strides[i + 2];
        }
        for (int64_t c = 0; c < w.sizes[1]; ++c) {
          sums[static_cast<size_t>(places[result])] += tensors[(result + 1) % 3].Load(places[(result + 1) % 3]) *
                                                       tensors[(result + 2) % 3].Load(places[(result + 2) % 3]);
          places[0] += x.strides[1], places[1] += w.strides[1];
        }
      });
    });
    ForEach(target.sizes, [&](const std::vector<int64_t>& at) {
      const int64_t place = target.Place(at);
      double value = sums[static_cast<size_t>(place)];
      if (beta != 0) value += beta * target.Load(place);
      if (tensors.size() > 3) value += tensors[3].Load(at[1]);
      target.Store(place, has_relu && value < 0 ? 0 : value);  // NaN stays
    });
    return true;
  }

  template <typename Body>
  static void ForEach(const std::vector<int64_t>& sizes, Body body) {
    std::vector<int64_t> index(sizes.size(), 0);
    for (;;) {
      body(index);
      size_t dim = index.size();
      while (dim > 0 && ++index[dim - 1] == sizes[dim - 1]) index[--dim] = 0;
      if (dim == 0) return;
    }
  }
};

std::unique_ptr<Convolution> Copy(const GraphDescriptor& graph) {
  auto copy = std::make_unique<Convolution>();
  const std::vector<const GraphDescriptor*> operations = sgd::emulated::OperationsOf(graph);
  const GraphConvolution op = ConvolutionOf(*operations.front());
  std::vector<const GraphDescriptor*> tensors(std::begin(op.tensors), std::end(op.tensors));
  copy->result = static_cast<size_t>(op.result);
  if (operations.size() > 1) {
    tensors[copy->result] = &operations.back()->Of(CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
    tensors.push_back(&operations[1]->Of(CUDNN_ATTR_OPERATION_POINTWISE_BDESC));
  }
  for (const GraphDescriptor* tensor : tensors) {
    copy->tensors.push_back({tensor->One<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE),
                             tensor->All<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS),
                             tensor->All<int64_t>(CUDNN_ATTR_TENSOR_STRIDES)});
    copy->ids.push_back(sgd::emulated::IdOf(*tensor));
    copy->alignments.push_back(tensor->One<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT));
  }
  copy->beta = op.beta;
  copy->has_relu = operations.size() > 2;
  const auto mode = op.convolution->One<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE);
  copy->flips = mode == CUDNN_CONVOLUTION;
  copy->strides = op.convolution->All<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES);
  copy->dilations = op.convolution->All<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS);
  copy->before = op.convolution->All<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS);
  return copy;
}

// Engine, configuration and plan
// --------------------------------------------------------------------------------------

std::vector<cudnnBackendNumericalNote_t> NotesOf(int64_t engine) {
  switch (engine) {
    case kNondeterministic:
      return {CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC};
    case kWinograd:
      return {CUDNN_NUMERICAL_NOTE_WINOGRAD, CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4};
    case kTensorCores:
      return {CUDNN_NUMERICAL_NOTE_TENSOR_CORE};
    case kFallback:
      return {CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP};
    default:
      return {};
  }
}

bool IsEngine(int64_t engine) {
  for (int64_t known : {kFallback, kNondeterministic, kWinograd, kTensorCores, kCopies}) {
    if (engine == known) return true;
  }
  return false;
}

// A graph of more than convolutions: its tensors by their names.
cudnnStatus_t ExecuteDataflow(cudnnHandle_t handle, const GraphDescriptor& graph, const GraphDescriptor& pack) {
  const auto ids = pack.All<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto pointers = pack.All<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  std::map<int64_t, uint64_t> addresses;
  for (size_t i = 0; i < ids.size(); ++i) addresses[ids[i]] = reinterpret_cast<uint64_t>(pointers[i]);
  std::unique_ptr<sgd::emulated::DataflowCall> call;
  cudnnStatus_t status = sgd::emulated::DataflowCall::Create(graph, addresses, call);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const CUresult result = sgd::emulated::EnqueueCall(reinterpret_cast<CUstream>(handle->stream), std::move(call));
  return result == CUDA_SUCCESS ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

int64_t WorkspaceOf(int64_t engine, const GraphDescriptor& graph) {
  if (sgd::emulated::IsDataflow(graph)) return sgd::emulated::WorkspaceOfDataflow(graph);
  if (engine != kCopies) return 0;
  int64_t bytes = 16;
  const std::unique_ptr<Convolution> convolution = Copy(graph);
  for (const Tensor& tensor : convolution->tensors)
    bytes += tensor.Reach() * static_cast<int64_t>(BytesOf(tensor.type));
  return bytes;
}

const GraphDescriptor& EngineOf(const GraphDescriptor& configuration) {
  return configuration.Of(CUDNN_ATTR_ENGINECFG_ENGINE);
}
int64_t NumberOf(const GraphDescriptor& engine) { return engine.One<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX); }

cudnnStatus_t CheckKnobs(const GraphDescriptor& configuration) {
  const int64_t engine = NumberOf(EngineOf(configuration));
  for (void* handle : configuration.All<cudnnBackendDescriptor_t>(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES)) {
    const GraphDescriptor& knob = Of(handle);
    const int64_t value = knob.One<int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE);
    if (engine == kFallback || value < 0 || value >= kTileValues ||
        knob.One<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE) != CUDNN_KNOB_TYPE_TILE_SIZE)
      return CUDNN_STATUS_BAD_PARAM;
  }
  return CUDNN_STATUS_SUCCESS;
}

// Heuristics and configurations make these for the caller; the descriptor that they are put into keeps them.
std::shared_ptr<GraphDescriptor> Finished(const GraphDescriptor& descriptor) {
  auto made = std::make_shared<GraphDescriptor>(descriptor.type);
  made->attributes = descriptor.attributes;
  made->is_finished = true;
  return made;
}

template <typename Value>
void Put(GraphDescriptor& descriptor, cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
         const Value& value) {
  GraphDescriptor::Attribute attribute{type, 1, std::vector<char>(sizeof(value))};
  std::memcpy(attribute.bytes.data(), &value, sizeof(value));
  descriptor.attributes[name] = std::move(attribute);
}

void PutDescriptor(GraphDescriptor& descriptor, cudnnBackendAttributeName_t name,
                   const std::shared_ptr<const GraphDescriptor>& value) {
  Put(descriptor, name, CUDNN_TYPE_BACKEND_DESCRIPTOR, value.get());
  descriptor.attributes[name].kept = {value};
}

void FillConfiguration(GraphDescriptor& configuration, int64_t number, const GraphDescriptor& graph) {
  GraphDescriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  PutDescriptor(engine, CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph.shared_from_this());
  Put(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, number);
  PutDescriptor(configuration, CUDNN_ATTR_ENGINECFG_ENGINE, Finished(engine));
  if (number != kFallback) {
    GraphDescriptor knob(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    Put(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, CUDNN_KNOB_TYPE_TILE_SIZE);
    Put(knob, CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, int64_t{2});
    PutDescriptor(configuration, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, Finished(knob));
  }
  configuration.is_finished = true;
}

std::vector<int64_t> Proposals(cudnnBackendHeurMode_t mode) {
  if (mode == CUDNN_HEUR_MODE_FALLBACK) return {kFallback};
  return {kNondeterministic, kWinograd, kTensorCores, kCopies};
}

template <typename Value>
cudnnStatus_t Give(const std::vector<Value>& values, int64_t wanted, int64_t* count, void* target) {
  if (count != nullptr) *count = static_cast<int64_t>(values.size());
  const auto given = std::min<size_t>(values.size(), static_cast<size_t>(wanted));
  if (given > 0) std::memcpy(target, values.data(), given * sizeof(Value));
  return CUDNN_STATUS_SUCCESS;
}

// Fills a descriptor of the caller's with what another one has.
cudnnStatus_t Fill(const std::vector<cudnnBackendDescriptor_t>& from, int64_t wanted, int64_t* count, void* target) {
  if (count != nullptr) *count = static_cast<int64_t>(from.size());
  auto* targets = static_cast<cudnnBackendDescriptor_t*>(target);
  for (size_t i = 0; i < std::min<size_t>(from.size(), static_cast<size_t>(wanted)); ++i) {
    if (targets[i] == nullptr || Of(targets[i]).type != Of(from[i]).type || Of(targets[i]).is_finished)
      return CUDNN_STATUS_BAD_PARAM;
    Of(targets[i]).attributes = Of(from[i]).attributes;
    Of(targets[i]).is_finished = Of(from[i]).is_finished;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t GiveProposals(const GraphDescriptor& heuristics, int64_t wanted, int64_t* count, void* target) {
  const std::vector<int64_t> engines = Proposals(heuristics.One<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE));
  if (count != nullptr) *count = static_cast<int64_t>(engines.size());
  auto* targets = static_cast<cudnnBackendDescriptor_t*>(target);
  for (size_t i = 0; i < std::min<size_t>(engines.size(), static_cast<size_t>(wanted)); ++i) {
    if (targets[i] == nullptr || Of(targets[i]).type != CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
      return CUDNN_STATUS_BAD_PARAM;
    FillConfiguration(Of(targets[i]), engines[i], heuristics.Of(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH));
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

size_t cudnnGetVersion() { return CUDNN_VERSION; }
const char* cudnnGetErrorString(cudnnStatus_t status) {
  switch (CUDNN_STATUS_CATEGORY(static_cast<int>(status))) {
    case CUDNN_STATUS_BAD_PARAM:
      return "CUDNN_STATUS_BAD_PARAM";
    case CUDNN_STATUS_NOT_SUPPORTED:
      return "CUDNN_STATUS_NOT_SUPPORTED";
    default:
      return "of the fake of cuDNN";
  }
}
cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  *handle = new cudnnContext;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type, cudnnBackendDescriptor_t* descriptor) {
  auto created = std::make_shared<GraphDescriptor>(type);
  *descriptor = created.get();
  created->owner = created;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  if (Of(descriptor).owner == nullptr) return CUDNN_STATUS_BAD_PARAM;  // destroyed before, and kept by another one
  std::exchange(Of(descriptor).owner, nullptr).reset();
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count, const void* values) {
  return Of(descriptor).Set(name, type, count, values);
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t handle) {
  GraphDescriptor& descriptor = Of(handle);
  cudnnStatus_t status = descriptor.Finish();
  if (status != CUDNN_STATUS_SUCCESS) return status;
  if (descriptor.type == CUDNN_BACKEND_ENGINE_DESCRIPTOR && !IsEngine(NumberOf(descriptor)))
    status = CUDNN_STATUS_NOT_SUPPORTED;
  if (descriptor.type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR) status = CheckKnobs(descriptor);
  descriptor.is_finished = status == CUDNN_STATUS_SUCCESS;
  return status;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const handle, cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t wanted, int64_t* count, void* target) {
  const GraphDescriptor& descriptor = Of(handle);
  if (!descriptor.is_finished) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  switch (name) {
    case CUDNN_ATTR_ENGINEHEUR_RESULTS:
      return type == CUDNN_TYPE_BACKEND_DESCRIPTOR ? GiveProposals(descriptor, wanted, count, target)
                                                   : CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
    case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
      return Give(NotesOf(NumberOf(descriptor)), wanted, count, target);
    case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE: {
      const GraphDescriptor& engine = EngineOf(descriptor.Of(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG));
      return Give(std::vector<int64_t>{WorkspaceOf(NumberOf(engine), engine.Of(CUDNN_ATTR_ENGINE_OPERATION_GRAPH))},
                  wanted, count, target);
    }
    default:
      break;
  }
  const auto found = descriptor.attributes.find(name);
  if (found == descriptor.attributes.end()) {
    if (name == CUDNN_ATTR_ENGINECFG_KNOB_CHOICES) return Give(std::vector<char>(), 0, count, target);
    return CUDNN_STATUS_BAD_PARAM;
  }
  if (found->second.type != type) return CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
  if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR)
    return Fill(descriptor.All<cudnnBackendDescriptor_t>(name), wanted, count, target);
  if (count != nullptr) *count = found->second.count;
  if (wanted < found->second.count) return CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT;
  std::memcpy(target, found->second.bytes.data(), found->second.bytes.size());
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan_handle,
                                  cudnnBackendDescriptor_t pack_handle) {
  const GraphDescriptor &plan = Of(plan_handle), &pack = Of(pack_handle);
  if (!plan.is_finished || !pack.is_finished) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  const GraphDescriptor& engine = EngineOf(plan.Of(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG));
  const GraphDescriptor& graph = engine.Of(CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
  const auto workspace = pack.All<void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  const int64_t needed = WorkspaceOf(NumberOf(engine), graph);
  if (needed > 0 && (workspace.empty() || workspace.front() == nullptr)) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (needed > 0 &&
      sgd_emulated_resolve(reinterpret_cast<uint64_t>(workspace.front()), static_cast<uint64_t>(needed)) == nullptr)
    return CUDNN_STATUS_EXECUTION_FAILED;
  if (sgd::emulated::IsDataflow(graph)) return ExecuteDataflow(handle, graph, pack);
  const auto ids = pack.All<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  const auto pointers = pack.All<void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  std::unique_ptr<Convolution> convolution = Copy(graph);
  for (size_t i = 0; i < convolution->tensors.size(); ++i) {
    const auto found = std::find(ids.begin(), ids.end(), convolution->ids[i]);
    if (found == ids.end()) return CUDNN_STATUS_BAD_PARAM;
    const auto address = reinterpret_cast<uint64_t>(pointers[static_cast<size_t>(found - ids.begin())]);
    if (address == 0) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    if (address % static_cast<uint64_t>(convolution->alignments[i]) != 0)
      return CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER;
    convolution->addresses.push_back(address);
  }
  const CUresult result =
      sgd::emulated::EnqueueCall(reinterpret_cast<CUstream>(handle->stream), std::move(convolution));
  return result == CUDA_SUCCESS ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

}  // extern "C"
