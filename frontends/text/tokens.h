// Tokens of MLIR's text, for scans that come before the parser. Positions may be behind the end of a text that is cut.
#ifndef SGD_FRONTENDS_TEXT_TOKENS_H
#define SGD_FRONTENDS_TEXT_TOKENS_H

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::sgd {

/// Returns the position behind the string whose opening quote is at `at`; strings end with their line.
inline size_t skipString(llvm::StringRef text, size_t at) {
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    if (text[at] == '\\') ++at;
  return at + 1;
}

/// Returns the position behind the letters, digits and `_$.` at `at`.
inline size_t skipName(llvm::StringRef text, size_t at) {
  auto isPart = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$' || c == '.'; };
  while (at < text.size() && isPart(text[at])) ++at;
  return at;
}

/// Returns the position behind the spaces and line ends at `at`.
inline size_t skipSpaces(llvm::StringRef text, size_t at) {
  while (at < text.size() && llvm::isSpace(text[at])) ++at;
  return at;
}

/// Returns the end of the comment that begins at `at`: its line's.
inline size_t skipComment(llvm::StringRef text, size_t at) { return std::min(text.find('\n', at), text.size()); }

}  // namespace mlir::sgd

#endif
