// Each kind of expectation counts bytes by cause; what is too much is said with the largest causes.
#include "compiler/expectations/check_expectations.h"

#include "compiler/expectations/replicated_tensors.h"
#include "compiler/expectations/traffic.h"
#include "compiler/recipe/recipe.h"
#include "compiler/report/largest_buffers.h"
#include "dialects/sgd/stages.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class ExpectationChecker {
 public:
  ExpectationChecker(ModuleOp plan, const Report& report) : plan(plan), report(report) {
    auto programs = getStagePrograms(plan);
    auto found = programs.find(report.program);
    if (found != programs.end())
      functions = found->second;
    else
      functions.push_back(plan.lookupSymbol<func::FuncOp>(report.program));
  }

  LogicalResult check(ArrayRef<Expectation> expectations);

 private:
  FailureOr<MeasuredBytes> measure(const Expectation& expectation);
  FailureOr<MeasuredBytes> measureTraffic(const Expectation& expectation);
  FailureOr<MeasuredBytes> measureReplicated(const Expectation& expectation);
  LogicalResult checkAxis(const Expectation& expectation);
  LogicalResult refuse(const Expectation& expectation, MeasuredBytes measured);
  InFlightDiagnostic error() { return emitError(UnknownLoc::get(plan.getContext())); }
  MeshAttr getMeshAttr() {
    MeshOp mesh = getMesh(plan);
    return mesh ? mesh.getMesh() : MeshAttr::get(plan.getContext(), {});
  }

  ModuleOp plan;
  const Report& report;
  SmallVector<func::FuncOp> functions;  // of the reported program: one, or one for each stage
};

}  // namespace

static bool matches(const Expectation& expectation, const std::optional<ScopeGlob>& scope, const Traffic& traffic) {
  if (expectation.kind == Expectation::Kind::SentBytes) return true;
  return (expectation.collective == "any" || expectation.collective == traffic.kind) &&
         (expectation.axis.empty() || llvm::is_contained(traffic.axes, expectation.axis)) &&
         (!scope || !scope->findIn(traffic.scope).empty());
}

/// Of the stage that sends most.
FailureOr<MeasuredBytes> ExpectationChecker::measureTraffic(const Expectation& expectation) {
  std::optional<ScopeGlob> scope;
  if (!expectation.scope.empty()) scope = llvm::cantFail(ScopeGlob::parse(expectation.scope));  // applied before
  MeasuredBytes most;
  for (func::FuncOp function : functions) {
    MeasuredBytes stage;
    for (Traffic& traffic : findTraffic(function))
      if (matches(expectation, scope, traffic)) stage.add(std::move(traffic.what), traffic.bytes);
    if (stage.bytes > most.bytes) most = std::move(stage);
  }
  return most;
}

FailureOr<MeasuredBytes> ExpectationChecker::measureReplicated(const Expectation& expectation) {
  llvm::Expected<TensorGlob> glob = TensorGlob::parse(expectation.tensor);
  if (!glob)
    return LogicalResult(error() << "field '" << expectation.path << ".replicated' is '" << expectation.tensor
                                 << "', which is no glob: " << llvm::toString(glob.takeError()));
  MeasuredBytes most;
  bool hasMatch = false;
  SmallVector<std::string> names;
  for (func::FuncOp function : functions) {
    ReplicatedTensors tensors = findReplicatedTensors(function, *glob, getMeshAttr(), expectation.axis);
    hasMatch |= tensors.hasMatch;
    for (const std::string& name : tensors.names) names.push_back(TensorGlob::normalizeName(name));
    if (tensors.measured.bytes > most.bytes) most = std::move(tensors.measured);
  }
  if (hasMatch) return most;
  InFlightDiagnostic message = error() << "field '" << expectation.path << ".replicated': '" << expectation.tensor
                                       << "' matches no argument and no result of program '" << report.program << "'";
  StringRef nearest = findNearestName(expectation.tensor, llvm::to_vector_of<StringRef>(names));
  return nearest.empty() ? LogicalResult(message) : LogicalResult(message << "; the nearest name is " << nearest);
}

