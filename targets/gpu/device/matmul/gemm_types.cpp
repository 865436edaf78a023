// Tables from the artifact's enums to the library's.
#include "targets/gpu/device/matmul/gemm_types.h"

#include "absl/strings/str_cat.h"
#include "runtime/artifact/element_type.h"
#include "runtime/artifact/epilogue.h"

namespace sgd::cuda {

using artifact::ElementType;
using library::Epilogue;
using library::EpilogueStep;

namespace {

std::optional<cudaDataType_t> DataTypeOf(ElementType element) {
  switch (element) {
    case ElementType::F64:
      return CUDA_R_64F;
    case ElementType::F32:
      return CUDA_R_32F;
    case ElementType::F16:
      return CUDA_R_16F;
    case ElementType::BF16:
      return CUDA_R_16BF;
    case ElementType::F8E4M3FN:
      return CUDA_R_8F_E4M3;
    case ElementType::F8E5M2:
      return CUDA_R_8F_E5M2;
    default:
      return std::nullopt;
  }
}

// FP8 kernels: the form that all GPUs with them accept (cublasLtMatmul's "TN format" and 16 bytes of alignment). Both
// scales are one unless they are set, accumulation is at full precision unless the fast mode is asked for.
absl::Status CheckFloat8(const artifact::Matmul& matmul, const GemmForm& form) {
  if (!artifact::IsFloat8(matmul.element())) return absl::OkStatus();
  if (matmul.element() == ElementType::F8E5M2 && artifact::RhsElementOf(matmul) == ElementType::F8E5M2)
    return absl::UnimplementedError(
        "matmul on a GPU: both operands of f8e5m2; expected f8e4m3fn in one; convert it before");
  if (!form.transposes_a || form.transposes_b) {
    return absl::UnimplementedError(
        "matmul on a GPU: f8 whose contracted dimension is strided; expected stride 1 in both operands; compile the "
        "model again");
  }
  for (const uint64_t size : {form.m, form.n, form.k, form.a_leading, form.b_leading, form.c_leading}) {
    if (size % 16 != 0)
      return absl::UnimplementedError(
          absl::StrCat("matmul on a GPU: f8 of size or stride ", size,
                       "; expected multiples of 16; pad the tensors, or convert them before"));
  }
  const Epilogue epilogue = artifact::EpilogueOf(matmul.epilogue());
  if (epilogue.Has(EpilogueStep::kBias) && artifact::ResultElementOf(matmul) == ElementType::F32)
    return absl::UnimplementedError(
        "matmul on a GPU: a bias of f32 with operands of f8; expected f16 or bf16; compile the model again");
  if (epilogue.HasReduction() || epilogue.HasGelu())
    return absl::UnimplementedError(
        "matmul on a GPU: an operand's reduction, or gelu, with operands of f8; expected a bias or relu; compile the "
        "model again");
  return absl::OkStatus();
}

}  // namespace

std::optional<GemmTypes> GemmTypesOf(const artifact::Matmul& matmul) {
  const std::optional<cudaDataType_t> a = DataTypeOf(matmul.element()), b = DataTypeOf(artifact::RhsElementOf(matmul));
  const std::optional<cudaDataType_t> result = DataTypeOf(artifact::ResultElementOf(matmul));
  if (!a || !b || !result) return std::nullopt;
  if (a == CUDA_R_64F) return GemmTypes{*a, *b, *result, CUBLAS_COMPUTE_64F, CUDA_R_64F};
  return GemmTypes{*a, *b, *result, matmul.allows_tf32() ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
                   CUDA_R_32F};
}

std::optional<cublasLtEpilogue_t> LibraryEpilogueOf(const artifact::Matmul& matmul, const GemmForm& form) {
  const Epilogue epilogue = artifact::EpilogueOf(matmul.epilogue());
  const Epilogue rest = epilogue.Without(EpilogueStep::kResidual);
  const bool has_aux = matmul.aux() != nullptr;
  if (rest.empty()) return CUBLASLT_EPILOGUE_DEFAULT;
  if (rest == Epilogue{EpilogueStep::kBias}) return CUBLASLT_EPILOGUE_BIAS;
  if (rest == Epilogue{EpilogueStep::kBias, EpilogueStep::kRelu}) return CUBLASLT_EPILOGUE_RELU_BIAS;
  // The library does not document what it adds before gelu and reductions.
  if (rest != epilogue) return std::nullopt;
  if (rest == Epilogue{EpilogueStep::kGelu}) return has_aux ? CUBLASLT_EPILOGUE_GELU_AUX : CUBLASLT_EPILOGUE_GELU;
  if (rest == Epilogue{EpilogueStep::kBias, EpilogueStep::kGelu})
    return has_aux ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_BIAS;
  if (rest == Epilogue{EpilogueStep::kGeluGradient}) return CUBLASLT_EPILOGUE_DGELU;
  if (!rest.HasReduction()) return std::nullopt;
  const bool of_first = rest.Has(EpilogueStep::kLhsReduction) != form.is_swapped;
  return of_first ? CUBLASLT_EPILOGUE_BGRADA : CUBLASLT_EPILOGUE_BGRADB;
}

absl::Status CheckForm(const artifact::Matmul& matmul, const GemmForm& form) {
  if (absl::Status status = CheckFloat8(matmul, form); !status.ok()) return status;
  const Epilogue epilogue = artifact::EpilogueOf(matmul.epilogue());
  if (!LibraryEpilogueOf(matmul, form))
    return absl::UnimplementedError(absl::StrCat("matmul on a GPU: an epilogue of ", library::TextOf(epilogue),
                                                 "; expected one that cuBLASLt has; compile the model again"));
  const bool is_single = form.batch == 1 && form.calls.size() == 1;
  if (epilogue.HasReduction() && !is_single)
    return absl::UnimplementedError(
        "matmul on a GPU: an operand's reduction in batches; expected one matmul; compile the model again");
  if (epilogue.Has(EpilogueStep::kBias) && !form.is_swapped)
    return absl::UnimplementedError(
        "matmul on a GPU: a bias along a strided dimension of C; expected stride 1; compile the model again");
  if (!epilogue.HasGelu()) return absl::OkStatus();
  const ElementType element = artifact::ResultElementOf(matmul);
  if (element != ElementType::F16 && element != ElementType::BF16) {
    return absl::UnimplementedError(absl::StrCat("matmul on a GPU: gelu of ", artifact::ElementName(element),
                                                 "; expected f16 or bf16; compile the model again"));
  }
  if (!is_single)
    return absl::UnimplementedError("matmul on a GPU: gelu in batches; expected one matmul; compile the model again");
  // CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD
  if (form.c_leading % 8 != 0 || form.m % 8 != 0)
    return absl::UnimplementedError(
        "matmul on a GPU: gelu of rows that are no multiple of 8 elements; expected one; compile the model again");
  return absl::OkStatus();
}

}  // namespace sgd::cuda
