// Globs on names of tensors and on scopes.
#ifndef SGD_COMPILER_RECIPE_GLOB_H
#define SGD_COMPILER_RECIPE_GLOB_H

#include <memory>
#include <string>

#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"

namespace mlir::sgd {

/// A pattern for names such as `params['dense']['kernel']`. `*` matches any characters, `?` one, `[0-2]` one of a
/// range and, behind a dot, `[abc]` one of a set. Quotes and brackets of keys may be left out: `params.dense.kernel`,
/// `params[dense][kernel]` and `params['dense']['kernel']` match the same tensors, and `opt_state[0].mu` the element 0.
class TensorGlob {
 public:
  static llvm::Expected<TensorGlob> parse(llvm::StringRef pattern);

  /// `name` as the program has it, of an argument or a result.
  bool matches(llvm::StringRef name) const { return glob.match(normalizeName(name)); }

  /// Parts of the name with dots between them.
  static std::string normalizeName(llvm::StringRef name);

 private:
  TensorGlob(std::unique_ptr<std::string> text, llvm::GlobPattern glob)
      : text(std::move(text)), glob(std::move(glob)) {}

  std::unique_ptr<std::string> text;  // what `glob` points into
  llvm::GlobPattern glob;
};

/// A pattern for scopes of the program's source, such as `encoder/layer*/mlp` or `encoder.layer*.mlp`: it matches the
/// scope itself, wherever it stands in others. Slashes and dots both separate the parts of a scope.
class ScopeGlob {
 public:
  static llvm::Expected<ScopeGlob> parse(llvm::StringRef pattern);

  /// The innermost part of `scope` that matches, from its beginning: of `encoder/layer0/mlp/up` what is before `/up`.
  /// Empty where nothing matches.
  llvm::StringRef findIn(llvm::StringRef scope) const;

 private:
  ScopeGlob(std::unique_ptr<std::string> text, llvm::GlobPattern glob) : text(std::move(text)), glob(std::move(glob)) {}

  std::unique_ptr<std::string> text;
  llvm::GlobPattern glob;
};

}  // namespace mlir::sgd

#endif
