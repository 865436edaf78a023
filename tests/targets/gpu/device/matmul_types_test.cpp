// Products whose result has another type than their operands, gelu and its derivative, TF32 and workspaces, through
// the library's interface.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>

#include "emulated_device.h"
#include "runtime/artifact/element_type.h"
#include "targets/gpu/device/matmul/matmul.h"

namespace sgd::cuda {
namespace {

using artifact::ElementType;
using artifact::EpilogueStep;
using artifact::Slice;
using artifact::Space;
using ::sgd::testing::EmulatedDevice;
using ::testing::HasSubstr;

std::vector<std::byte> Encode(const std::vector<double>& values, ElementType element) {
  const uint64_t size = artifact::ElementSize(element);
  std::vector<std::byte> bytes(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) {
    const float single = static_cast<float>(values[i]);
    const _Float16 half = static_cast<_Float16>(single);
    const uint16_t brain = static_cast<uint16_t>(std::bit_cast<uint32_t>(single) >> 16);
    const void* source = element == ElementType::F32   ? static_cast<const void*>(&single)
                         : element == ElementType::F16 ? static_cast<const void*>(&half)
                                                       : &brain;
    std::memcpy(&bytes[i * size], source, size);
  }
  return bytes;
}

std::vector<double> Decode(const std::vector<std::byte>& bytes, ElementType element) {
  const uint64_t size = artifact::ElementSize(element);
  std::vector<double> values(bytes.size() / size);
  for (size_t i = 0; i < values.size(); ++i) {
    float single = 0;
    _Float16 half = 0;
    uint16_t brain = 0;
    std::memcpy(element == ElementType::F32   ? static_cast<void*>(&single)
                : element == ElementType::F16 ? static_cast<void*>(&half)
                                              : &brain,
                &bytes[i * size], size);
    values[i] = element == ElementType::F32   ? single
                : element == ElementType::F16 ? static_cast<float>(half)
                                              : std::bit_cast<float>(uint32_t{brain} << 16);
  }
  return values;
}

double Gelu(double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }
double GeluDerivative(double x) { return (Gelu(x + 1e-4) - Gelu(x - 1e-4)) / 2e-4; }

// Row-major matrices one after the other: a [m, k], b [k, n], c and aux [m, n], a bias of n; then a workspace.
class ProductTest : public EmulatedDevice {
 protected:
  static constexpr uint64_t kA = 0, kB = 4096, kC = 8192, kBias = 12288, kAux = 16384, kWorkspace = 20480 + 64,
                            kWorkspaceBytes = 8192, kEnd = 32768;
  static constexpr uint64_t kM = 5, kN = 16, kK = 7;

  static Slice At(uint64_t offset, uint64_t count, ElementType element) {
    return Slice(Space::Private, offset, count * artifact::ElementSize(element));
  }

  static artifact::MatmulT Product(ElementType element, bool writes_accumulators) {
    artifact::MatmulT p;
    p.element = element;
    const ElementType result = writes_accumulators ? artifact::AccumulatorElement(element) : element;
    if (result != element) p.c_element = result;
    p.m = kM, p.n = kN, p.k = kK;
    p.a_m = kK, p.a_k = 1, p.b_k = kN, p.b_n = 1, p.c_m = kN, p.c_n = 1;
    p.a = std::make_unique<Slice>(At(kA, kM * kK, element));
    p.b = std::make_unique<Slice>(At(kB, kK * kN, element));
    p.c = std::make_unique<Slice>(At(kC, kM * kN, result));
    p.workspace = std::make_unique<Slice>(Space::Private, kWorkspace, kWorkspaceBytes);
    return p;
  }

  void Put(uint64_t offset, const std::vector<double>& values, ElementType element) {
    EmulatedDevice::Put(arena_->data() + offset, Encode(values, element));
  }
  std::vector<double> Get(uint64_t offset, uint64_t count, ElementType element) {
    return Decode(EmulatedDevice::Get<std::byte>(arena_->data() + offset, count * artifact::ElementSize(element)),
                  element);
  }

  static std::vector<double> Values(uint64_t count, double scale) {
    std::vector<double> values;
    for (uint64_t i = 0; i < count; ++i) values.push_back((static_cast<double>(i * 7 % 11) - 5) * scale);
    return values;
  }

