// Scopes from the names that JAX writes into locations.
#include "dialects/sgd/scope.h"

#include "llvm/ADT/StringExtras.h"

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
      scope.isForward |= transformation == "jvp";
      part = transformation == "jit" || transformation == "pjit" ? StringRef() : inner;
    }
    for (StringRef name : split(part))
      if (!name.empty()) kept.push_back(name);
  }
  scope.isForward &= !scope.isBackward;
  scope.path = llvm::join(kept, "/");
  return scope;
}
