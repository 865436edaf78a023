// The schema's steps are those of runtime/library/epilogue.h: equal numbers, which the assertion here holds.
#include "runtime/artifact/epilogue.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/reader.h"

namespace sgd::artifact {
namespace {

constexpr std::pair<library::EpilogueStep, EpilogueStep> kSteps[] = {
    {library::EpilogueStep::kResidual, EpilogueStep::Residual},
    {library::EpilogueStep::kBias, EpilogueStep::Bias},
    {library::EpilogueStep::kRelu, EpilogueStep::Relu},
    {library::EpilogueStep::kGelu, EpilogueStep::Gelu},
    {library::EpilogueStep::kGeluGradient, EpilogueStep::GeluGradient},
    {library::EpilogueStep::kLhsReduction, EpilogueStep::LhsReduction},
    {library::EpilogueStep::kRhsReduction, EpilogueStep::RhsReduction},
};

constexpr bool AreEqual() {
  size_t next = 0;
  for (const auto& [step, artifact_step] : kSteps) {
    if (static_cast<size_t>(step) != next || static_cast<size_t>(artifact_step) != next) return false;
    ++next;
  }
  return next == library::kNumEpilogueSteps && next == static_cast<size_t>(EpilogueStep::MAX) + 1;
}
static_assert(AreEqual());

template <typename Steps>
library::Epilogue Read(const Steps& steps) {
  library::Epilogue epilogue;
  for (const auto step : steps) {
    if (!epilogue.Append(static_cast<library::EpilogueStep>(step))) break;
  }
  return epilogue;
}

absl::Status Verify(const flatbuffers::Vector<EpilogueStep>* steps, const library::EpilogueCall& call) {
  if (Size(steps) > library::kNumEpilogueSteps)
    return absl::InvalidArgumentError(absl::StrCat("an epilogue of ", Size(steps), " steps"));
  const std::string fault = FaultOf(EpilogueOf(steps), call);
  return fault.empty() ? absl::OkStatus() : absl::InvalidArgumentError(fault);
}

}  // namespace

library::Epilogue EpilogueOf(const flatbuffers::Vector<EpilogueStep>* steps) {
  return steps == nullptr ? library::Epilogue() : Read(*steps);
}
library::Epilogue EpilogueOf(const std::vector<EpilogueStep>& steps) { return Read(steps); }

std::vector<EpilogueStep> StepsOf(const library::Epilogue& epilogue) {
  std::vector<EpilogueStep> steps;
  for (const library::EpilogueStep step : epilogue) steps.push_back(static_cast<EpilogueStep>(step));
  return steps;
}

absl::Status VerifyEpilogue(const Matmul& matmul) {
  return Verify(matmul.epilogue(), {.kind = library::CallKind::kMatmul,
                                    .is_batched = Size(matmul.batch_dims()) != 0,
                                    .has_bias = matmul.bias() != nullptr,
                                    .has_aux = matmul.aux() != nullptr,
                                    .has_reduction = matmul.reduction() != nullptr});
}

absl::Status VerifyEpilogue(const Convolution& convolution) {
  return Verify(convolution.epilogue(),
                {.kind = library::CallKind::kConvolution, .has_bias = convolution.bias() != nullptr});
}

}  // namespace sgd::artifact
