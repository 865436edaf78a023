// Central differences of two steps tell how far they can be trusted: they differ where the program has a kink between
// them, and one-sided slopes differ by as much for both where it has one at its inputs.
#include "tests/fuzz/derivative_check.h"

#include <cmath>
#include <cstring>
#include <random>
#include <regex>

#include "compiler/driver/programs.h"
#include "compiler/driver/registration.h"
#include "mlir/Pass/PassManager.h"
#include "passes/graph/autodiff/passes.h"
#include "reference/evaluate.h"
#include "tests/differential/inputs.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::fuzz;
using reference::Tensor;

namespace {

constexpr double kStep = 1e-4;
/// Of the size of a slope: differences that are no errors, and those of steps that are trusted.
constexpr double kTolerance = 1e-6, kMostSpread = 1e-4;
/// Of the loss: errors of slopes are no less than of this.
constexpr double kLeastSize = 1e-4;

class DerivativeCheck {
 public:
  explicit DerivativeCheck(const std::string& text)
      : text(text),
        context(getRegistry(), MLIRContext::Threading::DISABLED),
        handler(&context, [this](Diagnostic& diagnostic) { messages += diagnostic.str() + " "; }) {}

  Outcome run() {
    OwningOpRef<ModuleOp> differentiated = load(text);
    if (!differentiated) return {Outcome::Kind::Refused, messages};
    if (!differentiate(*differentiated)) return fail("not differentiated: " + messages);
    std::string notJudged;
    if (Outcome outcome = judge(notJudged); outcome.isFailure()) return outcome;
    std::string program = getDirectives();
    llvm::raw_string_ostream(program) << *differentiated;
    Outcome onRanks = checkProgram(program);
    if (onRanks.kind != Outcome::Kind::Agrees || notJudged.empty()) return onRanks;
    return {Outcome::Kind::Refused, "error: not judged: " + notJudged};
  }

 private:
  static DialectRegistry getRegistry() {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  static Outcome fail(const std::string& message) { return {Outcome::Kind::Differs, message}; }

  OwningOpRef<ModuleOp> load(const std::string& program) {
    return loadProgram(&context, {"main", "program.mlir", program}, ImportOptions(), nullptr);
  }

  /// The comments on top but the line that asks for gradients.
  std::string getDirectives() {
    std::string lines;
    for (StringRef line : llvm::split(StringRef(text), '\n')) {
      if (!line.starts_with("//")) break;
      if (line != kDerivativesDirective) lines += line.str() + "\n";
    }
    return lines;
  }

  bool differentiate(ModuleOp module) {
    auto main = module.lookupSymbol<func::FuncOp>("main");
    PassManager passes(&context);
    DifferentiatePassOptions options;
    options.result = main.getNumResults() - 1;
    passes.addNestedPass<func::FuncOp>(createDifferentiatePass(options));
    return succeeded(passes.run(module));
  }

  /// Results of `function` on `inputs`; empty where they are not finite.
  std::vector<Tensor> evaluate(func::FuncOp function, const std::vector<Tensor>& inputs) {
    std::vector<reference::RankTensors> each;
    for (const Tensor& input : inputs) each.push_back({input});
    auto results = reference::evaluate(function, std::move(each), 1);
    std::vector<Tensor> alone;
    if (failed(results)) return alone;
    for (reference::RankTensors& result : *results) alone.push_back(std::move(result.front()));
    return alone;
  }

  double getLoss(const std::vector<Tensor>& inputs) {
    std::vector<Tensor> results = evaluate(forward, inputs);
    return results.empty() ? NAN : results.back().floats.front();
  }

  /// In f64, so that differences have digits.
  Outcome judge(std::string& notJudged) {
    std::string wide = std::regex_replace(text, std::regex("(\\b|x)f32\\b"), "$1f64");
    OwningOpRef<ModuleOp> module = load(wide), both = load(wide);
    if (!module || !both) return fail("does not load in f64: " + messages);
    if (!differentiate(*both)) return fail("not differentiated in f64: " + messages);
    forward = module->lookupSymbol<func::FuncOp>("main");
    inputs = differential::makeInputs(forward, differential::InputDirectives::parse(wide));
    std::vector<Tensor> results = evaluate(both->lookupSymbol<func::FuncOp>("main"), inputs);
    if (results.empty()) return fail("no reference: " + messages);
    size_t next = forward.getNumResults();
    loss = results[next - 1].floats.front();
    if (double again = getLoss(inputs); std::memcmp(&again, &loss, sizeof(loss)) != 0 && !(again != again))
      return fail("gradients change the loss from " + std::to_string(again) + " to " + std::to_string(loss));
    bool isFlat = true;
    for (size_t position = 0; position < inputs.size(); ++position) {
      if (!inputs[position].isFloat()) continue;
      Outcome outcome = compareSlope(position, results[next++], notJudged, isFlat);
      if (outcome.isFailure()) return outcome;
    }
    if (isFlat && notJudged.empty()) notJudged = "the loss does not depend on its arguments";
    return {};
  }

  /// Losses at steps along a direction of one argument.
  double moved(size_t position, const std::vector<double>& direction, double step) {
    std::vector<Tensor> there = inputs;
    for (size_t at = 0; at < direction.size(); ++at) there[position].floats[at] += step * direction[at];
    return getLoss(there);
  }

  Outcome compareSlope(size_t position, const Tensor& gradient, std::string& notJudged, bool& isFlat) {
    std::mt19937_64 random(position + 1);
    std::vector<double> direction(inputs[position].floats.size());
    double slope = 0, size = 0;
    for (size_t at = 0; at < direction.size(); ++at) {
      direction[at] = static_cast<double>(random() >> 11) * 0x1p-52 - 1;
      slope += gradient.floats[at] * direction[at];
      size += std::abs(gradient.floats[at] * direction[at]);
    }
    double above = moved(position, direction, kStep), below = moved(position, direction, -kStep);
    double nearAbove = moved(position, direction, kStep / 2), nearBelow = moved(position, direction, -kStep / 2);
    double wide = (above - below) / (2 * kStep), narrow = (nearAbove - nearBelow) / kStep;
    if (!std::isfinite(wide + narrow)) return notJudged = "values are not finite", Outcome();
    size = std::max({size, std::abs(narrow), kLeastSize * std::abs(loss)});
    double spread = std::abs(wide - narrow);
    double jump = std::abs(above - 2 * loss + below) / kStep;
    double nearJump = std::abs(nearAbove - 2 * loss + nearBelow) / (kStep / 2);
    if (spread > kMostSpread * size || (nearJump > kMostSpread * size && nearJump > 0.75 * jump))
      return notJudged = "not smooth near the inputs", Outcome();
    isFlat &= slope == 0 && std::abs(narrow) <= kTolerance * size;
    double best = (4 * narrow - wide) / 3;
    if (std::abs(best - slope) <= kTolerance * size + spread) return {};
    return fail("the slope by argument " + std::to_string(position) + " is " + std::to_string(best) +
                ", that of the gradient " + std::to_string(slope) + ", of " + std::to_string(size));
  }

  const std::string& text;
  MLIRContext context;
  std::string messages;
  ScopedDiagnosticHandler handler;
  func::FuncOp forward;
  std::vector<Tensor> inputs;
  double loss = 0;
};

}  // namespace

bool mlir::sgd::fuzz::asksForDerivatives(const std::string& text) {
  return llvm::is_contained(llvm::split(StringRef(text), '\n'), kDerivativesDirective);
}

Outcome mlir::sgd::fuzz::checkDerivatives(const std::string& text) { return DerivativeCheck(text).run(); }
