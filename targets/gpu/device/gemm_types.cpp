// Tables from the artifact's enums to the library's.
#include "targets/gpu/device/gemm_types.h"

#include "absl/strings/str_cat.h"
#include "runtime/artifact/element_type.h"

namespace sgd::cuda {

using artifact::Activation;
using artifact::ElementType;
using artifact::Epilogue;

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
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<GemmTypes> GemmTypesOf(const artifact::Matmul& matmul) {
  const std::optional<cudaDataType_t> operand = DataTypeOf(matmul.element());
  const std::optional<cudaDataType_t> result = DataTypeOf(artifact::ResultElementOf(matmul));
  if (!operand || !result) return std::nullopt;
  if (operand == CUDA_R_64F) return GemmTypes{*operand, *result, CUBLAS_COMPUTE_64F, CUDA_R_64F};
  return GemmTypes{*operand, *result, matmul.allows_tf32() ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F,
                   CUDA_R_32F};
}

bool HasBias(const artifact::Matmul& matmul) {
  return matmul.epilogue() == Epilogue::Bias || matmul.epilogue() == Epilogue::BiasRelu;
}

cublasLtEpilogue_t EpilogueOf(const artifact::Matmul& matmul) {
  const bool has_bias = HasBias(matmul);
  switch (matmul.activation()) {
    case Activation::Gelu:
      if (matmul.aux() == nullptr) return has_bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
      return has_bias ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX;
    case Activation::GeluGradient:
      return CUBLASLT_EPILOGUE_DGELU;
    case Activation::None:
      break;
  }
  if (matmul.epilogue() == Epilogue::BiasRelu) return CUBLASLT_EPILOGUE_RELU_BIAS;
  return has_bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

absl::Status CheckEpilogue(const artifact::Matmul& matmul, const GemmForm& form) {
  if (HasBias(matmul) && !form.is_swapped)
    return absl::UnimplementedError("matmul on a GPU: a bias along the dimension of C that has no stride 1");
  if (matmul.activation() == Activation::None) return absl::OkStatus();
  const ElementType element = artifact::ResultElementOf(matmul);
  if (element != ElementType::F16 && element != ElementType::BF16) {
    return absl::UnimplementedError(
        absl::StrCat("matmul on a GPU: gelu of ", artifact::ElementName(element), "; f16 and bf16 are possible"));
  }
  if (form.batch != 1 || form.calls.size() != 1)
    return absl::UnimplementedError("matmul on a GPU: gelu of products in batches");
  // CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD
  if (form.c_leading % 8 != 0 || form.m % 8 != 0)
    return absl::UnimplementedError("matmul on a GPU: gelu of rows that are no multiple of 8 elements");
  return absl::OkStatus();
}

}  // namespace sgd::cuda
