// Steps in order, then the operands that they need.
#include "runtime/library/epilogue.h"

namespace sgd::library {
namespace {

std::string FaultOfStep(const Epilogue& epilogue, size_t index, const EpilogueCall& call) {
  const EpilogueStep step = epilogue.begin()[index];
  if (!IsStep(step)) return "unknown epilogue step " + std::to_string(static_cast<int>(step));
  const std::string name = TraitsOf(step).name;
  if (index > 0) {
    const EpilogueStepTraits& previous = TraitsOf(epilogue.begin()[index - 1]);
    if (step <= previous.step || previous.is_last)
      return name + " after " + previous.name + "; expected residual, bias and then one of the others";
  }
  if (call.kind == CallKind::kConvolution && step > EpilogueStep::kRelu)
    return "epilogue step " + name + ", which convolutions have not";
  if (TraitsOf(step).operand != EpilogueOperand::kReduction) return "";
  if (epilogue.size() != 1) return name + " with another step";
  return call.is_batched ? name + " in batches" : "";
}

std::string FaultOfOperand(const Epilogue& epilogue, EpilogueOperand operand, const char* name, bool is_there) {
  for (const EpilogueStep step : epilogue) {
    const EpilogueStepTraits& traits = TraitsOf(step);
    if (traits.operand != operand) continue;
    if (is_there || traits.is_optional) return "";
    return std::string("no operand ") + name + " for epilogue step " + traits.name;
  }
  return is_there ? std::string("an operand ") + name + " that no epilogue step needs" : "";
}

}  // namespace

std::string TextOf(const Epilogue& epilogue, const char* separator) {
  std::string text;
  for (const EpilogueStep step : epilogue) {
    if (!text.empty()) text += separator;
    text += IsStep(step) ? TraitsOf(step).name : "unknown";
  }
  return text;
}

std::string FaultOf(const Epilogue& epilogue, const EpilogueCall& call) {
  for (size_t index = 0; index < epilogue.size(); ++index) {
    std::string fault = FaultOfStep(epilogue, index, call);
    if (!fault.empty()) return fault;
  }
  std::string fault = FaultOfOperand(epilogue, EpilogueOperand::kBias, "bias", call.has_bias);
  if (fault.empty()) fault = FaultOfOperand(epilogue, EpilogueOperand::kAux, "aux", call.has_aux);
  if (fault.empty()) fault = FaultOfOperand(epilogue, EpilogueOperand::kReduction, "reduction", call.has_reduction);
  return fault;
}

}  // namespace sgd::library
