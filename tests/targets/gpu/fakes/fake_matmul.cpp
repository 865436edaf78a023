// Matmuls by three loops and what follows them, as cuBLASLt has them.
#include "tests/targets/gpu/fakes/fake_matmul.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>
#include <type_traits>

#include "tests/targets/gpu/fakes/element_values.h"

extern "C" void* sgd_emulated_resolve(uint64_t address, uint64_t bytes);

namespace sgd::emulated {
namespace {

// To 10 bits of mantissa, ties away from zero.
float ToTf32(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7f800000) == 0x7f800000) return value;
  return std::bit_cast<float>((bits + 0x1000) & ~uint32_t{0x1fff});
}

template <typename Sum>
Sum Gelu(Sum x) {
  return x / 2 * (1 + std::tanh(static_cast<Sum>(std::sqrt(2 / M_PI)) * (x + static_cast<Sum>(0.044715) * x * x * x)));
}

template <typename Sum>
Sum GeluDerivative(Sum x) {
  const Sum scale = static_cast<Sum>(std::sqrt(2 / M_PI)), cubic = static_cast<Sum>(0.044715);
  const Sum t = std::tanh(scale * (x + cubic * x * x * x));
  return (1 + t) / 2 + x / 2 * (1 - t * t) * scale * (1 + 3 * cubic * x * x);
}

template <typename T>
T* Resolve(const void* data, uint64_t elements) {
  return static_cast<T*>(sgd_emulated_resolve(reinterpret_cast<uint64_t>(data), elements * sizeof(T)));
}

template <typename A, typename B, typename R>
class Run {
 public:
  explicit Run(const EmulatedMatmul& matmul) : p_(matmul), description_(matmul.description) {}

  bool Execute() {
    a_ = Resolve<const A>(p_.a_data, p_.a.Elements());
    b_ = Resolve<const B>(p_.b_data, p_.b.Elements());
    d_ = Resolve<R>(p_.d_data, p_.d.Elements());
    if (a_ == nullptr || b_ == nullptr || d_ == nullptr) return false;
    if (HasBias(description_.epilogue)) {
      bias_ = Resolve<const R>(description_.bias, p_.m);
      if (bias_ == nullptr) return false;
    }
    if (HasAux(description_.epilogue)) {
      aux_ = Resolve<R>(description_.aux, (p_.n - 1) * static_cast<uint64_t>(description_.aux_leading) + p_.m);
      if (aux_ == nullptr) return false;
    }
    if (HasReduction(description_.epilogue) && !AddUp()) return false;
    for (int64_t batch = 0; batch < p_.d.batch; ++batch) {
      for (uint64_t j = 0; j < p_.n; ++j) {
        for (uint64_t i = 0; i < p_.m; ++i) Compute(batch, i, j);
      }
    }
    return true;
  }

 private:
  using Sum = decltype(Load(R{}));

  static int64_t At(const MatrixLayout& layout, int64_t batch, bool is_transposed, uint64_t row, uint64_t column) {
    if (is_transposed) std::swap(row, column);
    return batch * layout.stride + static_cast<int64_t>(column) * layout.leading + static_cast<int64_t>(row);
  }

  template <typename T>
  Sum Operand(const T& value) const {
    if constexpr (std::is_same_v<T, float>) {
      if (description_.compute == CUBLAS_COMPUTE_32F_FAST_TF32) return ToTf32(value);
    }
    return Load(value);
  }

  Sum LoadA(int64_t batch, uint64_t i, uint64_t k) const {
    return Operand(a_[At(p_.a, batch, description_.a == CUBLAS_OP_T, i, k)]);
  }
  Sum LoadB(int64_t batch, uint64_t k, uint64_t j) const {
    return Operand(b_[At(p_.b, batch, description_.b == CUBLAS_OP_T, k, j)]);
  }

  // Of the rows of A, or the columns of B.
  bool AddUp() const {
    const bool of_a = description_.epilogue == CUBLASLT_EPILOGUE_BGRADA;
    const uint64_t count = of_a ? p_.m : p_.n;
    R* sums = Resolve<R>(description_.bias, count);
    for (uint64_t i = 0; sums != nullptr && i < count; ++i) {
      Sum sum = 0;
      for (uint64_t k = 0; k < p_.k; ++k) sum += of_a ? LoadA(0, i, k) : LoadB(0, k, i);
      sums[i] = Store<R>(sum);
    }
    return sums != nullptr;
  }

