// One plan, executed for each part of batches and heads on addresses of its own.
#include "targets/gpu/device/cudnn/attention.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/element_type.h"
#include "targets/gpu/device/cudnn/attention_graph.h"
#include "targets/gpu/device/cudnn/cudnn_choice.h"
#include "targets/gpu/device/driver/candidate_timing.h"
#include "targets/gpu/device/memory/memory.h"

namespace sgd::cuda {
namespace {

using artifact::AttentionT;
using artifact::AttentionTensor;

constexpr uint64_t kAlignment = 256;

uint64_t AlignUp(uint64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

std::string TextOf(const AttentionTensor& tensor) {
  return absl::StrCat(tensor.batch(), ",", tensor.head(), ",", tensor.row());
}

// Versions that NVIDIA/cudnn-frontend refuses: some releases, and, up to 9.15, backward passes whose last
// columns are no whole tile.
absl::Status CheckVersion(const Cudnn& cudnn, const AttentionT& attention) {
  constexpr size_t kLeast = 91100, kLeastWithParts = 91501;
  constexpr uint64_t kTile = 128;
  const bool has_part = attention.gradients != nullptr && attention.columns % kTile != 0;
  const size_t least = has_part ? kLeastWithParts : kLeast;
  if (cudnn.version() >= least) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("cuDNN ", cudnn.version(), " does not compute this attention; ",
                                                    has_part ? "9.16" : "9.11", " and later do"));
}

class AttentionThunk final : public device::Thunk {
 public:
  AttentionThunk(CudaStreams& streams, Cudnn& cudnn, const artifact::Attention& attention,
                 const device::MemoryMap& memory)
      : streams_(streams), cudnn_(cudnn), memory_(memory) {
    attention.UnPackTo(&a_);
  }

  absl::Status Prepare(device::AlgorithmChoices& choices) {
    if (absl::Status status = CheckVersion(cudnn_, a_); !status.ok()) return status;
    absl::StatusOr<AttentionGraph> graph = BuildAttentionGraph(cudnn_, a_);
    if (!graph.ok()) return graph.status();
    graph_ = *std::move(graph);
    TakeWorkspace();
    if (absl::Status status = BindAddresses(); !status.ok()) return status;
    const PlanRequest request = {.graph = graph_->graph,
                                 .limits = {.workspace_bytes = workspace_bytes_},
                                 .key = Key(),
                                 .what = absl::StrCat(a_.gradients == nullptr ? "" : "backward ", "attention of ",
                                                      artifact::ElementName(a_.element)),
                                 .advice = "try a newer cuDNN, or compute in f32, which has kernels of its own"};
    absl::StatusOr<CudnnDescriptor> plan =
        ChoosePlan(cudnn_, request, choices, [this](const CudnnDescriptor& candidate) {
          return TimeCandidate(streams_, [&] { return ExecuteWith(candidate); });
        });
    if (!plan.ok()) return plan.status();
    plan_ = *std::move(plan);
    return absl::OkStatus();
  }

  absl::Status Execute() override { return ExecuteWith(*plan_); }

 private:
  absl::Status ExecuteWith(const CudnnDescriptor& plan) {
    absl::Status status = cudnn_.Check(
        cudnn_.cudnnSetStream(cudnn_.handle(), reinterpret_cast<cudaStream_t>(streams_.used())), "cudnnSetStream");
    for (const CudnnDescriptor& part : parts_) {
      if (!status.ok()) return status;
      status = cudnn_.Check(cudnn_.cudnnBackendExecute(cudnn_.handle(), plan.get(), part.get()),
                            "cuDNN cannot compute attention");
    }
    return status;
  }

  // Statistics of rows first, then what cuDNN wants.
  void TakeWorkspace() {
    if (a_.workspace == nullptr) return;
    const uint64_t address = AddressOf(memory_.Address(*a_.workspace)), end = address + a_.workspace->size();
    const uint64_t dots = a_.gradients == nullptr ? 0 : AlignUp(a_.batch_step * a_.head_step * a_.rows * sizeof(float));
    row_dot_ = AlignUp(address);
    workspace_ = row_dot_ + dots;
    workspace_bytes_ = workspace_ < end ? end - workspace_ : 0;
  }

  std::string Key() const {
    std::string key = absl::StrCat("cuDNN ", cudnn_.version(), ": ", artifact::ElementName(a_.element),
                                   a_.gradients == nullptr ? " attention, " : " backward attention, ", a_.batch_step,
                                   "x", a_.head_step, " of ", a_.heads, " and ", a_.key_heads, " heads, ", a_.rows, "x",
                                   a_.columns, " of ", a_.depth, " and ", a_.value_depth, ", diagonal ",
                                   a_.has_diagonal ? absl::StrCat(a_.diagonal) : "none", ", by ", TextOf(*a_.query),
                                   " ", TextOf(*a_.key), " ", TextOf(*a_.value), " ", TextOf(*a_.out));
    if (a_.bias != nullptr)
      absl::StrAppend(&key, ", bias of ", artifact::ElementName(a_.bias_element), " by ", TextOf(*a_.bias));
    if (const auto& gradients = a_.gradients) {
      for (const AttentionTensor* tensor :
           {gradients->out_gradient.get(), gradients->query.get(), gradients->key.get(), gradients->value.get()})
        absl::StrAppend(&key, " ", TextOf(*tensor));
    }
    return absl::StrCat(key, ", workspace ", workspace_bytes_);
  }

