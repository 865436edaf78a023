// A double of libcublasLt.so for tests: products by three loops, in the order of the stream that they are given, sums
// in the compute type.
#include <cublasLt.h>
#include <cuda.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <type_traits>

extern "C" void* sgd_emulated_resolve(uint64_t address, uint64_t bytes);

namespace {

struct Layout {
  cudaDataType type;
  uint64_t rows, columns;
  int64_t leading;
  int32_t batch = 1;
  int64_t stride = 0;
};

struct Description {
  cublasOperation_t a = CUBLAS_OP_N, b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void* bias = nullptr;
};

struct Preference {
  uint64_t workspace = 0;
  uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_MASK;
};

struct Bf16 {
  uint16_t bits;
};

template <typename T>
auto Load(const T& value) {
  if constexpr (std::is_same_v<T, Bf16>) {
    return std::bit_cast<float>(uint32_t{value.bits} << 16);
  } else if constexpr (std::is_same_v<T, _Float16>) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}

// To the nearest, ties to even; NaN stays one.
template <typename T, typename Sum>
T Store(Sum value) {
  if constexpr (std::is_same_v<T, Bf16>) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    if ((bits & 0x7fffffff) > 0x7f800000) return Bf16{static_cast<uint16_t>(bits >> 16 | 0x40)};
    return Bf16{static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
  } else {
    return static_cast<T>(value);
  }
}

// Everything of one call, copied: the caller may change its descriptions.
struct Product {
  Description description;
  Layout a, b, d;
  uint64_t m, n, k;
  const void *a_data, *b_data;
  void* d_data;
  double alpha, beta;
};

uint64_t Bytes(const Layout& layout, size_t element) {
  if (layout.rows == 0 || layout.columns == 0) return 0;
  const uint64_t matrix = (layout.columns - 1) * static_cast<uint64_t>(layout.leading) + layout.rows;
  return (static_cast<uint64_t>(layout.batch - 1) * static_cast<uint64_t>(layout.stride) + matrix) * element;
}

template <typename T>
T* Resolve(const void* data, uint64_t bytes) {
  return static_cast<T*>(sgd_emulated_resolve(reinterpret_cast<uint64_t>(data), bytes));
}

template <typename T>
bool Run(const Product& p) {
  const T* a = Resolve<const T>(p.a_data, Bytes(p.a, sizeof(T)));
  const T* b = Resolve<const T>(p.b_data, Bytes(p.b, sizeof(T)));
  T* d = Resolve<T>(p.d_data, Bytes(p.d, sizeof(T)));
  const bool has_bias = p.description.epilogue != CUBLASLT_EPILOGUE_DEFAULT;
  const T* bias = has_bias ? Resolve<const T>(p.description.bias, p.m * sizeof(T)) : nullptr;
  if (a == nullptr || b == nullptr || d == nullptr || (has_bias && bias == nullptr)) return false;
  using Sum = decltype(Load(*a));
  const auto at = [](const Layout& layout, bool is_transposed, uint64_t row, uint64_t column) {
    return is_transposed ? row * static_cast<uint64_t>(layout.leading) + column
                         : column * static_cast<uint64_t>(layout.leading) + row;
  };
  for (int64_t batch = 0; batch < p.d.batch; ++batch) {
    for (uint64_t j = 0; j < p.n; ++j) {
      for (uint64_t i = 0; i < p.m; ++i) {
        Sum sum = 0;
        for (uint64_t k = 0; k < p.k; ++k) {
          sum += Load(a[batch * p.a.stride + static_cast<int64_t>(at(p.a, p.description.a == CUBLAS_OP_T, i, k))]) *
                 Load(b[batch * p.b.stride + static_cast<int64_t>(at(p.b, p.description.b == CUBLAS_OP_T, k, j))]);
        }
        T& result = d[batch * p.d.stride + static_cast<int64_t>(at(p.d, false, i, j))];
        sum *= static_cast<Sum>(p.alpha);
        if (p.beta != 0) sum += static_cast<Sum>(p.beta) * Load(result);
        if (has_bias) sum += Load(bias[i]);
        if (p.description.epilogue == CUBLASLT_EPILOGUE_RELU_BIAS) sum = std::max<Sum>(sum, 0);
        result = Store<T>(sum);
      }
    }
  }
  return true;
}

bool RunTyped(const Product& product) {
  switch (product.d.type) {
    case CUDA_R_64F:
      return Run<double>(product);
    case CUDA_R_32F:
      return Run<float>(product);
    case CUDA_R_16F:
      return Run<_Float16>(product);
    case CUDA_R_16BF:
      return Run<Bf16>(product);
    default:
      return false;
  }
}

// As the library demands them; the heuristic refuses what does not fit.
bool Fits(const Description& description, const Layout& a, const Layout& b, const Layout& d, Product& product) {
  product.m = d.rows, product.n = d.columns;
  product.k = description.a == CUBLAS_OP_T ? a.rows : a.columns;
  const bool a_fits = (description.a == CUBLAS_OP_T ? a.columns : a.rows) == product.m;
  const bool b_fits = (description.b == CUBLAS_OP_T ? b.columns : b.rows) == product.k &&
                      (description.b == CUBLAS_OP_T ? b.rows : b.columns) == product.n;
  for (const Layout* layout : {&a, &b, &d}) {
    if (layout->leading < static_cast<int64_t>(layout->rows) || layout->batch != d.batch || layout->type != d.type)
      return false;
  }
  return a_fits && b_fits;
}

template <typename Value>
cublasStatus_t Take(Value& target, const void* buffer, size_t size) {
  if (size != sizeof(Value)) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&target, buffer, size);
  return CUBLAS_STATUS_SUCCESS;
}

