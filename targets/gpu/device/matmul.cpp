// Descriptions are made once; an execution is one call of the library for each of the form's offsets.
#include "targets/gpu/device/matmul.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/element_type.h"
#include "runtime/artifact/reader.h"
#include "targets/gpu/device/gemm_form.h"
#include "targets/gpu/device/memory.h"
#include "targets/gpu/device/nodes.h"

namespace sgd::cuda {
namespace {

using artifact::ElementType;
using artifact::Epilogue;

struct Types {
  cudaDataType_t element;
  cublasComputeType_t compute;
  cudaDataType_t scale;
};

std::optional<Types> TypesOf(ElementType element) {
  switch (element) {
    case ElementType::F64:
      return Types{CUDA_R_64F, CUBLAS_COMPUTE_64F, CUDA_R_64F};
    case ElementType::F32:
      return Types{CUDA_R_32F, CUBLAS_COMPUTE_32F, CUDA_R_32F};
    case ElementType::F16:
      return Types{CUDA_R_16F, CUBLAS_COMPUTE_32F, CUDA_R_32F};
    case ElementType::BF16:
      return Types{CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F};
    default:
      return std::nullopt;
  }
}

// Something the library made; Destroy is a member of CublasLt.
template <typename Handle, auto Destroy>
class LtHandle {
 public:
  explicit LtHandle(const CublasLt& library) : library_(library) {}
  LtHandle(const LtHandle&) = delete;
  LtHandle& operator=(const LtHandle&) = delete;
  ~LtHandle() {
    if (handle_ != nullptr) (library_.*Destroy)(handle_);
  }
  Handle* address() { return &handle_; }
  Handle get() const { return handle_; }

 private:
  const CublasLt& library_;
  Handle handle_ = nullptr;
};

using Description = LtHandle<cublasLtMatmulDesc_t, &CublasLt::cublasLtMatmulDescDestroy>;
using Layout = LtHandle<cublasLtMatrixLayout_t, &CublasLt::cublasLtMatrixLayoutDestroy>;
using Preference = LtHandle<cublasLtMatmulPreference_t, &CublasLt::cublasLtMatmulPreferenceDestroy>;

class MatmulNode final : public device::Node {
 public:
  MatmulNode(CudaQueues& queues, CublasLt& library, const Types& types, GemmForm form)
      : queues_(queues),
        library_(library),
        types_(types),
        form_(std::move(form)),
        description_(library),
        a_(library),
        b_(library),
        c_(library) {}

  absl::Status Prepare(const artifact::Matmul& matmul, const device::MemoryMap& memory) {
    TakeAddresses(matmul, memory);
    absl::Status status = Describe(matmul, memory);
    status.Update(LayOut(a_, form_.transposes_a ? form_.k : form_.m, form_.transposes_a ? form_.m : form_.k,
                         form_.a_leading, form_.a_stride));
    status.Update(LayOut(b_, form_.transposes_b ? form_.n : form_.k, form_.transposes_b ? form_.k : form_.n,
                         form_.b_leading, form_.b_stride));
    status.Update(LayOut(c_, form_.m, form_.n, form_.c_leading, form_.c_stride));
    return status.ok() ? Choose() : status;
  }

