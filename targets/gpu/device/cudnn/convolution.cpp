// Everything but the call is made before the first step.
#include "targets/gpu/device/cudnn/convolution.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/convolution_form.h"
#include "runtime/artifact/element_type.h"
#include "runtime/artifact/epilogue.h"
#include "targets/gpu/device/cudnn/convolution_graph.h"
#include "targets/gpu/device/cudnn/cudnn_choice.h"
#include "targets/gpu/device/cudnn/cudnn_engines.h"
#include "targets/gpu/device/driver/candidate_timing.h"
#include "targets/gpu/device/memory/memory.h"

namespace sgd::cuda {
namespace {

using artifact::ConvolutionForm;
using artifact::ConvolutionKind;
using artifact::ConvolutionTensor;

const char* NameOf(ConvolutionKind kind) {
  switch (kind) {
    case ConvolutionKind::Forward:
      return "convolution";
    case ConvolutionKind::DataGradient:
      return "gradient of a convolution by its data";
    case ConvolutionKind::FilterGradient:
      break;
  }
  return "gradient of a convolution by its filter";
}

std::string TextOf(const ConvolutionTensor& tensor, int64_t alignment) {
  return absl::StrCat(absl::StrJoin(tensor.sizes, "x"), " by ", absl::StrJoin(tensor.strides, ","), " at ", alignment);
}

class ConvolutionThunk final : public device::Thunk {
 public:
  ConvolutionThunk(CudaStreams& streams, Cudnn& cudnn, ConvolutionForm form, const artifact::Convolution& convolution)
      : streams_(streams),
        cudnn_(cudnn),
        form_(std::move(form)),
        element_(convolution.element()),
        epilogue_(artifact::EpilogueOf(convolution.epilogue())) {}

  absl::Status Prepare(const artifact::Convolution& convolution, const device::MemoryMap& memory,
                       device::AlgorithmChoices& choices) {
    TakeAddresses(convolution, memory);
    const ConvolutionAlignments alignments = {AlignmentOf(image_), AlignmentOf(filter_), AlignmentOf(response_),
                                              AlignmentOf(bias_)};
    absl::StatusOr<CudnnDescriptor> graph = BuildConvolutionGraph(cudnn_, form_, element_, epilogue_, alignments);
    if (!graph.ok()) return graph.status();
    if (absl::Status status = BindAddresses(); !status.ok()) return status;
    const PlanRequest request = {
        .graph = *graph,
        .limits = limits_,
        .key = KeyOf(alignments),
        .what = absl::StrCat(NameOf(form_.kind), " of ", artifact::ElementName(element_)),
        .advice = "try a newer cuDNN, or compile with --target=cpu",
    };
    absl::StatusOr<CudnnDescriptor> plan = ChoosePlan(cudnn_, request, choices, [&](const CudnnDescriptor& candidate) {
      return TimeCandidate(streams_, [&] { return Execute(candidate); });
    });
    if (!plan.ok()) return plan.status();
    plan_ = *std::move(plan);
    return absl::OkStatus();
  }

  absl::Status Execute() override { return Execute(*plan_); }

 private:
  absl::Status Execute(const CudnnDescriptor& plan) {
    absl::Status status = cudnn_.Check(
        cudnn_.cudnnSetStream(cudnn_.handle(), reinterpret_cast<cudaStream_t>(streams_.used())), "cudnnSetStream");
    if (!status.ok()) return status;
    return cudnn_.Check(cudnn_.cudnnBackendExecute(cudnn_.handle(), plan.get(), addresses_->get()),
                        "cuDNN cannot convolve");
  }

  void TakeAddresses(const artifact::Convolution& convolution, const device::MemoryMap& memory) {
    std::byte* lhs = memory.Address(*convolution.lhs());
    std::byte* rhs = memory.Address(*convolution.rhs());
    std::byte* result = memory.Address(*convolution.result());
    switch (form_.kind) {
      case ConvolutionKind::Forward:
        image_ = lhs, filter_ = rhs, response_ = result;
        break;
      case ConvolutionKind::DataGradient:
        image_ = result, filter_ = rhs, response_ = lhs;
        break;
      case ConvolutionKind::FilterGradient:
        image_ = lhs, filter_ = result, response_ = rhs;
        break;
    }
    if (convolution.bias() != nullptr) bias_ = memory.Address(*convolution.bias());
    image_ += form_.image.first * static_cast<int64_t>(artifact::ElementSize(element_));
    // True f32 unless the instruction allows TF32; f64 has tensor cores that round as f64.
    limits_.takes_tensor_cores = element_ != artifact::ElementType::F32 || convolution.allows_tf32();
    if (convolution.workspace() != nullptr)
      TakeWorkspace(memory.Address(*convolution.workspace()), convolution.workspace()->size());
  }

