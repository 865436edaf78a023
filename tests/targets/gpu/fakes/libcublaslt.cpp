// A fake of libcublasLt.so for tests: as strict as cublasLt.h and the library's table of supported types, in what it
// takes, and matmuls in the order of the stream that they are given (fake_matmul.h).
#include <cublasLt.h>
#include <cuda.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include "tests/targets/gpu/fakes/enqueue.h"
#include "tests/targets/gpu/fakes/fake_matmul.h"

using sgd::emulated::EmulatedMatmul;
using sgd::emulated::HasAux;
using sgd::emulated::HasBias;
using sgd::emulated::HasReduction;
using sgd::emulated::MatrixDescription;
using sgd::emulated::MatrixLayout;

namespace {

// The algorithm's workspace at most; it takes all that it is allowed up to there.
constexpr uint64_t kMostWorkspace = uint64_t{1} << 20;

struct Handle {
  static constexpr uint64_t kAlive = 0x5367644c74;
  uint64_t magic = kAlive;
};

struct Preference {
  uint64_t workspace = 0;
  uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_MASK;
  uint32_t alignment[4] = {256, 256, 256, 256};  // of A, B, C and D
};

// The demands of an algorithm: in place of the library's opaque 64 bytes.
struct Algorithm {
  static constexpr uint64_t kChosen = 0x416c676f;
  uint64_t magic;
  uint64_t workspace;
  uint32_t alignment[4];
  bool adds_in_place;  // parts of sums
  bool is_slow;        // the first of several that are asked for: heuristics may be wrong
  uint8_t number;      // among those that heuristics know
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

bool IsFloat8(cudaDataType type) { return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2; }
size_t SizeOf(cudaDataType type) { return type == CUDA_R_64F ? 8 : type == CUDA_R_32F ? 4 : IsFloat8(type) ? 1 : 2; }

// Of FP8 kernels, what those of all GPUs have in common.
bool IsFloat8Supported(const MatrixDescription& description, const MatrixLayout& a, const MatrixLayout& b,
                       const MatrixLayout& d) {
  if (description.compute != CUBLAS_COMPUTE_32F || description.scale != CUDA_R_32F) return false;
  if (!IsFloat8(b.type) || (a.type == CUDA_R_8F_E5M2 && b.type == CUDA_R_8F_E5M2)) return false;
  if (d.type != CUDA_R_32F && d.type != CUDA_R_16F && d.type != CUDA_R_16BF) return false;
  if (description.a != CUBLAS_OP_T || description.b != CUBLAS_OP_N) return false;
  for (const MatrixLayout* layout : {&a, &b, &d}) {
    const uint64_t bytes = static_cast<uint64_t>(layout->leading) * SizeOf(layout->type);
    if (layout->rows % 16 != 0 || layout->columns % 16 != 0 || bytes % 16 != 0) return false;
  }
  return description.epilogue == CUBLASLT_EPILOGUE_DEFAULT ||
         (description.epilogue == CUBLASLT_EPILOGUE_BIAS && d.type != CUDA_R_32F);
}

// The rows of the library's table of supported types that we use.
bool AreSupported(const MatrixDescription& description, const MatrixLayout& a, const MatrixLayout& b,
                  const MatrixLayout& d) {
  if (IsFloat8(a.type)) return IsFloat8Supported(description, a, b, d);
  if (a.type != b.type) return false;
  if (a.type == CUDA_R_64F)
    return d.type == CUDA_R_64F && description.compute == CUBLAS_COMPUTE_64F && description.scale == CUDA_R_64F;
  if (description.scale != CUDA_R_32F) return false;
  if (a.type == CUDA_R_32F && description.compute == CUBLAS_COMPUTE_32F_FAST_TF32) return d.type == CUDA_R_32F;
  if (description.compute != CUBLAS_COMPUTE_32F) return false;
  const bool is_narrow = a.type == CUDA_R_16F || a.type == CUDA_R_16BF;
  return (is_narrow && d.type == a.type) || ((is_narrow || a.type == CUDA_R_32F) && d.type == CUDA_R_32F);
}

bool IsKnown(cublasLtEpilogue_t epilogue) {
  return epilogue == CUBLASLT_EPILOGUE_DEFAULT || epilogue == CUBLASLT_EPILOGUE_GELU || HasBias(epilogue) ||
         HasAux(epilogue) || HasReduction(epilogue);
}

// Checks the epilogue's demands on its buffers.
cublasStatus_t CheckEpilogue(const MatrixDescription& description, const MatrixLayout& d) {
  if (!IsKnown(description.epilogue)) return CUBLAS_STATUS_NOT_SUPPORTED;
  // Known to be there: of the layouts that gradients of weights have.
  const bool has_gradients_layout = description.a == CUBLAS_OP_N && description.b == CUBLAS_OP_T;
  if (HasReduction(description.epilogue) && (d.batch != 1 || !has_gradients_layout)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (HasBias(description.epilogue) || HasReduction(description.epilogue)) {
    if (description.bias_type != -1 && description.bias_type != d.type) return CUBLAS_STATUS_NOT_SUPPORTED;
    if (reinterpret_cast<uintptr_t>(description.bias) % SizeOf(d.type) != 0) return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (!HasAux(description.epilogue)) return CUBLAS_STATUS_SUCCESS;
  // The header asks for a multiple of 8; an aux of a batch needs a stride, which nobody here sets.
  if (description.aux_leading < static_cast<int64_t>(d.rows) || description.aux_leading % 8 != 0)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (reinterpret_cast<uintptr_t>(description.aux) % 16 != 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  return d.batch == 1 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

// Sizes that fit each other, and matrices that do not overlap themselves.
cublasStatus_t CheckSizes(const MatrixDescription& description, const MatrixLayout& a, const MatrixLayout& b,
                          const MatrixLayout& c, const MatrixLayout& d, EmulatedMatmul& matmul) {
  matmul.m = d.rows, matmul.n = d.columns;
  matmul.k = description.a == CUBLAS_OP_T ? a.rows : a.columns;
  for (const MatrixLayout* layout : {&a, &b, &c, &d}) {
    if (layout->rows == 0 || layout->columns == 0 || layout->leading < static_cast<int64_t>(layout->rows))
      return CUBLAS_STATUS_INVALID_VALUE;
    if (layout->batch != d.batch || layout->rows > INT32_MAX || layout->columns > INT32_MAX)
      return CUBLAS_STATUS_INVALID_VALUE;
  }
  const bool a_fits = (description.a == CUBLAS_OP_T ? a.columns : a.rows) == matmul.m;
  const bool b_fits = (description.b == CUBLAS_OP_T ? b.columns : b.rows) == matmul.k &&
                      (description.b == CUBLAS_OP_T ? b.rows : b.columns) == matmul.n;
  const bool c_fits = c.rows == d.rows && c.columns == d.columns && c.leading == d.leading && c.stride == d.stride;
  if (!a_fits || !b_fits || !c_fits) return CUBLAS_STATUS_INVALID_VALUE;
  if (c.type != d.type || !AreSupported(description, a, b, d)) return CUBLAS_STATUS_NOT_SUPPORTED;
  return CheckEpilogue(description, d);
}

template <typename Value>
cublasStatus_t Take(Value& target, const void* buffer, size_t size) {
  if (buffer == nullptr || size != sizeof(Value)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&target, buffer, size);
  return CUBLAS_STATUS_SUCCESS;
}

MatrixLayout& Of(cublasLtMatrixLayout_t layout) { return *reinterpret_cast<MatrixLayout*>(layout); }
MatrixDescription& Of(cublasLtMatmulDesc_t description) { return *reinterpret_cast<MatrixDescription*>(description); }
Preference& Of(cublasLtMatmulPreference_t preference) { return *reinterpret_cast<Preference*>(preference); }

bool IsAlive(cublasLtHandle_t handle) {
  return handle != nullptr && reinterpret_cast<Handle*>(handle)->magic == Handle::kAlive;
}

double Scale(const void* value, cudaDataType type) {
  return type == CUDA_R_64F ? *static_cast<const double*>(value)
                            : static_cast<double>(*static_cast<const float*>(value));
}

// Of an operand in every batch.
bool IsAligned(const void* data, const MatrixLayout& layout, uint32_t alignment) {
  const uint64_t step = layout.batch > 1 ? static_cast<uint64_t>(layout.stride) * SizeOf(layout.type) : 0;
  return (reinterpret_cast<uintptr_t>(data) | step) % alignment == 0;
}

struct MatmulCall {
  EmulatedMatmul matmul;
  bool Run() const { return Multiply(matmul); }
};

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(new Handle);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  if (!IsAlive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete reinterpret_cast<Handle*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}
size_t cublasLtGetVersion() { return 130000; }
const char* cublasLtGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    default:
      return "of the fake of cuBLASLt";
  }
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  *description = reinterpret_cast<cublasLtMatmulDesc_t>(new MatrixDescription{compute, scale});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  delete &Of(description);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute, const void* buffer,
                                              size_t size) {
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return Take(Of(description).a, buffer, size);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return Take(Of(description).b, buffer, size);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return Take(Of(description).epilogue, buffer, size);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return Take(Of(description).bias, buffer, size);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return Take(Of(description).bias_type, buffer, size);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
      return Take(Of(description).aux, buffer, size);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
      return Take(Of(description).aux_leading, buffer, size);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t leading) {
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(new MatrixLayout{type, rows, columns, leading});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete &Of(layout);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void* buffer,
                                                size_t size) {
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) return Take(Of(layout).batch, buffer, size);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET) return Take(Of(layout).stride, buffer, size);
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = reinterpret_cast<cublasLtMatmulPreference_t>(new Preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete &Of(preference);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* buffer,
                                                    size_t size) {
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return Take(Of(preference).workspace, buffer, size);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
      return Take(Of(preference).schemes, buffer, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      return Take(Of(preference).alignment[0], buffer, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      return Take(Of(preference).alignment[1], buffer, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      return Take(Of(preference).alignment[2], buffer, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return Take(Of(preference).alignment[3], buffer, size);
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int requested,
                                              cublasLtMatmulHeuristicResult_t* results, int* count) {
  *count = 0;
  if (!IsAlive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (requested < 1) return CUBLAS_STATUS_INVALID_VALUE;
  EmulatedMatmul matmul;
  const cublasStatus_t status = CheckSizes(Of(description), Of(a), Of(b), Of(c), Of(d), matmul);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  Algorithm algorithm{Algorithm::kChosen, std::min(Of(preference).workspace, kMostWorkspace), {}, false, false, 0};
  for (size_t i = 0; i < 4; ++i) {
    algorithm.alignment[i] = Of(preference).alignment[i];
    if (!std::has_single_bit(algorithm.alignment[i])) return CUBLAS_STATUS_INVALID_VALUE;
    if (IsFloat8(Of(a).type) && algorithm.alignment[i] < 16) return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  const bool in_place = Of(preference).schemes & CUBLASLT_REDUCTION_SCHEME_INPLACE;
  *count = std::min(requested, in_place ? 3 : 2);
  for (int i = 0; i < *count; ++i) {
    algorithm.adds_in_place = in_place && i == 0;
    algorithm.is_slow = requested > 1 && i == 0;
    algorithm.number = static_cast<uint8_t>(i);
    results[i] = {};
    std::memcpy(&results[i].algo, &algorithm, sizeof(algorithm));
    results[i].workspaceSize = algorithm.workspace;
    results[i].state = CUBLAS_STATUS_SUCCESS;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t* algo,
                                                    cublasLtMatmulAlgoConfigAttributes_t attribute, void* buffer,
                                                    size_t size, size_t* written) {
  if (attribute != CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME || size != sizeof(uint32_t))
    return CUBLAS_STATUS_INVALID_VALUE;
  Algorithm algorithm;
  std::memcpy(&algorithm, algo, sizeof(algorithm));
  const uint32_t scheme =
      algorithm.adds_in_place ? CUBLASLT_REDUCTION_SCHEME_INPLACE : CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  std::memcpy(buffer, &scheme, sizeof(scheme));
  *written = sizeof(scheme);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                                       cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                                       cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t* algo,
                                       cublasLtMatmulHeuristicResult_t* result) {
  if (!IsAlive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  EmulatedMatmul matmul;
  const cublasStatus_t status = CheckSizes(Of(description), Of(a), Of(b), Of(c), Of(d), matmul);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  Algorithm algorithm;
  std::memcpy(&algorithm, algo, sizeof(algorithm));
  if (algorithm.magic != Algorithm::kChosen) return CUBLAS_STATUS_INVALID_VALUE;
  *result = {};
  result->algo = *algo;
  result->workspaceSize = algorithm.workspace;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description, const void* alpha,
                              const void* a_data, cublasLtMatrixLayout_t a, const void* b_data,
                              cublasLtMatrixLayout_t b, const void* beta, const void* c_data, cublasLtMatrixLayout_t c,
                              void* d_data, cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t* algo, void* workspace,
                              size_t workspace_bytes, cudaStream_t stream) {
  if (!IsAlive(handle)) return CUBLAS_STATUS_NOT_INITIALIZED;
  auto call = std::make_unique<MatmulCall>();
  EmulatedMatmul* const matmul = &call->matmul;
  const cublasStatus_t status = CheckSizes(Of(description), Of(a), Of(b), Of(c), Of(d), *matmul);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  if (c_data != d_data || algo == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  const bool has_vector = HasBias(Of(description).epilogue) || HasReduction(Of(description).epilogue);
  if (has_vector && Of(description).bias == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (HasAux(Of(description).epilogue) && Of(description).aux == nullptr) return CUBLAS_STATUS_NOT_SUPPORTED;
  Algorithm algorithm;
  std::memcpy(&algorithm, algo, sizeof(algorithm));
  if (algorithm.magic != Algorithm::kChosen || workspace_bytes < algorithm.workspace)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (algorithm.workspace != 0 && (workspace == nullptr || reinterpret_cast<uintptr_t>(workspace) % 256 != 0))
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!IsAligned(a_data, Of(a), algorithm.alignment[0]) || !IsAligned(b_data, Of(b), algorithm.alignment[1]) ||
      !IsAligned(c_data, Of(c), algorithm.alignment[2]) || !IsAligned(d_data, Of(d), algorithm.alignment[3]))
    return CUBLAS_STATUS_INVALID_VALUE;
  matmul->description = Of(description);
  matmul->a = Of(a), matmul->b = Of(b), matmul->d = Of(d);
  matmul->a_data = a_data, matmul->b_data = b_data, matmul->d_data = d_data;
  matmul->alpha = Scale(alpha, Of(description).scale), matmul->beta = Scale(beta, Of(description).scale);
  matmul->workspace = workspace, matmul->workspace_bytes = algorithm.workspace;
  matmul->is_slow = algorithm.is_slow;
  const CUresult result = sgd::emulated::EnqueueCall(reinterpret_cast<CUstream>(stream), std::move(call));
  return result == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // extern "C"
