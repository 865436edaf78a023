// The epilogue of a library call: the steps, their names and operands, and which lists of them there are. Depends on
// nothing, so that dialects, artifact and devices read the very same rows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>

namespace sgd::library {

// A step on the accumulators of a call before they are rounded and written. Values equal those of program.fbs,
// which defines each; in a list, steps are in this order.
enum class EpilogueStep : uint8_t {
  kResidual,
  kBias,
  kRelu,
  kGelu,
  kGeluGradient,
  kLhsReduction,
  kRhsReduction,
};

// The operand that a step has beside those of the call. A residual has none in the plan: the result holds it.
enum class EpilogueOperand : uint8_t { kNone, kBias, kAux, kReduction };

struct EpilogueStepTraits {
  EpilogueStep step;
  const char* name;
  EpilogueOperand operand;
  bool is_optional;  // a result that nobody reads may be absent
  bool is_last;      // nothing follows it: an activation or a reduction
};

inline constexpr EpilogueStepTraits kEpilogueSteps[] = {
    {EpilogueStep::kResidual, "residual", EpilogueOperand::kNone, false, false},
    {EpilogueStep::kBias, "bias", EpilogueOperand::kBias, false, false},
    {EpilogueStep::kRelu, "relu", EpilogueOperand::kNone, false, true},
    {EpilogueStep::kGelu, "gelu", EpilogueOperand::kAux, /*is_optional=*/true, true},
    {EpilogueStep::kGeluGradient, "gelu_gradient", EpilogueOperand::kAux, false, true},
    {EpilogueStep::kLhsReduction, "lhs_reduction", EpilogueOperand::kReduction, false, true},
    {EpilogueStep::kRhsReduction, "rhs_reduction", EpilogueOperand::kReduction, false, true},
};
inline constexpr size_t kNumEpilogueSteps = std::size(kEpilogueSteps);

constexpr bool AreStepsInOrder() {
  for (size_t i = 0; i < kNumEpilogueSteps; ++i) {
    if (kEpilogueSteps[i].step != static_cast<EpilogueStep>(i)) return false;
  }
  return true;
}
static_assert(AreStepsInOrder());

constexpr bool IsStep(EpilogueStep step) { return static_cast<size_t>(step) < kNumEpilogueSteps; }
// Of a known step.
constexpr const EpilogueStepTraits& TraitsOf(EpilogueStep step) { return kEpilogueSteps[static_cast<size_t>(step)]; }

// A list of steps, in the order in which they are done; a small value. Lists of unknown origin are checked by FaultOf.
class Epilogue {
 public:
  constexpr Epilogue() = default;
  constexpr Epilogue(std::initializer_list<EpilogueStep> steps) {
    for (const EpilogueStep step : steps) Append(step);
  }

  // Whether there was room: a list in which no step repeats always has it.
  constexpr bool Append(EpilogueStep step) {
    if (size_ == kNumEpilogueSteps) return false;
    steps_[size_++] = step;
    return true;
  }

  constexpr bool Has(EpilogueStep step) const {
    for (const EpilogueStep own : *this) {
      if (own == step) return true;
    }
    return false;
  }
  constexpr bool HasReduction() const { return Has(EpilogueStep::kLhsReduction) || Has(EpilogueStep::kRhsReduction); }
  constexpr bool HasGelu() const { return Has(EpilogueStep::kGelu) || Has(EpilogueStep::kGeluGradient); }

  // This list without a step.
  constexpr Epilogue Without(EpilogueStep step) const {
    Epilogue rest;
    for (const EpilogueStep own : *this) {
      if (own != step) rest.Append(own);
    }
    return rest;
  }

  constexpr bool empty() const { return size_ == 0; }
  constexpr size_t size() const { return size_; }
  constexpr const EpilogueStep* begin() const { return steps_.data(); }
  constexpr const EpilogueStep* end() const { return steps_.data() + size_; }

  friend constexpr bool operator==(const Epilogue&, const Epilogue&) = default;

 private:
  std::array<EpilogueStep, kNumEpilogueSteps> steps_{};
  uint8_t size_ = 0;
};

// "bias, relu"; "" for an empty list.
std::string TextOf(const Epilogue& epilogue, const char* separator = ", ");

enum class CallKind : uint8_t { kMatmul, kConvolution };

// The call that an epilogue belongs to, and which operands of epilogues it has.
struct EpilogueCall {
  CallKind kind = CallKind::kMatmul;
  bool is_batched = false;
  bool has_bias = false, has_aux = false, has_reduction = false;
};

// Names what a call cannot have, such as "gelu after relu", where this list and these operands do not go together; ""
// where they do. Each step stands once and in order, of activations and reductions there is one, and a reduction is
// alone; convolutions have a residual, a bias and relu.
std::string FaultOf(const Epilogue& epilogue, const EpilogueCall& call);

}  // namespace sgd::library