  absl::Status BindAddresses() {
    for (uint64_t batch = 0; batch < a_.batch; batch += a_.batch_step) {
      for (uint64_t head = 0; head < a_.heads; head += a_.head_step) {
        absl::StatusOr<CudnnDescriptor> part = Bind(batch, head);
        if (!part.ok()) return part.status();
        parts_.push_back(*std::move(part));
      }
    }
    return absl::OkStatus();
  }

  // The addresses of one part, which begins at this batch and head.
  absl::StatusOr<CudnnDescriptor> Bind(uint64_t batch, uint64_t head) {
    std::vector<int64_t> ids;
    std::vector<void*> pointers;
    const auto add = [&](AttentionTensorId id, uint64_t address) {
      ids.push_back(static_cast<int64_t>(id));
      pointers.push_back(reinterpret_cast<void*>(address));
    };
    const auto add_tensor = [&](AttentionTensorId id, const AttentionTensor& tensor, uint64_t own_head,
                                artifact::ElementType element) {
      const int64_t first =
          static_cast<int64_t>(batch) * tensor.batch() + static_cast<int64_t>(own_head) * tensor.head();
      add(id,
          AddressOf(memory_.Address(tensor.slice())) + static_cast<uint64_t>(first) * artifact::ElementSize(element));
    };
    const uint64_t key_head = head / (a_.heads / a_.key_heads);
    add_tensor(AttentionTensorId::Query, *a_.query, head, a_.element);
    add_tensor(AttentionTensorId::Key, *a_.key, key_head, a_.element);
    add_tensor(AttentionTensorId::Value, *a_.value, key_head, a_.element);
    add_tensor(AttentionTensorId::Out, *a_.out, head, a_.element);
    if (a_.bias != nullptr) add_tensor(AttentionTensorId::Bias, *a_.bias, head, a_.bias_element);
    add(AttentionTensorId::LogSum,
        AddressOf(memory_.Address(*a_.log_sum)) + (batch * a_.heads + head) * a_.rows * sizeof(float));
    if (const auto& gradients = a_.gradients) {
      add_tensor(AttentionTensorId::OutGradient, *gradients->out_gradient, head, a_.element);
      add_tensor(AttentionTensorId::QueryGradient, *gradients->query, head, a_.element);
      add_tensor(AttentionTensorId::KeyGradient, *gradients->key, key_head, a_.element);
      add_tensor(AttentionTensorId::ValueGradient, *gradients->value, key_head, a_.element);
      add(AttentionTensorId::RowDot, row_dot_);
    }
    // By value: cuDNN reads these on the host, when it is called.
    for (auto& [id, scalar] : graph_->scalars) ids.push_back(id), pointers.push_back(&scalar);
    for (auto& [id, shift] : graph_->shifts) ids.push_back(id), pointers.push_back(&shift);
    return Pack(ids, pointers);
  }

  absl::StatusOr<CudnnDescriptor> Pack(const std::vector<int64_t>& ids, const std::vector<void*>& pointers) {
    absl::StatusOr<CudnnDescriptor> pack = CudnnDescriptor::Create(cudnn_, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    if (!pack.ok()) return pack;
    absl::Status status =
        pack->Set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, std::span<const int64_t>(ids));
    status.Update(
        pack->Set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, std::span<void* const>(pointers)));
    status.Update(
        pack->Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, reinterpret_cast<void*>(workspace_)));
    status.Update(pack->Finalize("addresses"));
    if (!status.ok()) return status;
    return pack;
  }

  CudaStreams& streams_;
  Cudnn& cudnn_;
  device::MemoryMap memory_;
  AttentionT a_;
  std::optional<AttentionGraph> graph_;  // holds the scalars that packs point to
  uint64_t row_dot_ = 0, workspace_ = 0, workspace_bytes_ = 0;
  std::vector<CudnnDescriptor> parts_;  // the variant pack of each
  std::optional<CudnnDescriptor> plan_;
};

}  // namespace

device::PreparedThunk MakeAttention(CudaStreams& streams, Cudnn& cudnn, device::AlgorithmChoices& choices,
                                    const artifact::Attention& attention, const device::MemoryMap& memory) {
  auto thunk = std::make_unique<AttentionThunk>(streams, cudnn, attention, memory);
  if (absl::Status status = thunk->Prepare(choices); !status.ok()) return status;
  return thunk;
}

}  // namespace sgd::cuda
