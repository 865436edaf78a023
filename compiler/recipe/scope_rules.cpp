// Scopes from locations, and values at their ends.
#include "compiler/recipe/scope_rules.h"

#include "compiler/recipe/annotator.h"
#include "compiler/recipe/glob.h"
#include "dialects/sgd/scope.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::sgd;

/// Completes a message about a glob that matches no scope. Globs match at any depth, so `glob` is compared with the
/// ends of paths too.
static std::string getScopeAdvice(ArrayRef<func::FuncOp> functions, StringRef glob) {
  constexpr size_t kListed = 4;
  llvm::StringSet<> seen;
  SmallVector<StringRef> paths, ends;
  for (func::FuncOp function : functions)
    function.walk([&](Operation* op) {
      auto [entry, isNew] = seen.insert(getScope(op->getLoc()).path);
      if (isNew && !entry->getKey().empty()) paths.push_back(entry->getKey());
    });
  if (paths.empty())
    return "its text names no scopes: print it by as_text(debug_info=True), and name scopes by jax.named_scope or "
           "modules";
  for (StringRef path : paths)
    for (StringRef end = path; !end.empty(); end = end.split('/').second) ends.push_back(end);
  StringRef nearest = findNearestName(glob, ends);
  if (!nearest.empty())
    return ("the nearest scope is " + *llvm::find_if(paths, [&](StringRef path) { return path.ends_with(nearest); }))
        .str();
  std::string listed = llvm::join(ArrayRef(paths).take_front(kListed), ", ");
  return "there are " + listed + (paths.size() > kListed ? " and others" : "");
}

/// Says that `scope` of `field` matches nothing.
static InFlightDiagnostic refuseScope(ArrayRef<func::FuncOp> functions, StringRef field, StringRef scope) {
  return emitError(UnknownLoc::get(func::FuncOp(functions.front()).getContext()))
         << "field '" << field << ".scope': '" << scope << "' matches no scope of the program; "
         << getScopeAdvice(functions, scope);
}

static FailureOr<ScopeGlob> parseScope(MLIRContext* context, StringRef field, StringRef scope) {
  llvm::Expected<ScopeGlob> glob = ScopeGlob::parse(scope);
  if (glob) return std::move(*glob);
  return LogicalResult(emitError(UnknownLoc::get(context))
                       << "field '" << field << ".scope' is '" << scope
                       << "', which is no glob: " << llvm::toString(glob.takeError()));
}

namespace {

class ScopeRules {
 public:
  ScopeRules(ArrayRef<func::FuncOp> functions, const Recipe& recipe)
      : context(func::FuncOp(functions.front()).getContext()), functions(functions), recipe(recipe) {}

  LogicalResult run() {
    for (const RecipeRule& rule : recipe.rules)
      if (!rule.scope.empty() && failed(apply(rule, rule.path))) return failure();
    return success();
  }

 private:
  LogicalResult apply(const RecipeRule& rule, const std::string& field) {
    FailureOr<ScopeGlob> glob = parseScope(context, field, rule.scope);
    if (failed(glob)) return failure();
    bool matches = false, annotates = false;
    for (func::FuncOp function : functions) {
      Annotator annotator(function->getParentOfType<ModuleOp>());
      FailureOr<ShardingAttr> sharding = annotator.getSharding(rule.dims, field + ".sharding");
      if (failed(sharding)) return failure();
      SmallVector<Value> leaving;
      function.walk([&](Operation* op) {
        Scope scope = getScope(op->getLoc());
        StringRef inside = scope.isBackward ? StringRef() : glob->findIn(scope.path);
        if (inside.empty()) return;
        matches = true;
        for (Value result : op->getResults()) {
          auto type = dyn_cast<RankedTensorType>(result.getType());
          if (type && type.getRank() == static_cast<int64_t>(rule.dims.size()) && leaves(result, inside, *glob))
            leaving.push_back(result);
        }
      });
      for (Value value : leaving) annotator.annotateValue(value, *sharding);
      annotates |= !leaving.empty();
    }
    if (annotates) return success();
    if (matches)
      return error() << "field '" << field << ".sharding' has " << rule.dims.size()
                     << " dimensions, but no value of so many leaves the scopes that '" << rule.scope << "' matches";
    return refuseScope(functions, field, rule.scope);
  }

  /// Whether the forward pass reads `value` outside of the scope `inside`.
  static bool leaves(Value value, StringRef inside, const ScopeGlob& glob) {
    return llvm::any_of(value.getUsers(), [&](Operation* user) {
      // Constraints belong to the value.
      if (isa<ShardingConstraintOp>(user))
        return llvm::any_of(user->getUsers(), [&](Operation* next) { return isOutside(next, inside, glob); });
      return isOutside(user, inside, glob);
    });
  }

  static bool isOutside(Operation* user, StringRef inside, const ScopeGlob& glob) {
    Scope scope = getScope(user->getLoc());
    return !scope.isBackward && glob.findIn(scope.path) != inside;
  }

  InFlightDiagnostic error() { return emitError(UnknownLoc::get(context)); }

  MLIRContext* context;
  ArrayRef<func::FuncOp> functions;
  const Recipe& recipe;
};

}  // namespace

LogicalResult mlir::sgd::applyScopeRules(ArrayRef<func::FuncOp> functions, const Recipe& recipe) {
  return ScopeRules(functions, recipe).run();
}

LogicalResult mlir::sgd::checkExpectedScopes(ArrayRef<func::FuncOp> functions, const Recipe& recipe) {
  MLIRContext* context = func::FuncOp(functions.front()).getContext();
  for (const Expectation& expectation : recipe.expectations) {
    if (expectation.scope.empty()) continue;
    FailureOr<ScopeGlob> glob = parseScope(context, expectation.path, expectation.scope);
    if (failed(glob)) return failure();
    auto isInScope = [&](Operation* op) {
      return WalkResult(failure(!glob->findIn(getScope(op->getLoc()).path).empty()));
    };
    if (llvm::none_of(functions, [&](func::FuncOp function) { return function.walk(isInScope).wasInterrupted(); }))
      return refuseScope(functions, expectation.path, expectation.scope);
  }
  return success();
}
