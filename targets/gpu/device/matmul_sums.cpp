// Instructions made up from the given one.
#include "targets/gpu/device/matmul_sums.h"

#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "runtime/artifact/element_type.h"
#include "targets/gpu/device/thunks.h"

namespace sgd::cuda {
namespace {

using artifact::ElementType;
using artifact::Epilogue;
using artifact::MatmulT;
using artifact::Slice;

// The number one, little-endian.
std::vector<uint8_t> One(ElementType element) {
  const auto bytes = [](auto number) {
    const auto array = std::bit_cast<std::array<uint8_t, sizeof(number)>>(number);
    return std::vector<uint8_t>(array.begin(), array.end());
  };
  switch (element) {
    case ElementType::F16:
      return bytes(uint16_t{0x3c00});
    case ElementType::BF16:
      return bytes(uint16_t{0x3f80});
    case ElementType::F64:
      return bytes(double{1});
    default:
      return bytes(float{1});
  }
}

// sums[m] = A[m, k] * ones[k], or sums[n] = ones[k] * B[k, n].
MatmulT TimesOnes(const MatmulT& whole, const Slice& ones, const Slice& workspace) {
  MatmulT product;
  product.element = whole.element;
  product.keeps_sums = whole.keeps_sums;
  product.k = whole.k;
  product.c = std::make_unique<Slice>(*whole.sums);
  product.workspace = std::make_unique<Slice>(workspace);
  const int64_t k = static_cast<int64_t>(whole.k);
  if (whole.epilogue == Epilogue::SumsOfA) {
    product.m = whole.m, product.n = 1;
    product.a = std::make_unique<Slice>(*whole.a), product.a_m = whole.a_m, product.a_k = whole.a_k;
    product.b = std::make_unique<Slice>(ones), product.b_k = 1, product.b_n = k;
    product.c_m = 1, product.c_n = 1;
  } else {
    product.m = 1, product.n = whole.n;
    product.a = std::make_unique<Slice>(ones), product.a_m = k, product.a_k = 1;
    product.b = std::make_unique<Slice>(*whole.b), product.b_k = whole.b_k, product.b_n = whole.b_n;
    product.c_m = static_cast<int64_t>(whole.n), product.c_n = 1;
  }
  return product;
}

absl::StatusOr<std::unique_ptr<device::Thunk>> Make(const MatmulT& product, const MakeProduct& make_product) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(artifact::Matmul::Pack(builder, &product));
  return make_product(*flatbuffers::GetRoot<artifact::Matmul>(builder.GetBufferPointer()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<device::Thunk>> MakeProductThenSums(CudaStreams& streams, const artifact::Matmul& matmul,
                                                                  const device::MemoryMap& memory,
                                                                  const MakeProduct& make_product) {
  MatmulT whole;
  matmul.UnPackTo(&whole);
  const std::vector<uint8_t> one = One(whole.element);
  constexpr uint64_t kAlignment = 256;
  const uint64_t bytes = whole.k * one.size(), reserved = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (!whole.workspace || whole.workspace->size() < reserved)
    return absl::ResourceExhaustedError("no room in the workspace for a vector of ones");
  const Slice ones(whole.workspace->space(), whole.workspace->offset(), bytes);
  const Slice rest(whole.workspace->space(), whole.workspace->offset() + reserved, whole.workspace->size() - reserved);
  absl::StatusOr<std::unique_ptr<device::Thunk>> sums = Make(TimesOnes(whole, ones, rest), make_product);
  if (!sums.ok()) return sums.status();
  whole.epilogue = Epilogue::None;
  whole.sums.reset();
  absl::StatusOr<std::unique_ptr<device::Thunk>> product = Make(whole, make_product);
  if (!product.ok()) return product.status();
  std::vector<std::unique_ptr<device::Thunk>> thunks;
  thunks.push_back(*std::move(product));
  thunks.push_back(MakeFill(streams, memory.Address(ones), bytes, one));
  thunks.push_back(*std::move(sums));
  return MakeSequence(std::move(thunks));
}

}  // namespace sgd::cuda