Layout& Of(cublasLtMatrixLayout_t layout) { return *reinterpret_cast<Layout*>(layout); }
Description& Of(cublasLtMatmulDesc_t description) { return *reinterpret_cast<Description*>(description); }
Preference& Of(cublasLtMatmulPreference_t preference) { return *reinterpret_cast<Preference*>(preference); }

double Scale(const void* value, cudaDataType type) {
  return type == CUDA_R_64F ? *static_cast<const double*>(value)
                            : static_cast<double>(*static_cast<const float*>(value));
}

void RunOnce(void* data) {
  // A graph runs it again, so it is never freed: the double's processes are short.
  if (!RunTyped(*static_cast<const Product*>(data))) std::abort();
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(new int);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete reinterpret_cast<int*>(handle);
  return CUBLAS_STATUS_SUCCESS;
}
size_t cublasLtGetVersion() { return 130000; }
const char* cublasLtGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED" : "of the double of cuBLASLt";
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description, cublasComputeType_t, cudaDataType_t) {
  *description = reinterpret_cast<cublasLtMatmulDesc_t>(new Description);
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
    default:
      return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type, uint64_t rows,
                                          uint64_t columns, int64_t leading) {
  *layout = reinterpret_cast<cublasLtMatrixLayout_t>(new Layout{type, rows, columns, leading});
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
  if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) return Take(Of(preference).workspace, buffer, size);
  if (attribute == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK) return Take(Of(preference).schemes, buffer, size);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t* results,
                                              int* count) {
  Product product;
  *count = Fits(Of(description), Of(a), Of(b), Of(d), product) ? 1 : 0;
  if (*count == 1) *results = {};
  return *count == 1 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t description, const void* alpha, const void* a_data,
                              cublasLtMatrixLayout_t a, const void* b_data, cublasLtMatrixLayout_t b, const void* beta,
                              const void* c_data, cublasLtMatrixLayout_t, void* d_data, cublasLtMatrixLayout_t d,
                              const cublasLtMatmulAlgo_t*, void*, size_t, cudaStream_t stream) {
  auto product = std::make_unique<Product>();
  if (!Fits(Of(description), Of(a), Of(b), Of(d), *product) || c_data != d_data) return CUBLAS_STATUS_NOT_SUPPORTED;
  product->description = Of(description);
  product->a = Of(a), product->b = Of(b), product->d = Of(d);
  product->a_data = a_data, product->b_data = b_data, product->d_data = d_data;
  product->alpha = Scale(alpha, Of(d).type), product->beta = Scale(beta, Of(d).type);
  const CUresult result = cuLaunchHostFunc(reinterpret_cast<CUstream>(stream), RunOnce, product.release());
  return result == CUDA_SUCCESS ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // extern "C"