  absl::Status Execute(const artifact::MatmulT& product) {
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(artifact::Matmul::Pack(builder, &product));
    device::MemoryMap memory;
    memory.private_base = arena_->data();
    auto thunk = device_->PrepareMatmul(*flatbuffers::GetRoot<artifact::Matmul>(builder.GetBufferPointer()), memory);
    if (!thunk.ok()) return thunk.status();
    absl::Status status = (*thunk)->Execute();
    return status.ok() ? device_->Synchronize() : status;
  }

  void SetUp() override { Restart(); }

  // On another device, which has chosen nothing.
  void Restart() {
    arena_.reset();
    device_.reset();
    EmulatedDevice::SetUp();
    arena_ = *device_->Allocate(kEnd);
  }

  std::unique_ptr<device::Arena> arena_;
};

// Sums of the matrices that Values gives, exact.
std::vector<double> SumsOf(const std::vector<double>& a, const std::vector<double>& b, uint64_t m, uint64_t n,
                           uint64_t k) {
  std::vector<double> sums(m * n);
  for (uint64_t i = 0; i < m; ++i) {
    for (uint64_t j = 0; j < n; ++j) {
      for (uint64_t l = 0; l < k; ++l) sums[i * n + j] += a[i * k + l] * b[l * n + j];
    }
  }
  return sums;
}

TEST_F(ProductTest, WritesAccumulatorsInSingle) {
  const std::vector<double> a = Values(kM * kK, 33), b = Values(kK * kN, 17), bias = Values(kN, 1001);
  const std::vector<double> sums = SumsOf(a, b, kM, kN, kK);
  for (ElementType element : {ElementType::F16, ElementType::BF16}) {
    SCOPED_TRACE(artifact::ElementName(element));
    artifact::MatmulT product = Product(element, true);
    product.epilogue = {EpilogueStep::Bias};
    product.bias = std::make_unique<Slice>(At(kBias, kN, ElementType::F32));
    Put(kA, a, element), Put(kB, b, element), Put(kBias, bias, ElementType::F32);
    ASSERT_TRUE(Execute(product).ok());
    const std::vector<double> result = Get(kC, kM * kN, ElementType::F32);
    for (uint64_t i = 0; i < result.size(); ++i) ASSERT_EQ(result[i], sums[i] + bias[i % kN]) << i;
  }
}

TEST_F(ProductTest, GeluWithAndWithoutWhatWasBefore) {
  const std::vector<double> a = Values(kM * kK, 0.25), b = Values(kK * kN, 0.125), bias = Values(kN, 0.25);
  const std::vector<double> sums = SumsOf(a, b, kM, kN, kK);
  for (const auto& [element, tolerance] : {std::pair(ElementType::F16, 1e-3), std::pair(ElementType::BF16, 8e-3)}) {
    for (int form = 0; form < 4; ++form) {
      SCOPED_TRACE(absl::StrCat(artifact::ElementName(element), " form ", form));
      const bool has_bias = form & 1, has_aux = form & 2;
      artifact::MatmulT product = Product(element, false);
      product.epilogue = {EpilogueStep::Gelu};
      if (has_bias) {
        product.epilogue = {EpilogueStep::Bias, EpilogueStep::Gelu};
        product.bias = std::make_unique<Slice>(At(kBias, kN, element));
      }
      if (has_aux) product.aux = std::make_unique<Slice>(At(kAux, kM * kN, element));
      Put(kA, a, element), Put(kB, b, element), Put(kBias, bias, element);
      Put(kAux, std::vector<double>(kM * kN, 99), element);
      absl::Status status = Execute(product);
      ASSERT_TRUE(status.ok()) << status;
      const std::vector<double> result = Get(kC, kM * kN, element), aux = Get(kAux, kM * kN, element);
      for (uint64_t i = 0; i < result.size(); ++i) {
        const double x = sums[i] + (has_bias ? bias[i % kN] : 0);
        ASSERT_NEAR(result[i], Gelu(x), tolerance * (1 + std::abs(Gelu(x)))) << i;
        ASSERT_NEAR(aux[i], has_aux ? x : 99, tolerance * std::abs(x)) << i;
      }
    }
  }
}

TEST_F(ProductTest, GeluGradient) {
  const std::vector<double> a = Values(kM * kK, 0.25), b = Values(kK * kN, 0.125), x = Values(kM * kN, 0.5);
  const std::vector<double> sums = SumsOf(a, b, kM, kN, kK);
  for (const auto& [element, tolerance] : {std::pair(ElementType::F16, 1e-3), std::pair(ElementType::BF16, 8e-3)}) {
    artifact::MatmulT product = Product(element, false);
    product.epilogue = {EpilogueStep::GeluGradient};
    product.aux = std::make_unique<Slice>(At(kAux, kM * kN, element));
    Put(kA, a, element), Put(kB, b, element), Put(kAux, x, element);
    ASSERT_TRUE(Execute(product).ok());
    const std::vector<double> result = Get(kC, kM * kN, element);
    for (uint64_t i = 0; i < result.size(); ++i) {
      const double expected = sums[i] * GeluDerivative(x[i]);
      ASSERT_NEAR(result[i], expected, tolerance * (0.1 + std::abs(expected))) << i;
    }
  }
}

TEST_F(ProductTest, RefusesGeluThatTheLibraryHasNot) {
  artifact::MatmulT single = Product(ElementType::F32, false);
  single.epilogue = {EpilogueStep::Gelu};
  EXPECT_THAT(std::string(Execute(single).message()), HasSubstr("gelu of f32; expected f16 or bf16"));
  artifact::MatmulT narrow = Product(ElementType::BF16, false);
  narrow.epilogue = {EpilogueStep::Gelu}, narrow.n = 12;
  EXPECT_THAT(std::string(Execute(narrow).message()), HasSubstr("no multiple of 8 elements"));
  artifact::MatmulT batch = Product(ElementType::BF16, false);
  batch.epilogue = {EpilogueStep::Gelu};
  batch.batch_dims = {2}, batch.a_batch = {35}, batch.b_batch = {0}, batch.c_batch = {80};
  EXPECT_THAT(std::string(Execute(batch).message()), HasSubstr("gelu in batches"));
  artifact::MatmulT added = Product(ElementType::BF16, false);
  added.epilogue = {EpilogueStep::Residual, EpilogueStep::Gelu};
  EXPECT_THAT(std::string(Execute(added).message()), HasSubstr("an epilogue of residual, gelu"));
}

// 1 + 2^-12 is 1 in TF32.
TEST_F(ProductTest, RoundsToTf32WhereAllowed) {
  const double value = 1 + 0x1p-12;
  for (bool allows : {false, true}) {
    artifact::MatmulT product = Product(ElementType::F32, false);
    product.allows_tf32 = allows;
    Put(kA, std::vector<double>(kM * kK, value), ElementType::F32);
    Put(kB, std::vector<double>(kK * kN, 1), ElementType::F32);
    ASSERT_TRUE(Execute(product).ok());
    EXPECT_EQ(Get(kC, kM * kN, ElementType::F32), std::vector<double>(kM * kN, allows ? kK : kK * value));
  }
}

// Its first bytes are not aligned as the library asks; nothing outside of it is written.
TEST_F(ProductTest, StaysInItsWorkspace) {
  const std::vector<uint8_t> before(kEnd - kAux, 7);
  EmulatedDevice::Put(arena_->data() + kAux, before);
  ASSERT_TRUE(Execute(Product(ElementType::F32, false)).ok());
  const std::vector<uint8_t> after = EmulatedDevice::Get<uint8_t>(arena_->data() + kAux, before.size());
  uint64_t written = 0;
  for (uint64_t i = 0; i < after.size(); ++i) {
    const uint64_t place = kAux + i;
    if (place < kWorkspace || place >= kWorkspace + kWorkspaceBytes) ASSERT_EQ(after[i], 7) << place;
    written += after[i] != 7;
  }
  EXPECT_GT(written, 4096u);
}

// Another rank takes what the first one has chosen, and chooses nothing itself.
TEST_F(ProductTest, TakesTheFirstRanksAlgorithm) {
  ASSERT_TRUE(Execute(Product(ElementType::F32, false)).ok());
  device::AlgorithmChoices& choices = *device_->algorithm_choices();
  EXPECT_EQ(choices.chosen(), 1u);
  ASSERT_TRUE(Execute(Product(ElementType::F32, false)).ok());
  EXPECT_EQ(choices.chosen(), 1u);
  const std::string saved = choices.Save();
  Restart();
  device_->algorithm_choices()->set_decides(false);
  const absl::Status none = Execute(Product(ElementType::F32, false));
  EXPECT_EQ(none.code(), absl::StatusCode::kFailedPrecondition) << none;
  ASSERT_TRUE(device_->algorithm_choices()->Restore(saved).ok());
  const absl::Status taken = Execute(Product(ElementType::F32, false));
  EXPECT_TRUE(taken.ok()) << taken;
  EXPECT_EQ(device_->algorithm_choices()->chosen(), 0u);
}

// The first of the library's candidates is slower than another one of them.
TEST_F(ProductTest, TimesCandidates) {
  ASSERT_TRUE(Execute(Product(ElementType::F32, false)).ok());
  const std::string estimated = device_->algorithm_choices()->Save();
  Restart();
  device_->algorithm_choices()->set_times_candidates(true);
  const std::vector<double> a = Values(kM * kK, 1), b = Values(kK * kN, 1), before = Values(kM * kN, 3);
  Put(kA, a, ElementType::F32), Put(kB, b, ElementType::F32);
  const absl::Status status = Execute(Product(ElementType::F32, false));
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(Get(kC, kM * kN, ElementType::F32), SumsOf(a, b, kM, kN, kK));
  const std::string timed = device_->algorithm_choices()->Save();
  EXPECT_NE(timed, estimated);
  Restart();
  device_->algorithm_choices()->set_decides(false);
  ASSERT_TRUE(device_->algorithm_choices()->Restore(timed).ok());
  EXPECT_TRUE(Execute(Product(ElementType::F32, false)).ok());
}

// A bias's gradient beside that of the weights, in every layout that the plan may have: in one call where the library
// has a kernel for both, else in two.
TEST_F(ProductTest, ReductionOfAnOperand) {
  for (ElementType element : {ElementType::F32, ElementType::F16, ElementType::BF16}) {
    const std::vector<double> a = Values(kM * kK, 1), b = Values(kK * kN, 1);
    for (int form = 0; form < 8; ++form) {
      SCOPED_TRACE(absl::StrCat(artifact::ElementName(element), " form ", form));
      const bool of_a = form & 1, is_column_major = form & 2, is_weights = form & 4;
      Restart();
      artifact::MatmulT product = Product(element, false);
      product.epilogue = {of_a ? EpilogueStep::LhsReduction : EpilogueStep::RhsReduction};
      product.reduction = std::make_unique<Slice>(At(kBias, of_a ? kM : kN, element));
      if (is_column_major) product.c_m = 1, product.c_n = kM;
      std::vector<double> stored = a;
      if (is_weights) {
        product.a_m = 1, product.a_k = kM;
        for (uint64_t i = 0; i < stored.size(); ++i) stored[i % kK * kM + i / kK] = a[i];
      }
      Put(kA, stored, element), Put(kB, b, element);
      const absl::Status status = Execute(product);
      ASSERT_TRUE(status.ok()) << status;
      EXPECT_EQ(device_->algorithm_choices()->chosen(), is_weights ? 1u : 2u);
      const std::vector<double> sums = Get(kBias, of_a ? kM : kN, element), c = Get(kC, kM * kN, element);
      for (uint64_t i = 0; i < sums.size(); ++i) {
        double expected = 0;
        for (uint64_t k = 0; k < kK; ++k) expected += of_a ? a[i * kK + k] : b[k * kN + i];
        EXPECT_EQ(sums[i], expected) << i;
      }
      const std::vector<double> products = SumsOf(a, b, kM, kN, kK);
      for (uint64_t i = 0; i < kM; ++i)
        for (uint64_t j = 0; j < kN; ++j)
          EXPECT_EQ(c[is_column_major ? j * kM + i : i * kN + j], products[i * kN + j]) << i << " " << j;
    }
  }
  artifact::MatmulT batch = Product(ElementType::F32, false);
  batch.epilogue = {EpilogueStep::LhsReduction},
  batch.reduction = std::make_unique<Slice>(At(kBias, kM, ElementType::F32));
  batch.batch_dims = {2}, batch.a_batch = {35}, batch.b_batch = {0}, batch.c_batch = {80};
  EXPECT_THAT(std::string(Execute(batch).message()), HasSubstr("an operand's reduction in batches"));
}

// Operands of 8 bits: [m, k] and [n, k], as the library has kernels for.
class Float8Test : public ProductTest {
 protected:
  static constexpr uint64_t kSide = 16, kDepth = 32;

