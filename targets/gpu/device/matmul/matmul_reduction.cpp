// Instructions made up from the given one.
#include "targets/gpu/device/matmul/matmul_reduction.h"

#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "runtime/artifact/element_type.h"
#include "targets/gpu/device/memory/thunks.h"

namespace sgd::cuda {
namespace {

using artifact::ElementType;
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

// The reduction of A over k as A[m, k] * ones[k], or that of B as ones[k] * B[k, n].
MatmulT TimesOnes(const MatmulT& whole, const Slice& ones, const Slice& workspace) {
  MatmulT matmul;
  matmul.element = whole.element;
  matmul.c_element = whole.c_element;
  matmul.k = whole.k;
  matmul.c = std::make_unique<Slice>(*whole.reduction);
  matmul.workspace = std::make_unique<Slice>(workspace);
  const int64_t k = static_cast<int64_t>(whole.k);
  if (whole.epilogue.front() == artifact::EpilogueStep::LhsReduction) {
    matmul.m = whole.m, matmul.n = 1;
    matmul.a = std::make_unique<Slice>(*whole.a), matmul.a_m = whole.a_m, matmul.a_k = whole.a_k;
    matmul.b = std::make_unique<Slice>(ones), matmul.b_k = 1, matmul.b_n = k;
    matmul.c_m = 1, matmul.c_n = 1;
  } else {
    matmul.m = 1, matmul.n = whole.n;
    matmul.a = std::make_unique<Slice>(ones), matmul.a_m = k, matmul.a_k = 1;
    matmul.b = std::make_unique<Slice>(*whole.b), matmul.b_k = whole.b_k, matmul.b_n = whole.b_n;
    matmul.c_m = static_cast<int64_t>(whole.n), matmul.c_n = 1;
  }
  return matmul;
}

device::PreparedThunk Make(const MatmulT& matmul, const MatmulMaker& make_matmul) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(artifact::Matmul::Pack(builder, &matmul));
  return make_matmul(*flatbuffers::GetRoot<artifact::Matmul>(builder.GetBufferPointer()));
}

}  // namespace

device::PreparedThunk MakeMatmulThenReduction(CudaStreams& streams, const artifact::Matmul& matmul,
                                              const device::MemoryMap& memory, const MatmulMaker& make_matmul) {
  MatmulT whole;
  matmul.UnPackTo(&whole);
  const std::vector<uint8_t> one = One(whole.element);
  constexpr uint64_t kAlignment = 256;
  const uint64_t bytes = whole.k * one.size(), reserved = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (!whole.workspace || whole.workspace->size() < reserved)
    return absl::ResourceExhaustedError("no room in the workspace for a vector of ones");
  const Slice ones(whole.workspace->space(), whole.workspace->offset(), bytes);
  const Slice rest(whole.workspace->space(), whole.workspace->offset() + reserved, whole.workspace->size() - reserved);
  device::PreparedThunk reduction = Make(TimesOnes(whole, ones, rest), make_matmul);
  if (!reduction.ok()) return reduction.status();
  whole.epilogue.clear();
  whole.reduction.reset();
  device::PreparedThunk plain = Make(whole, make_matmul);
  if (!plain.ok()) return plain.status();
  std::vector<std::unique_ptr<device::Thunk>> thunks;
  thunks.push_back(*std::move(plain));
  thunks.push_back(MakeFill(streams, memory.Address(ones), bytes, one));
  thunks.push_back(*std::move(reduction));
  return MakeSequence(std::move(thunks));
}

}  // namespace sgd::cuda
