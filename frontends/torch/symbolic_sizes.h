// Sizes that an export has left open, and what the user binds them to.
#ifndef SGD_FRONTENDS_TORCH_SYMBOLIC_SIZES_H
#define SGD_FRONTENDS_TORCH_SYMBOLIC_SIZES_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frontends/frontend.h"
#include "llvm/Support/Error.h"

namespace mlir::sgd::torch {

/// A symbol that is a dimension of inputs.
struct OpenSize {
  struct Place {
    std::string input;
    size_t dim;
  };
  std::string symbol;  ///< "s31"
  std::vector<Place> places;
  int64_t least = 0, most = INT64_MAX;
  std::optional<int64_t> sample;  ///< its size when the model was exported
};

/// Values of symbols.
using SymbolValues = std::map<std::string, int64_t>;

/// Binds each symbol. A name of `bindings` is that of a symbol, a dimension of an input (`tokens.0`), or `batch` or
/// `sequence`: the only open dimension 0, or 1, of the inputs. Fails with one line for a name that is none of these,
/// sizes that contradict each other or the export's range, and for symbols without a size.
llvm::Expected<SymbolValues> bindSizes(llvm::ArrayRef<OpenSize> open, llvm::ArrayRef<BoundSize> bindings);

/// The value of an expression as sympy's srepr writes it: "Add(Symbol('s27', integer=True), Integer(-1))". Nothing for
/// functions and symbols that are not known.
std::optional<double> evaluateExpression(llvm::StringRef text, const SymbolValues& symbols);

/// The symbol that the expression is; empty for others.
std::string getSymbol(llvm::StringRef text);

}  // namespace mlir::sgd::torch

#endif
