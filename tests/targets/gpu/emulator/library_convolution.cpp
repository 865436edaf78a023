// Loops as program.fbs says it, over the host's memory.
#include "tests/targets/gpu/emulator/library_convolution.h"

#include <type_traits>

#include "runtime/artifact/epilogue.h"
#include "tests/runtime/artifact/convolution_products.h"
#include "tests/targets/gpu/fakes/element_values.h"

namespace sgd::emulator {
namespace {

using artifact::ElementType;
using emulated::Bf16;
using library::EpilogueStep;
using testing::Index;

class LibraryConvolution final : public device::Thunk {
 public:
  LibraryConvolution(const artifact::Convolution& convolution, const device::MemoryMap& memory)
      : lhs_(memory.Address(*convolution.lhs())),
        rhs_(memory.Address(*convolution.rhs())),
        bias_(convolution.bias() == nullptr ? nullptr : memory.Address(*convolution.bias())),
        result_(memory.Address(*convolution.result())) {
    convolution.UnPackTo(&c_);
    epilogue_ = artifact::EpilogueOf(convolution.epilogue());
  }

  absl::Status Execute() override {
    switch (c_.element) {
      case ElementType::F64:
        return Run<double, double>();
      case ElementType::F32:
        return Run<float, float>();
      case ElementType::F16:
        return c_.rounds ? Run<_Float16, _Float16>() : Run<_Float16, float>();
      case ElementType::BF16:
        return c_.rounds ? Run<Bf16, Bf16>() : Run<Bf16, float>();
      default:
        return absl::UnimplementedError("elements that are no floats");
    }
  }

 private:
  template <typename T, typename Result>
  absl::Status Run() {
    // f16 and bf16 by way of f32.
    using Rounded = std::conditional_t<std::is_same_v<Result, double>, double, float>;
    Index taps;
    for (const artifact::WindowDim& dim : c_.spatial) taps.push_back(static_cast<int64_t>(dim.kernel()));
    testing::ForEach(testing::ResultSizes(c_), [&](const Index& at) {
      Result& target = reinterpret_cast<Result*>(result_)[testing::ResultPlace(c_, at)];
      double sum = Start<Result>(target, at);
      testing::ForEach(taps, [&](const Index& tap) { sum += Feature<T>(at, tap); });
      if (epilogue_.Has(EpilogueStep::kRelu) && sum < 0) sum = 0;  // NaN stays
      target = emulated::Store<Result>(static_cast<Rounded>(sum));
    });
    return absl::OkStatus();
  }

  // The initial value of the accumulator.
  template <typename Result>
  double Start(Result target, const Index& at) const {
    if (epilogue_.Has(EpilogueStep::kResidual)) return emulated::Load(target);
    if (bias_ == nullptr) return 0;
    return emulated::Load(
        reinterpret_cast<const Result*>(bias_)[at[1] * static_cast<int64_t>(c_.outputs->size()) + at[2]]);
  }

  // The sum over input features of one tap.
  template <typename T>
  double Feature(const Index& at, const Index& tap) const {
    int64_t lhs = at[0] * c_.batch->lhs() + at[1] * c_.groups->lhs();
    int64_t rhs = at[1] * c_.groups->rhs() + at[2] * c_.outputs->rhs();
    for (size_t i = 0; i < tap.size(); ++i) {
      const artifact::WindowDim& dim = c_.spatial[i];
      const int64_t position = at[i + 3] * dim.stride() + tap[i] * dim.dilation() - dim.low();
      const int64_t dilation = c_.lhs_dilations.empty() ? 1 : c_.lhs_dilations[i];
      if (position < 0 || position % dilation != 0 || position / dilation >= static_cast<int64_t>(dim.input()))
        return 0;
      lhs += position / dilation * dim.lhs();
      rhs += tap[i] * dim.rhs();
    }
    const T *x = reinterpret_cast<const T*>(lhs_) + lhs, *y = reinterpret_cast<const T*>(rhs_) + rhs;
    double sum = 0;
    for (int64_t i = 0; i < static_cast<int64_t>(c_.inputs->size()); ++i)
      sum += double{emulated::Load(x[i * c_.inputs->lhs()])} * double{emulated::Load(y[i * c_.inputs->rhs()])};
    return sum;
  }

  artifact::ConvolutionT c_;
  library::Epilogue epilogue_;
  const std::byte *lhs_, *rhs_, *bias_;  // no bias: null
  std::byte* result_;
};

}  // namespace

std::unique_ptr<device::Thunk> MakeLibraryConvolution(const artifact::Convolution& convolution,
                                                      const device::MemoryMap& memory) {
  return std::make_unique<LibraryConvolution>(convolution, memory);
}

}  // namespace sgd::emulator
