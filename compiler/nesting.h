// How deeply brackets of a text are nested. MLIR's parser calls itself for each level, so text that is nested without
// bounds would overflow the stack.
#ifndef SGD_COMPILER_NESTING_H
#define SGD_COMPILER_NESTING_H

#include <cstddef>
#include <optional>

#include "llvm/ADT/StringRef.h"

namespace mlir::sgd {

/// Brackets that may be open at one place: far more than programs need, far less than a stack of 8 MiB holds.
inline constexpr size_t kMaxNesting = 1000;

/// Where in `text` more than kMaxNesting of ( [ { < are open, not counting those in strings and comments; nullopt when
/// that is nowhere so. An arrow closes nothing.
std::optional<size_t> findTooDeepNesting(llvm::StringRef text);

}  // namespace mlir::sgd

#endif