  void Compute(int64_t batch, uint64_t i, uint64_t j) {
    Sum sum = 0;
    for (uint64_t k = 0; k < p_.k; ++k) sum += LoadA(batch, i, k) * LoadB(batch, k, j);
    R& result = d_[At(p_.d, batch, false, i, j)];
    sum *= static_cast<Sum>(p_.alpha);
    if (p_.beta != 0) sum += static_cast<Sum>(p_.beta) * Load(result);
    if (bias_ != nullptr) sum += Load(bias_[i]);
    result = Store<R>(Activated(sum, i, j));
  }

  Sum Activated(Sum sum, uint64_t i, uint64_t j) {
    R* aux = aux_ == nullptr ? nullptr : &aux_[j * static_cast<uint64_t>(description_.aux_leading) + i];
    switch (description_.epilogue) {
      case CUBLASLT_EPILOGUE_RELU_BIAS:
        return sum > 0 ? sum : 0;  // of NaN too
      case CUBLASLT_EPILOGUE_DGELU:
        return sum * GeluDerivative(Load(*aux));
      case CUBLASLT_EPILOGUE_GELU_AUX:
      case CUBLASLT_EPILOGUE_GELU_AUX_BIAS:
        *aux = Store<R>(sum);
        return Gelu(sum);
      case CUBLASLT_EPILOGUE_GELU:
      case CUBLASLT_EPILOGUE_GELU_BIAS:
        return Gelu(sum);
      default:
        return sum;
    }
  }

  const EmulatedMatmul& p_;
  const MatrixDescription& description_;
  const A* a_ = nullptr;
  const B* b_ = nullptr;
  R* d_ = nullptr;
  const R* bias_ = nullptr;
  R* aux_ = nullptr;
};

template <typename A, typename B>
bool RunFloat8(const EmulatedMatmul& p) {
  switch (p.d.type) {
    case CUDA_R_32F:
      return Run<A, B, float>(p).Execute();
    case CUDA_R_16F:
      return Run<A, B, _Float16>(p).Execute();
    default:
      return Run<A, B, Bf16>(p).Execute();
  }
}

bool OverwriteWorkspace(const EmulatedMatmul& matmul) {
  if (matmul.workspace_bytes == 0) return true;
  uint8_t* workspace = Resolve<uint8_t>(matmul.workspace, matmul.workspace_bytes);
  if (workspace == nullptr) return false;
  const uint64_t part = std::min<uint64_t>(matmul.workspace_bytes, 4096);
  std::memset(workspace, 0xff, part);
  std::memset(workspace + matmul.workspace_bytes - part, 0xff, part);
  return true;
}

}  // namespace

uint64_t MatrixLayout::Elements() const {
  if (rows == 0 || columns == 0) return 0;
  return static_cast<uint64_t>(batch - 1) * static_cast<uint64_t>(stride) +
         (columns - 1) * static_cast<uint64_t>(leading) + rows;
}

bool HasBias(cublasLtEpilogue_t epilogue) {
  return epilogue == CUBLASLT_EPILOGUE_BIAS || epilogue == CUBLASLT_EPILOGUE_RELU_BIAS ||
         epilogue == CUBLASLT_EPILOGUE_GELU_BIAS || epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
}

bool HasReduction(cublasLtEpilogue_t epilogue) {
  return epilogue == CUBLASLT_EPILOGUE_BGRADA || epilogue == CUBLASLT_EPILOGUE_BGRADB;
}

bool HasAux(cublasLtEpilogue_t epilogue) {
  return epilogue == CUBLASLT_EPILOGUE_GELU_AUX || epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS ||
         epilogue == CUBLASLT_EPILOGUE_DGELU;
}

bool Multiply(const EmulatedMatmul& p) {
  if (!OverwriteWorkspace(p)) return false;
  if (p.is_slow) std::this_thread::sleep_for(std::chrono::milliseconds(3));
  const bool widens = p.d.type != p.a.type;
  switch (p.a.type) {
    case CUDA_R_64F:
      return Run<double, double, double>(p).Execute();
    case CUDA_R_32F:
      return Run<float, float, float>(p).Execute();
    case CUDA_R_16F:
      return widens ? Run<_Float16, _Float16, float>(p).Execute() : Run<_Float16, _Float16, _Float16>(p).Execute();
    case CUDA_R_16BF:
      return widens ? Run<Bf16, Bf16, float>(p).Execute() : Run<Bf16, Bf16, Bf16>(p).Execute();
    case CUDA_R_8F_E4M3:
      return p.b.type == CUDA_R_8F_E4M3 ? RunFloat8<E4m3, E4m3>(p) : RunFloat8<E4m3, E5m2>(p);
    case CUDA_R_8F_E5M2:
      return RunFloat8<E5m2, E4m3>(p);
    default:
      return false;
  }
}

}  // namespace sgd::emulated