  static artifact::MatmulT Float8Product(ElementType lhs, ElementType rhs, ElementType result) {
    artifact::MatmulT p;
    p.element = lhs;
    if (rhs != lhs) p.b_element = rhs;
    p.c_element = result;
    p.m = p.n = kSide, p.k = kDepth;
    p.a_m = kDepth, p.a_k = 1, p.b_k = 1, p.b_n = kDepth, p.c_m = kSide, p.c_n = 1;
    p.a = std::make_unique<Slice>(At(kA, kSide * kDepth, lhs));
    p.b = std::make_unique<Slice>(At(kB, kSide * kDepth, rhs));
    p.c = std::make_unique<Slice>(At(kC, kSide * kSide, result));
    p.workspace = std::make_unique<Slice>(Space::Private, kWorkspace, kWorkspaceBytes);
    return p;
  }

  // Codes of small numbers, and those numbers.
  void PutCodes(uint64_t offset, ElementType element, uint64_t seed, std::vector<double>& values) {
    std::vector<uint8_t> codes;
    for (uint64_t i = 0; i < kSide * kDepth; ++i) {
      // 1, 1.5, 2 and 3, of both signs.
      const bool is_e4m3 = element == ElementType::F8E4M3FN;
      const uint64_t pick = (i * 7 + seed + i / kDepth) % 8;
      constexpr double kNumbers[] = {1, 1.5, 2, 3};
      const int code = is_e4m3 ? 0x38 + 4 * static_cast<int>(pick % 4) : 0x3c + 2 * static_cast<int>(pick % 4);
      codes.push_back(static_cast<uint8_t>(code | (pick >= 4 ? 0x80 : 0)));
      values.push_back(pick >= 4 ? -kNumbers[pick % 4] : kNumbers[pick % 4]);
    }
    EmulatedDevice::Put(arena_->data() + offset, codes);
  }
};

TEST_F(Float8Test, BothKindsIntoEveryResult) {
  for (ElementType lhs : {ElementType::F8E4M3FN, ElementType::F8E5M2}) {
    for (ElementType rhs : {ElementType::F8E4M3FN, ElementType::F8E5M2}) {
      for (ElementType result : {ElementType::F32, ElementType::F16, ElementType::BF16}) {
        SCOPED_TRACE(absl::StrCat(artifact::ElementName(lhs), " ", artifact::ElementName(rhs), " ",
                                  artifact::ElementName(result)));
        std::vector<double> a, b;
        PutCodes(kA, lhs, 1, a), PutCodes(kB, rhs, 2, b);
        const absl::Status status = Execute(Float8Product(lhs, rhs, result));
        if (lhs == ElementType::F8E5M2 && rhs == lhs) {
          EXPECT_THAT(std::string(status.message()), HasSubstr("both operands of f8e5m2"));
          continue;
        }
        ASSERT_TRUE(status.ok()) << status;
        const std::vector<double> c = Get(kC, kSide * kSide, result);
        for (uint64_t i = 0; i < kSide; ++i) {
          for (uint64_t j = 0; j < kSide; ++j) {
            double sum = 0;
            for (uint64_t k = 0; k < kDepth; ++k) sum += a[i * kDepth + k] * b[j * kDepth + k];
            ASSERT_EQ(c[i * kSide + j], sum) << i << " " << j;
          }
        }
      }
    }
  }
}

TEST_F(Float8Test, RefusesFormsWithoutKernels) {
  const ElementType e4m3 = ElementType::F8E4M3FN;
  artifact::MatmulT flat = Float8Product(e4m3, e4m3, ElementType::F32);
  flat.b_k = kSide, flat.b_n = 1;
  EXPECT_THAT(std::string(Execute(flat).message()),
              HasSubstr("contracted dimension is strided; expected stride 1 in both operands"));
  artifact::MatmulT odd = Float8Product(e4m3, e4m3, ElementType::F32);
  odd.n = 8;
  EXPECT_THAT(std::string(Execute(odd).message()), HasSubstr("size or stride 8; expected multiples of 16"));
  artifact::MatmulT biased = Float8Product(e4m3, e4m3, ElementType::F32);
  biased.epilogue = {EpilogueStep::Bias}, biased.bias = std::make_unique<Slice>(At(kBias, kSide, ElementType::F32));
  EXPECT_THAT(std::string(Execute(biased).message()), HasSubstr("a bias of f32 with operands of f8"));
}

// The library checks an algorithm of a file or of another rank before it runs.
TEST_F(ProductTest, RefusesBytesThatAreNoAlgorithm) {
  ASSERT_TRUE(Execute(Product(ElementType::F32, false)).ok());
  std::string saved = device_->algorithm_choices()->Save();
  for (size_t i = saved.size() - sizeof(cublasLtMatmulAlgo_t); i < saved.size(); ++i) saved[i] = 'x';
  Restart();
  device_->algorithm_choices()->set_decides(false);
  ASSERT_TRUE(device_->algorithm_choices()->Restore(saved).ok());
  EXPECT_THAT(std::string(Execute(Product(ElementType::F32, false)).message()),
              HasSubstr("cuBLASLt refuses an algorithm"));
}

}  // namespace
}  // namespace sgd::cuda
