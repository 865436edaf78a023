// Descriptions are made once; an execution is one call of the library for each of the form's offsets.
#include "targets/gpu/device/matmul/matmul.h"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/artifact/element_type.h"
#include "runtime/artifact/epilogue.h"
#include "runtime/artifact/reader.h"
#include "targets/gpu/device/driver/candidate_timing.h"
#include "targets/gpu/device/matmul/cublas_handles.h"
#include "targets/gpu/device/matmul/gemm_algorithms.h"
#include "targets/gpu/device/matmul/gemm_form.h"
#include "targets/gpu/device/matmul/gemm_types.h"
#include "targets/gpu/device/matmul/matmul_reduction.h"
#include "targets/gpu/device/memory/memory.h"
#include "targets/gpu/device/memory/thunks.h"

namespace sgd::cuda {
namespace {

using library::EpilogueStep;

class MatmulThunk final : public device::Thunk {
 public:
  MatmulThunk(CudaStreams& streams, CublasLt& library, const GemmTypes& types, GemmForm form)
      : streams_(streams),
        library_(library),
        types_(types),
        form_(std::move(form)),
        description_(library),
        a_(library),
        b_(library),
        c_(library) {}

  absl::Status Prepare(const artifact::Matmul& matmul, const device::MemoryMap& memory,
                       device::AlgorithmChoices& choices) {
    TakeAddresses(matmul, memory);
    epilogue_ = *LibraryEpilogueOf(matmul, form_);  // there is one: CheckForm
    absl::Status status = Describe(matmul, memory);
    status.Update(LayOut(a_, types_.a, form_.transposes_a ? form_.k : form_.m, form_.transposes_a ? form_.m : form_.k,
                         form_.a_leading, form_.a_stride));
    status.Update(LayOut(b_, types_.b, form_.transposes_b ? form_.n : form_.k, form_.transposes_b ? form_.k : form_.n,
                         form_.b_leading, form_.b_stride));
    status.Update(LayOut(c_, types_.result, form_.m, form_.n, form_.c_leading, form_.c_stride));
    if (!status.ok()) return status;
    const auto take = [&](std::string_view bytes) { return Take(bytes); };
    return choices.Use(Key(), take, [&] { return Choose(choices.times_candidates()); });
  }

  absl::Status Execute() override { return Multiply(accumulates_); }