  absl::Status Execute() override {
    const double one64 = 1, beta64 = accumulates_ ? 1 : 0;
    const float one32 = 1, beta32 = accumulates_ ? 1 : 0;
    const bool is_double = types_.scale == CUDA_R_64F;
    const void* alpha = is_double ? static_cast<const void*>(&one64) : &one32;
    const void* beta = is_double ? static_cast<const void*>(&beta64) : &beta32;
    for (const GemmForm::Offsets& call : form_.calls) {
      const cublasStatus_t result = library_.cublasLtMatmul(
          library_.handle(), description_.get(), alpha, At(a_address_, call.a), a_.get(), At(b_address_, call.b),
          b_.get(), beta, At(c_address_, call.c), c_.get(), At(c_address_, call.c), c_.get(), &algorithm_, workspace_,
          workspace_bytes_, queues_.used());
      if (absl::Status status = library_.Check(result, "cuBLASLt cannot multiply"); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  void* At(std::byte* base, int64_t elements) const { return base + elements * static_cast<int64_t>(element_bytes_); }

  void TakeAddresses(const artifact::Matmul& matmul, const device::MemoryMap& memory) {
    a_address_ = memory.Address(*matmul.a());
    b_address_ = memory.Address(*matmul.b());
    if (form_.is_swapped) std::swap(a_address_, b_address_);
    c_address_ = memory.Address(*matmul.c());
    element_bytes_ = artifact::ElementSize(matmul.element());
    accumulates_ = matmul.epilogue() == Epilogue::Accumulate;
    if (matmul.workspace() == nullptr) return;
    workspace_ = memory.Address(*matmul.workspace());
    workspace_bytes_ = matmul.workspace()->size();
  }

  template <typename Value>
  absl::Status Set(cublasLtMatmulDescAttributes_t attribute, const Value& value) {
    return library_.Check(library_.cublasLtMatmulDescSetAttribute(description_.get(), attribute, &value, sizeof(value)),
                          "cuBLASLt");
  }

  absl::Status Describe(const artifact::Matmul& matmul, const device::MemoryMap& memory) {
    absl::Status status = library_.Check(
        library_.cublasLtMatmulDescCreate(description_.address(), types_.compute, types_.scale), "cuBLASLt");
    if (!status.ok()) return status;
    status.Update(Set<cublasOperation_t>(CUBLASLT_MATMUL_DESC_TRANSA, form_.transposes_a ? CUBLAS_OP_T : CUBLAS_OP_N));
    status.Update(Set<cublasOperation_t>(CUBLASLT_MATMUL_DESC_TRANSB, form_.transposes_b ? CUBLAS_OP_T : CUBLAS_OP_N));
    if (matmul.epilogue() != Epilogue::Bias && matmul.epilogue() != Epilogue::BiasRelu) return status;
    status.Update(Set<cublasLtEpilogue_t>(CUBLASLT_MATMUL_DESC_EPILOGUE, matmul.epilogue() == Epilogue::Bias
                                                                             ? CUBLASLT_EPILOGUE_BIAS
                                                                             : CUBLASLT_EPILOGUE_RELU_BIAS));
    status.Update(Set<const void*>(CUBLASLT_MATMUL_DESC_BIAS_POINTER, memory.Address(*matmul.bias())));
    return status;
  }

  absl::Status LayOut(Layout& layout, uint64_t rows, uint64_t columns, uint64_t leading, int64_t stride) {
    absl::Status status = library_.Check(library_.cublasLtMatrixLayoutCreate(layout.address(), types_.element, rows,
                                                                             columns, static_cast<int64_t>(leading)),
                                         "cuBLASLt");
    if (!status.ok() || form_.batch == 1) return status;
    const int32_t count = static_cast<int32_t>(form_.batch);
    status.Update(library_.Check(library_.cublasLtMatrixLayoutSetAttribute(
                                     layout.get(), CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count)),
                                 "cuBLASLt"));
    status.Update(
        library_.Check(library_.cublasLtMatrixLayoutSetAttribute(
                           layout.get(), CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof(stride)),
                       "cuBLASLt"));
    return status;
  }

  // The best by the library's estimate, which depends on shapes and the GPU alone: ranks have equal ones.
  absl::Status Choose() {
    Preference preference(library_);
    absl::Status status = library_.Check(library_.cublasLtMatmulPreferenceCreate(preference.address()), "cuBLASLt");
    if (!status.ok()) return status;
    status.Update(SetPreference(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_bytes_));
    // Of products whose sums are cut, only those that add the parts in the type of sums and in a step of its own.
    const uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    status.Update(SetPreference(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, schemes));
    status.Update(SetPreference(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                                AlignmentOf(a_address_, form_.a_stride, &GemmForm::Offsets::a)));
    status.Update(SetPreference(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                                AlignmentOf(b_address_, form_.b_stride, &GemmForm::Offsets::b)));
    status.Update(SetPreference(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                                AlignmentOf(c_address_, form_.c_stride, &GemmForm::Offsets::c)));
    status.Update(SetPreference(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
                                AlignmentOf(c_address_, form_.c_stride, &GemmForm::Offsets::c)));
    cublasLtMatmulHeuristicResult_t best{};
    int count = 0;
    if (!status.ok()) return status;
    const cublasStatus_t result =
        library_.cublasLtMatmulAlgoGetHeuristic(library_.handle(), description_.get(), a_.get(), b_.get(), c_.get(),
                                                c_.get(), preference.get(), 1, &best, &count);
    status = library_.Check(
        result, absl::StrCat("cuBLASLt has no algorithm for a product of ", form_.m, " by ", form_.n, " by ", form_.k));
    if (!status.ok()) return absl::UnimplementedError(status.message());
    if (count == 0)
      return absl::UnimplementedError("cuBLASLt has no algorithm for a product that fits in the plan's workspace");
    algorithm_ = best.algo;
    return absl::OkStatus();
  }

  // Of an operand in every call and batch: a power of two, at most 256 bytes.
  uint32_t AlignmentOf(const std::byte* base, int64_t stride, int64_t GemmForm::Offsets::* offset) const {
    uint64_t bits = AddressOf(base) | 256;
    if (form_.batch > 1) bits |= static_cast<uint64_t>(stride) * element_bytes_;
    for (const GemmForm::Offsets& call : form_.calls) bits |= static_cast<uint64_t>(call.*offset) * element_bytes_;
    return static_cast<uint32_t>(bits & -bits);
  }

  template <typename Value>
  absl::Status SetPreference(Preference& preference, cublasLtMatmulPreferenceAttributes_t attribute,
                             const Value& value) {
    return library_.Check(
        library_.cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof(value)), "cuBLASLt");
  }

  CudaQueues& queues_;
  CublasLt& library_;
  Types types_;
  GemmForm form_;
  Description description_;
  Layout a_, b_, c_;
  cublasLtMatmulAlgo_t algorithm_{};
  std::byte *a_address_ = nullptr, *b_address_ = nullptr, *c_address_ = nullptr;
  uint64_t element_bytes_ = 0;
  bool accumulates_ = false;
  void* workspace_ = nullptr;
  uint64_t workspace_bytes_ = 0;
};

bool IsDense(const artifact::Matmul& matmul) {
  const uint64_t batch = artifact::Size(matmul.batch_dims());
  return batch == 0 && matmul.c_n() == 1 && static_cast<uint64_t>(matmul.c_m()) == matmul.n();
}

// An empty sum is zero.
absl::StatusOr<std::unique_ptr<device::Node>> MakeEmptySum(CudaQueues& queues, const artifact::Matmul& matmul,
                                                           const device::MemoryMap& memory) {
  if (matmul.epilogue() == Epilogue::Accumulate) return MakeFill(queues, memory.Address(*matmul.c()), 0, {});
  if (matmul.epilogue() != Epilogue::None || !IsDense(matmul)) {
    return absl::UnimplementedError("matmul on a GPU: sums over no elements with a bias, in batches or with strides");
  }
  const uint8_t zero = 0;
  return MakeFill(queues, memory.Address(*matmul.c()),
                  matmul.m() * matmul.n() * artifact::ElementSize(matmul.element()), {&zero, 1});
}

}  // namespace

absl::StatusOr<std::unique_ptr<device::Node>> MakeMatmul(CudaQueues& queues, CublasLt& library,
                                                         const artifact::Matmul& matmul,
                                                         const device::MemoryMap& memory) {
  const std::optional<Types> types = TypesOf(matmul.element());
  if (!types) {
    return absl::UnimplementedError(absl::StrCat("matmul on a GPU: elements of type ",
                                                 artifact::ElementName(matmul.element()),
                                                 "; f64, f32, f16 and bf16 are possible"));
  }
  absl::StatusOr<GemmForm> form = GemmFormOf(matmul);
  if (!form.ok()) return form.status();
  if (form->m == 0 || form->n == 0 || form->batch == 0 || form->calls.empty())
    return MakeFill(queues, memory.Address(*matmul.c()), 0, {});
  if (form->k == 0) return MakeEmptySum(queues, matmul, memory);
  const bool has_bias = matmul.epilogue() == Epilogue::Bias || matmul.epilogue() == Epilogue::BiasRelu;
  if (has_bias && !form->is_swapped)
    return absl::UnimplementedError("matmul on a GPU: a bias along the dimension of C that has no stride 1");
  auto node = std::make_unique<MatmulNode>(queues, library, *types, *std::move(form));
  if (absl::Status status = node->Prepare(matmul, memory); !status.ok()) return status;
  return node;
}

}  // namespace sgd::cuda
