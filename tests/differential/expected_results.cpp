// A few evaluations with noise tell the usual tolerance; before an error is reported, many do.
#include "tests/differential/expected_results.h"

#include <cmath>

#include "tests/differential/rounding_noise.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::differential;
using reference::RankTensors;
using reference::Tensor;

namespace {

constexpr unsigned kFewEvaluations = 3, kManyEvaluations = 64;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Evaluations with noise see a part of what can happen.
constexpr double kSpreadFactor = 8;

bool isEqual(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Makes `tolerance` cover element `at` of `changed`, where `exact` is what there is without noise.
void widen(double& tolerance, const Tensor& exact, const Tensor& changed, int64_t at) {
  if (!exact.isFloat()) {
    if (exact.integers[at] != changed.integers[at]) tolerance = kInfinity;
  } else if (!isEqual(exact.floats[at], changed.floats[at])) {
    double distance = std::fabs(exact.floats[at] - changed.floats[at]);
    tolerance = std::isnan(distance) ? kInfinity : std::max(tolerance, kSpreadFactor * distance);
  }
}

bool isWithin(const Tensor& expected, const Tensor& actual, int64_t at, double tolerance) {
  if (tolerance == kInfinity) return true;
  if (!expected.isFloat()) return expected.integers[at] == actual.integers[at];
  return isEqual(expected.floats[at], actual.floats[at]) ||
         std::fabs(expected.floats[at] - actual.floats[at]) <= tolerance;
}

std::string print(const Tensor& tensor, int64_t at) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (tensor.isFloat())
    stream << llvm::format("%.9g", tensor.floats[at]);
  else
    stream << tensor.integers[at];
  return text;
}

/// All ones; cut to shards it tells elements from padding.
Tensor makeMask(RankedTensorType type) {
  Tensor mask(RankedTensorType::get(type.getShape(), IntegerType::get(type.getContext(), 1)));
  std::fill(mask.integers.begin(), mask.integers.end(), 1);
  return mask;
}

std::optional<std::string> findWrongElement(const RankTensors& expected, const RankTensors& actual,
                                            const RankTensors& tolerance, const RankTensors& mask) {
  for (auto [rank, shard] : llvm::enumerate(actual)) {
    if (shard.type != expected[rank].type) return "a shard has another type than it should";
    std::optional<std::string> error;
    reference::forEachIndex(shard.shape(), [&](ArrayRef<int64_t> index, int64_t at) {
      double allowed = tolerance[rank].floats[at];
      if (error || !mask[rank].integers[at] || isWithin(expected[rank], shard, at, allowed)) return;
      llvm::raw_string_ostream stream(error.emplace());
      stream << "rank " << rank << ", element [";
      llvm::interleaveComma(index, stream);
      stream << "] of its shard: " << print(shard, at) << " instead of " << print(expected[rank], at);
      if (allowed > 0) stream << llvm::format(" (+- %.3g)", allowed);
    });
    if (error) return error;
  }
  return std::nullopt;
}

}  // namespace

FailureOr<ExpectedResults> ExpectedResults::create(func::FuncOp function, std::vector<Tensor> inputs) {
  ExpectedResults expectation(function, std::move(inputs));
  auto results = expectation.evaluate(nullptr);
  if (failed(results)) return failure();
  expectation.results = std::move(*results);
  return expectation;
}

FailureOr<std::vector<Tensor>> ExpectedResults::evaluate(reference::EvaluationObserver* observer) {
  std::vector<RankTensors> arguments;
  for (const Tensor& input : inputs) arguments.push_back({input});
  auto results = reference::evaluate(function, std::move(arguments), 1, observer);
  if (failed(results)) return failure();
  std::vector<Tensor> tensors;
  for (RankTensors& result : *results) tensors.push_back(std::move(result.front()));
  return tensors;
}

ExpectedResults::Tolerances ExpectedResults::computeTolerances(Sums sums, unsigned evaluations) {
  Tolerances tolerances;
  ValueRange values = function.front().getTerminator()->getOperands();
  bool isNoisy = false;
  for (auto [value, result] : llvm::zip(values, results)) {
    Tensor& tolerance =
        tolerances.emplace_back(RankedTensorType::get(result.shape(), Float64Type::get(function.getContext())));
    if (!hasRoundingNoise(value)) continue;
    isNoisy = true;
    if (!result.isFloat()) continue;
    // One unit in the last place: the rounded result may fall to either side.
    auto type = cast<FloatType>(result.element());
    double smallest = std::ldexp(getEpsilon(type), llvm::APFloat::semanticsMinExponent(type.getFloatSemantics()));
    for (int64_t i = 0; i < result.size(); ++i)
      if (std::isfinite(result.floats[i]))
        tolerance.floats[i] = std::fabs(result.floats[i]) * getEpsilon(type) + smallest;
  }
  for (unsigned i = 0; isNoisy && i < evaluations; ++i) {
    RoundingNoise noise(i, sums == Sums::InParts);
    auto changed = evaluate(&noise);
    if (failed(changed)) continue;
    for (auto [tolerance, exact, other] : llvm::zip(tolerances, results, *changed))
      for (int64_t at = 0; at < exact.size(); ++at) widen(tolerance.floats[at], exact, other, at);
  }
  return tolerances;
}

const ExpectedResults::Tolerances& ExpectedResults::getTolerances(Sums sums, unsigned evaluations) {
  auto [it, isNew] = tolerances.try_emplace({sums, evaluations});
  if (isNew) it->second = computeTolerances(sums, evaluations);
  return it->second;
}

std::optional<std::string> ExpectedResults::findError(unsigned index, const RankTensors& shards,
                                                      reference::ShardLayout layout, MeshAttr mesh, Sums sums) {
  const Tensor& result = results[index];
  auto find = [&](unsigned evaluations) {
    const Tensor& tolerance = getTolerances(sums, evaluations)[index];
    return findWrongElement(reference::cut(result, layout, mesh), shards, reference::cut(tolerance, layout, mesh),
                            reference::cut(makeMask(result.type), layout, mesh));
  };
  if (!find(kFewEvaluations)) return std::nullopt;
  return find(kManyEvaluations);
}
