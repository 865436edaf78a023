// The activation as a loop over C behind the CPU's matmul.
#include "tests/targets/gpu/emulator/gelu_matmul.h"

#include <cmath>
#include <cstring>

#include "runtime/artifact/epilogue.h"
#include "tests/targets/gpu/emulator/plain_matmul.h"

namespace sgd::emulator {
namespace {

using artifact::ElementType;

constexpr double kScale = 0.7978845608028654, kCubic = 0.044715;  // sqrt(2 / pi)

double TanhOf(double x) { return std::tanh(kScale * (x + kCubic * x * x * x)); }

class GeluThunk final : public device::Thunk {
 public:
  GeluThunk(std::unique_ptr<device::Thunk> plain, const artifact::Matmul& matmul, const device::MemoryMap& memory)
      : plain_(std::move(plain)),
        element_(matmul.element()),
        is_gradient_(artifact::EpilogueOf(matmul.epilogue()).Has(library::EpilogueStep::kGeluGradient)),
        bytes_(matmul.m() * matmul.n() * sizeof(uint16_t)),
        c_(memory.Address(*matmul.c())),
        aux_(matmul.aux() == nullptr ? nullptr : memory.Address(*matmul.aux())) {}

  absl::Status Execute() override {
    if (absl::Status status = plain_->Execute(); !status.ok()) return status;
    for (uint64_t at = 0; at < bytes_; at += sizeof(uint16_t)) {
      const double sum = LoadElement(element_, c_ + at);
      if (!is_gradient_ && aux_ != nullptr) std::memcpy(aux_ + at, c_ + at, sizeof(uint16_t));
      const double result =
          is_gradient_ ? sum * Derivative(LoadElement(element_, aux_ + at)) : sum / 2 * (1 + TanhOf(sum));
      StoreElement(element_, result, c_ + at);
    }
    return absl::OkStatus();
  }

 private:
  static double Derivative(double x) {
    const double t = TanhOf(x);
    return (1 + t) / 2 + x / 2 * (1 - t * t) * kScale * (1 + 3 * kCubic * x * x);
  }

  std::unique_ptr<device::Thunk> plain_;
  ElementType element_;
  bool is_gradient_;
  uint64_t bytes_;
  std::byte* c_;
  std::byte* aux_;
};

}  // namespace

device::PreparedThunk MakeGeluMatmul(device::Device& cpu, const artifact::Matmul& matmul,
                                     const device::MemoryMap& memory) {
  artifact::MatmulT alone;
  matmul.UnPackTo(&alone);
  alone.epilogue = artifact::StepsOf(artifact::EpilogueOf(matmul.epilogue())
                                         .Without(library::EpilogueStep::kGelu)
                                         .Without(library::EpilogueStep::kGeluGradient));
  alone.aux.reset();
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(artifact::Matmul::Pack(builder, &alone));
  auto plain = cpu.PrepareMatmul(*flatbuffers::GetRoot<artifact::Matmul>(builder.GetBufferPointer()), memory);
  if (!plain.ok()) return plain.status();
  return std::make_unique<GeluThunk>(*std::move(plain), matmul, memory);
}

}  // namespace sgd::emulator