FailureOr<MeasuredBytes> ExpectationChecker::measure(const Expectation& expectation) {
  switch (expectation.kind) {
    case Expectation::Kind::Peak:
      return MeasuredBytes{report.memory.peak, {}};
    case Expectation::Kind::SentBytes:
    case Expectation::Kind::Collective:
      return measureTraffic(expectation);
    case Expectation::Kind::Replicated:
      return measureReplicated(expectation);
  }
  llvm_unreachable("all kinds are measured");
}

LogicalResult ExpectationChecker::checkAxis(const Expectation& expectation) {
  if (expectation.axis.empty() || getMeshAttr().getAxisIndex(expectation.axis)) return success();
  SmallVector<StringRef> names;
  for (MeshAxisAttr axis : getMeshAttr().getAxes()) names.push_back(axis.getName());
  StringRef nearest = findNearestName(expectation.axis, names);
  InFlightDiagnostic message = error() << "field '" << expectation.path << ".axis' is \"" << expectation.axis
                                       << "\", which the mesh does not have";
  return nearest.empty() ? message << "; its axes are: " << llvm::join(names, ", ")
                         : message << "; did you mean \"" << nearest << "\"?";
}

/// "all_gather over \"model\" in scope 'layers.*' sends 4096 bytes a step".
static std::string describe(const Expectation& expectation, uint64_t bytes) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto addAxis = [&] {
    if (!expectation.axis.empty()) os << " over \"" << expectation.axis << "\"";
  };
  switch (expectation.kind) {
    case Expectation::Kind::SentBytes:
      os << "a rank sends " << bytes << " bytes a step";
      break;
    case Expectation::Kind::Peak:
      os << "a rank needs " << bytes << " bytes of memory";
      break;
    case Expectation::Kind::Collective:
      os << (expectation.collective == "any" ? "communication" : expectation.collective);
      addAxis();
      if (!expectation.scope.empty()) os << " in scope '" << expectation.scope << "'";
      os << " sends " << bytes << " bytes a step";
      break;
    case Expectation::Kind::Replicated:
      os << "tensors '" << expectation.tensor << "' that are replicated";
      addAxis();
      os << " take " << bytes << " bytes of a rank";
      break;
  }
  return text;
}

/// The largest causes, those of one name as one.
static std::string describe(std::vector<MeasuredBytes::Cause> causes) {
  llvm::MapVector<StringRef, uint64_t> sums;
  for (const MeasuredBytes::Cause& cause : causes) sums[cause.what] += cause.bytes;
  auto sorted = sums.takeVector();
  llvm::sort(sorted,
             [](const auto& a, const auto& b) { return std::tie(b.second, a.first) < std::tie(a.second, b.first); });
  constexpr size_t kMostCauses = 3;
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(ArrayRef(sorted).take_front(kMostCauses), os,
                        [&](const auto& cause) { os << cause.second << " bytes by " << cause.first; });
  if (sorted.size() > kMostCauses) os << " and " << sorted.size() - kMostCauses << " more";
  return text;
}

LogicalResult ExpectationChecker::refuse(const Expectation& expectation, MeasuredBytes measured) {
  InFlightDiagnostic message = error() << "field '" << expectation.path
                                       << "': " << describe(expectation, measured.bytes) << "; expected at most "
                                       << expectation.bytes << "; change the recipe, or allow more; ";
  if (expectation.kind != Expectation::Kind::Peak) return message << describe(std::move(measured.causes));
  auto largest = llvm::max_element(
      report.stages, [](const StageReport& a, const StageReport& b) { return a.memory.peak < b.memory.peak; });
  return message << "the largest buffers: " << describeLargestBuffers(functions[largest - report.stages.begin()]);
}

LogicalResult ExpectationChecker::check(ArrayRef<Expectation> expectations) {
  for (const Expectation& expectation : expectations) {
    if (failed(checkAxis(expectation))) return failure();
    FailureOr<MeasuredBytes> measured = measure(expectation);
    if (failed(measured)) return failure();
    if (measured->bytes > expectation.bytes) return refuse(expectation, std::move(*measured));
  }
  return success();
}

LogicalResult mlir::sgd::checkExpectations(ModuleOp plan, const Report& report, ArrayRef<Expectation> expectations) {
  return ExpectationChecker(plan, report).check(expectations);
}