  // From the first multiple of 256 on, as the driver's own allocations begin: engines copy operands there, and nothing
  // says that they look at where it begins.
  void TakeWorkspace(std::byte* begin, uint64_t bytes) {
    const uint64_t unused = -AddressOf(begin) % 256;
    if (bytes <= unused) return;
    workspace_ = begin + unused;
    limits_.workspace_bytes = bytes - unused;
  }

  static int64_t AlignmentOf(const std::byte* address) {
    const uint64_t bits = AddressOf(address) | 16;
    return static_cast<int64_t>(bits & -bits);
  }

  std::string EpilogueText(const ConvolutionAlignments& alignments) const {
    std::string text;
    if (epilogue_.Has(library::EpilogueStep::kResidual)) absl::StrAppend(&text, ", added to the result");
    if (epilogue_.Has(library::EpilogueStep::kBias)) absl::StrAppend(&text, ", bias at ", alignments.bias);
    if (epilogue_.Has(library::EpilogueStep::kRelu)) absl::StrAppend(&text, " and relu");
    return text;
  }

  std::string KeyOf(const ConvolutionAlignments& alignments) const {
    return absl::StrCat("cuDNN ", cudnn_.version(), ": ", artifact::ElementName(element_), " ", NameOf(form_.kind),
                        form_.flips ? " flipped" : "", ", ", form_.groups, " groups, image ",
                        TextOf(form_.image, alignments.image), ", filter ", TextOf(form_.filter, alignments.filter),
                        ", response ", TextOf(form_.response, alignments.response), ", strides ",
                        absl::StrJoin(form_.strides, ","), ", dilations ", absl::StrJoin(form_.dilations, ","),
                        ", padding ", absl::StrJoin(form_.before, ","), " ", absl::StrJoin(form_.after, ","),
                        EpilogueText(alignments), ", tensor cores ", limits_.takes_tensor_cores, ", workspace ",
                        limits_.workspace_bytes);
  }

  absl::Status BindAddresses() {
    absl::StatusOr<CudnnDescriptor> pack = CudnnDescriptor::Create(cudnn_, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    if (!pack.ok()) return pack.status();
    std::vector<int64_t> ids = {static_cast<int64_t>(ConvolutionTensorId::Image),
                                static_cast<int64_t>(ConvolutionTensorId::Filter),
                                static_cast<int64_t>(ConvolutionTensorId::Response)};
    std::vector<void*> pointers = {image_, filter_, response_};
    if (bias_ != nullptr) {
      ids.push_back(static_cast<int64_t>(ConvolutionTensorId::Bias));
      pointers.push_back(bias_);
    }
    absl::Status status =
        pack->Set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, std::span<const int64_t>(ids));
    status.Update(
        pack->Set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, std::span<void* const>(pointers)));
    status.Update(pack->Set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, static_cast<void*>(workspace_)));
    status.Update(pack->Finalize("addresses"));
    if (status.ok()) addresses_ = *std::move(pack);
    return status;
  }

  CudaStreams& streams_;
  Cudnn& cudnn_;
  ConvolutionForm form_;
  artifact::ElementType element_;
  library::Epilogue epilogue_;
  std::byte* bias_ = nullptr;  // null: the epilogue has none
  std::byte *image_ = nullptr, *filter_ = nullptr, *response_ = nullptr, *workspace_ = nullptr;
  EngineLimits limits_;
  std::optional<CudnnDescriptor> plan_, addresses_;
};

}  // namespace

device::PreparedThunk MakeConvolution(CudaStreams& streams, Cudnn& cudnn, device::AlgorithmChoices& choices,
                                      const artifact::Convolution& convolution, const device::MemoryMap& memory) {
  artifact::ConvolutionT shape;
  convolution.UnPackTo(&shape);
  absl::StatusOr<ConvolutionForm> form = artifact::ConvolutionFormOf(shape);
  if (!form.ok()) {
    return absl::UnimplementedError(absl::StrCat("convolution on a GPU: ", form.status().message(),
                                                 "; the compiler makes kernels of such convolutions: compile again"));
  }
  auto thunk = std::make_unique<ConvolutionThunk>(streams, cudnn, *std::move(form), convolution);
  if (absl::Status status = thunk->Prepare(convolution, memory, choices); !status.ok()) return status;
  return thunk;
}

}  // namespace sgd::cuda
