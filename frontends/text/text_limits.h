// Limits of a text before MLIR's parser sees it: the parser recurses at each level of nesting, and LLVM converts
// numbers in time that grows with the square of their length, on the stack.
#ifndef SGD_FRONTENDS_TEXT_TEXT_LIMITS_H
#define SGD_FRONTENDS_TEXT_TEXT_LIMITS_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace mlir::sgd {

/// Brackets that may be open at one place, those of the aliases named there included: far more than programs need, far
/// less than a stack of 8 MiB holds.
inline constexpr size_t kMaxNesting = 1000;
/// Digits in a row of a number. The smallest double has 1,074 behind its point.
inline constexpr size_t kMaxDigits = 2000;
/// Bytes to which a resource may be aligned.
inline constexpr uint32_t kMaxAlignment = 4096;
/// Characters of an alias once those that it names stand in it.
inline constexpr size_t kMaxAliasSize = size_t{1} << 26;

struct TextFault {
  size_t position;
  std::string message;  // what is there, and the limit
};

/// The first place of `text` that is beyond a limit, strings and comments left out. One pass.
std::optional<TextFault> findTextFault(llvm::StringRef text);

}  // namespace mlir::sgd

#endif
