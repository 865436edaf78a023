// Strided loops over elements of any type.
#include "tests/targets/gpu/emulator/plain_matmul.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/artifact/element_type.h"
#include "runtime/artifact/epilogue.h"
#include "runtime/artifact/reader.h"
#include "runtime/trace/scalar.h"

namespace sgd::emulator {
namespace {

using artifact::ElementType;
using library::EpilogueStep;

class PlainMatmul final : public device::Thunk {
 public:
  PlainMatmul(const artifact::Matmul& matmul, const device::MemoryMap& memory) : memory_(memory) {
    matmul.UnPackTo(&p_);
    epilogue_ = artifact::EpilogueOf(matmul.epilogue());
    lhs_ = matmul.element(), rhs_ = artifact::RhsElementOf(matmul), result_ = artifact::ResultElementOf(matmul);
  }

  absl::Status Execute() override {
    uint64_t batches = 1;
    for (const uint64_t size : p_.batch_dims) batches *= size;
    for (uint64_t batch = 0; batch < batches; ++batch) {
      for (uint64_t i = 0; i < p_.m; ++i) {
        for (uint64_t j = 0; j < p_.n; ++j) Compute(batch, static_cast<int64_t>(i), static_cast<int64_t>(j));
      }
    }
    if (!p_.reduction) return absl::OkStatus();
    const bool of_a = epilogue_.Has(EpilogueStep::kLhsReduction);
    for (uint64_t i = 0; i < (of_a ? p_.m : p_.n); ++i) {
      double sum = 0;
      for (int64_t k = 0; k < static_cast<int64_t>(p_.k); ++k)
        sum += of_a ? A(0, static_cast<int64_t>(i), k) : B(0, k, static_cast<int64_t>(i));
      StoreElement(result_, sum, At(*p_.reduction, static_cast<int64_t>(i), result_));
    }
    return absl::OkStatus();
  }

 private:
  std::byte* At(const artifact::Slice& slice, int64_t element, ElementType type) const {
    return memory_.Address(slice) + element * static_cast<int64_t>(artifact::ElementSize(type));
  }
  // Where a batch begins, in elements.
  int64_t Begin(const std::vector<int64_t>& strides, uint64_t batch) const {
    int64_t begin = 0;
    for (size_t dim = strides.size(); dim-- > 0; batch /= p_.batch_dims[dim])
      begin += strides[dim] * static_cast<int64_t>(batch % p_.batch_dims[dim]);
    return begin;
  }
  double A(uint64_t batch, int64_t i, int64_t k) const {
    return LoadElement(lhs_, At(*p_.a, Begin(p_.a_batch, batch) + i * p_.a_m + k * p_.a_k, lhs_));
  }
  double B(uint64_t batch, int64_t k, int64_t j) const {
    return LoadElement(rhs_, At(*p_.b, Begin(p_.b_batch, batch) + k * p_.b_k + j * p_.b_n, rhs_));
  }

  void Compute(uint64_t batch, int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t k = 0; k < static_cast<int64_t>(p_.k); ++k) sum += A(batch, i, k) * B(batch, k, j);
    std::byte* target = At(*p_.c, Begin(p_.c_batch, batch) + i * p_.c_m + j * p_.c_n, result_);
    if (epilogue_.Has(EpilogueStep::kResidual)) sum += LoadElement(result_, target);
    if (p_.bias) sum += LoadElement(result_, At(*p_.bias, j, result_));
    StoreElement(result_, epilogue_.Has(EpilogueStep::kRelu) ? std::fmax(sum, 0.0) : sum, target);
  }

  device::MemoryMap memory_;
  artifact::MatmulT p_;
  library::Epilogue epilogue_;
  ElementType lhs_, rhs_, result_;
};

}  // namespace

double LoadElement(artifact::ElementType element, const std::byte* at) {
  return trace::ReadScalar(element, {at, artifact::ElementSize(element)}).number;
}

void StoreElement(artifact::ElementType element, double value, std::byte* at) {
  const float single = static_cast<float>(value);
  const uint32_t bits = std::bit_cast<uint32_t>(single);
  const uint16_t narrow = element == artifact::ElementType::F16
                              ? std::bit_cast<uint16_t>(static_cast<_Float16>(single))
                              : static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  std::memcpy(at, element == artifact::ElementType::F32 ? static_cast<const void*>(&bits) : &narrow,
              artifact::ElementSize(element));
}

bool IsPlainMatmul(const artifact::Matmul& matmul) {
  return matmul.reduction() != nullptr || artifact::IsFloat8(matmul.element());
}

std::unique_ptr<device::Thunk> MakePlainMatmul(const artifact::Matmul& matmul, const device::MemoryMap& memory) {
  return std::make_unique<PlainMatmul>(matmul, memory);
}

}  // namespace sgd::emulator
