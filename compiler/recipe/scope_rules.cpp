// Scopes from locations, and values at their ends.
#include "compiler/recipe/scope_rules.h"

#include "compiler/recipe/annotator.h"
#include "compiler/recipe/glob.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::sgd;

/// The first name in `location` that is a path, as JAX writes names of ops.
static StringRef findPath(Location location) {
  StringRef path;
  location->walk([&](Location inner) {
    auto name = dyn_cast<NameLoc>(inner);
    if (!name || !name.getName().getValue().contains('/')) return WalkResult::advance();
    path = name.getName().getValue();
    return WalkResult::interrupt();
  });
  return path;
}

/// Parts of `path` between slashes that stand in no parentheses.
static SmallVector<StringRef> split(StringRef path) {
  SmallVector<StringRef> parts;
  size_t depth = 0, begin = 0;
  for (size_t i = 0; i <= path.size(); ++i) {
    if (i < path.size() && path[i] == '(') ++depth;
    if (i < path.size() && path[i] == ')' && depth > 0) --depth;
    if (i < path.size() && (path[i] != '/' || depth > 0)) continue;
    parts.push_back(path.slice(begin, i));
    begin = i + 1;
  }
  return parts;
}

Scope mlir::sgd::getScope(Location location) {
  Scope scope;
  SmallVector<StringRef> parts = split(findPath(location)), kept;
  for (StringRef part : ArrayRef(parts).drop_back()) {
    // jit(f) names a function; jvp(x), vmap(x) and transpose(x) transform the scope x.
    while (part.ends_with(")") && part.contains('(')) {
      auto [transformation, inner] = part.drop_back().split('(');
      scope.isBackward |= transformation == "transpose";
      part = transformation == "jit" || transformation == "pjit" ? StringRef() : inner;
    }
    for (StringRef name : split(part))
      if (!name.empty()) kept.push_back(name);
  }
  scope.path = llvm::join(kept, "/");
  return scope;
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
    llvm::Expected<ScopeGlob> glob = ScopeGlob::parse(rule.scope);
    if (!glob)
      return error() << "field '" << field << ".scope' is '" << rule.scope
                     << "', which is no glob: " << llvm::toString(glob.takeError());
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
    InFlightDiagnostic message = error() << "field '" << field << ".scope': '" << rule.scope
                                         << "' matches no scope of the program";
    std::string nearest = findNearestScope(rule.scope);
    return nearest.empty() ? message << "; its text names no scopes (jax.named_scope, printed with debug_info=True)"
                           : message << "; the nearest scope is " << nearest;
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

  std::string findNearestScope(StringRef glob) {
    llvm::StringSet<> seen;
    SmallVector<StringRef> names;
    for (func::FuncOp function : functions)
      function.walk([&](Operation* op) {
        auto [entry, isNew] = seen.insert(getScope(op->getLoc()).path);
        if (isNew && !entry->getKey().empty()) names.push_back(entry->getKey());
      });
    if (names.empty()) return "";
    StringRef nearest = findNearestName(glob, names);
    return (nearest.empty() ? names.front() : nearest).str();
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