 private:
  absl::Status Multiply(bool accumulates) {
    const double one64 = 1, beta64 = accumulates ? 1 : 0;
    const float one32 = 1, beta32 = accumulates ? 1 : 0;
    const bool is_double = types_.scale == CUDA_R_64F;
    const void* alpha = is_double ? static_cast<const void*>(&one64) : &one32;
    const void* beta = is_double ? static_cast<const void*>(&beta64) : &beta32;
    for (const GemmForm::Offsets& call : form_.calls) {
      const cublasStatus_t result = library_.cublasLtMatmul(
          library_.handle(), description_.get(), alpha, At(a_address_, call.a, operand_bytes_), a_.get(),
          At(b_address_, call.b, operand_bytes_), b_.get(), beta, At(c_address_, call.c, result_bytes_), c_.get(),
          At(c_address_, call.c, result_bytes_), c_.get(), &algorithm_, workspace_, workspace_bytes_, streams_.used());
      if (absl::Status status = library_.Check(result, "cuBLASLt cannot multiply"); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  static void* At(std::byte* base, int64_t elements, uint64_t element_bytes) {
    return base + elements * static_cast<int64_t>(element_bytes);
  }

  void TakeAddresses(const artifact::Matmul& matmul, const device::MemoryMap& memory) {
    a_address_ = memory.Address(*matmul.a());
    b_address_ = memory.Address(*matmul.b());
    if (form_.is_swapped) {
      std::swap(a_address_, b_address_);
      std::swap(types_.a, types_.b);
    }
    c_address_ = memory.Address(*matmul.c());
    operand_bytes_ = artifact::ElementSize(matmul.element());
    result_bytes_ = artifact::ElementSize(artifact::ResultElementOf(matmul));
    accumulates_ = artifact::EpilogueOf(matmul.epilogue()).Has(EpilogueStep::kResidual);
    if (matmul.workspace() != nullptr) TakeWorkspace(memory.Address(*matmul.workspace()), matmul.workspace()->size());
  }

  // From the first multiple of 256 on, which the library asks for.
  void TakeWorkspace(std::byte* begin, uint64_t bytes) {
    const uint64_t unused = -AddressOf(begin) % 256;
    if (bytes <= unused) return;
    workspace_ = begin + unused;
    workspace_bytes_ = bytes - unused;
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
    status.Update(Set<cublasLtEpilogue_t>(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_));
    if (matmul.bias() != nullptr) {
      status.Update(Set<const void*>(CUBLASLT_MATMUL_DESC_BIAS_POINTER, memory.Address(*matmul.bias())));
      status.Update(Set<cudaDataType_t>(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, types_.result));
    }
    if (matmul.reduction() != nullptr) {
      // The library calls it a bias's gradient, and writes it where it reads a bias.
      status.Update(Set<void*>(CUBLASLT_MATMUL_DESC_BIAS_POINTER, memory.Address(*matmul.reduction())));
      status.Update(Set<cudaDataType_t>(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, types_.result));
    }
    if (matmul.aux() == nullptr) return status;
    status.Update(Set<void*>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, memory.Address(*matmul.aux())));
    status.Update(Set<int64_t>(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, static_cast<int64_t>(form_.c_leading)));
    return status;
  }

  absl::Status LayOut(LtLayout& layout, cudaDataType_t type, uint64_t rows, uint64_t columns, uint64_t leading,
                      int64_t stride) {
    absl::Status status = library_.Check(
        library_.cublasLtMatrixLayoutCreate(layout.address(), type, rows, columns, static_cast<int64_t>(leading)),
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

  // Everything that the library looks at when it chooses.
  std::string Key() const {
    const auto alignment = Alignments();
    return absl::StrCat("cublasLt ", library_.version(), " ", types_.a, " ", types_.b, " ", types_.result, " ",
                        types_.compute, " size ", form_.m, "x", form_.n, "x", form_.k, "x", form_.batch, " transposed ",
                        form_.transposes_a, form_.transposes_b, " leading ", form_.a_leading, " ", form_.b_leading, " ",
                        form_.c_leading, " stride ", form_.a_stride, " ", form_.b_stride, " ", form_.c_stride,
                        " epilogue ", epilogue_, " adds ", accumulates_, " alignment ", absl::StrJoin(alignment, " "),
                        " workspace ", workspace_bytes_);
  }

  GemmRequest Request() const {
    return {description_.get(), a_.get(), b_.get(), c_.get(), Alignments(), workspace_bytes_};
  }

  // A choice is the library's own description of an algorithm, which the same version of it takes back.
  absl::Status Take(std::string_view bytes) {
    absl::StatusOr<cublasLtMatmulAlgo_t> algorithm = CheckAlgorithm(library_, Request(), bytes);
    if (!algorithm.ok()) return algorithm.status();
    algorithm_ = *algorithm;
    return absl::OkStatus();
  }

  // The best by the library's estimate, or the fastest of some.
  absl::StatusOr<std::string> Choose(bool times_candidates) {
    absl::StatusOr<std::vector<cublasLtMatmulAlgo_t>> algorithms =
        ProposeAlgorithms(library_, Request(), times_candidates ? kTimedCandidates : 1);
    if (!algorithms.ok()) {
      return absl::Status(algorithms.status().code(),
                          absl::StrCat(algorithms.status().message(), ", for a matmul of ", form_.m, " by ", form_.n,
                                       " by ", form_.k, " with epilogue ", epilogue_));
    }
    size_t best = 0;
    absl::Duration least = absl::InfiniteDuration();
    for (size_t i = 0; algorithms->size() > 1 && i < algorithms->size(); ++i) {
      algorithm_ = (*algorithms)[i];
      // Sums that grow with each execution would take no other time.
      absl::StatusOr<absl::Duration> time = TimeCandidate(streams_, [this] { return Multiply(/*accumulates=*/false); });
      if (!time.ok()) return time.status();
      if (*time < least) least = *time, best = i;
    }
    return BytesOf((*algorithms)[best]);
  }

  // Of A, B, C and D.
  std::array<uint32_t, 4> Alignments() const {
    const uint32_t c = AlignmentOf(c_address_, result_bytes_, form_.c_stride, &GemmForm::Offsets::c);
    return {AlignmentOf(a_address_, operand_bytes_, form_.a_stride, &GemmForm::Offsets::a),
            AlignmentOf(b_address_, operand_bytes_, form_.b_stride, &GemmForm::Offsets::b), c, c};
  }

  // Of an operand in every call and batch: a power of two, at most 256 bytes.
  uint32_t AlignmentOf(const std::byte* base, uint64_t element_bytes, int64_t stride,
                       int64_t GemmForm::Offsets::* offset) const {
    uint64_t bits = AddressOf(base) | 256;
    if (form_.batch > 1) bits |= static_cast<uint64_t>(stride) * element_bytes;
    for (const GemmForm::Offsets& call : form_.calls) bits |= static_cast<uint64_t>(call.*offset) * element_bytes;
    return static_cast<uint32_t>(bits & -bits);
  }

  CudaStreams& streams_;
  CublasLt& library_;
  GemmTypes types_;
  GemmForm form_;
  LtDescription description_;
  LtLayout a_, b_, c_;
  cublasLtEpilogue_t epilogue_ = CUBLASLT_EPILOGUE_DEFAULT;
  cublasLtMatmulAlgo_t algorithm_{};
  std::byte *a_address_ = nullptr, *b_address_ = nullptr, *c_address_ = nullptr;
  uint64_t operand_bytes_ = 0, result_bytes_ = 0;  // of an element
  bool accumulates_ = false;
  void* workspace_ = nullptr;
  uint64_t workspace_bytes_ = 0;
};

bool IsDense(const artifact::Matmul& matmul) {
  const uint64_t batch = artifact::Size(matmul.batch_dims());
  return batch == 0 && matmul.c_n() == 1 && static_cast<uint64_t>(matmul.c_m()) == matmul.n();
}

// An empty sum is zero.
device::PreparedThunk MakeEmptySum(CudaStreams& streams, const artifact::Matmul& matmul,
                                   const device::MemoryMap& memory) {
  const library::Epilogue epilogue = artifact::EpilogueOf(matmul.epilogue());
  if (epilogue == library::Epilogue{EpilogueStep::kResidual})
    return MakeFill(streams, memory.Address(*matmul.c()), 0, {});
  if (!epilogue.empty() || !IsDense(matmul)) {
    return absl::UnimplementedError(
        "matmul on a GPU: a contraction of no elements with a bias, in batches or with strides; expected a dense "
        "result and no epilogue; compile the model again");
  }
  const uint8_t zero = 0;
  return MakeFill(streams, memory.Address(*matmul.c()),
                  matmul.m() * matmul.n() * artifact::ElementSize(artifact::ResultElementOf(matmul)), {&zero, 1});
}

}  // namespace

device::PreparedThunk MakeMatmul(CudaStreams& streams, CublasLt& library, const artifact::Matmul& matmul,
                                 const device::MemoryMap& memory, device::AlgorithmChoices& choices) {
  const std::optional<GemmTypes> types = GemmTypesOf(matmul);
  if (!types) {
    return absl::UnimplementedError(absl::StrCat("matmul on a GPU: elements of type ",
                                                 artifact::ElementName(matmul.element()),
                                                 "; expected f64, f32, f16, bf16 or f8; compile the model again"));
  }
  absl::StatusOr<GemmForm> form = GemmFormOf(matmul);
  if (!form.ok()) return form.status();
  if (form->m == 0 || form->n == 0 || form->batch == 0 || form->calls.empty())
    return MakeFill(streams, memory.Address(*matmul.c()), 0, {});
  if (form->k == 0) return MakeEmptySum(streams, matmul, memory);
  if (absl::Status status = CheckForm(matmul, *form); !status.ok()) return status;
  auto thunk = std::make_unique<MatmulThunk>(streams, library, *types, *std::move(form));
  const absl::Status status = thunk->Prepare(matmul, memory, choices);
  if (status.ok()) return thunk;
  if (matmul.reduction() == nullptr) return status;
  // Every rank comes here when the first one does: the others have no choice of it for both at once.
  auto apart = MakeMatmulThenReduction(streams, matmul, memory, [&](const artifact::Matmul& part) {
    return MakeMatmul(streams, library, part, memory, choices);
  });
  return apart.ok() ? std::move(apart) : status;
}

}  // namespace sgd::cuda
