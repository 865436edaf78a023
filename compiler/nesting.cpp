// One pass over the characters. Angle brackets need not match: what does not parse is the parser's to report.
#include "compiler/nesting.h"

using namespace llvm;

/// The end of the string that begins at `at`.
static size_t skipString(StringRef text, size_t at) {
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    if (text[at] == '\\') ++at;
  return at;
}

std::optional<size_t> mlir::sgd::findTooDeepNesting(StringRef text) {
  size_t depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '"':
        at = skipString(text, at);
        break;
      case '/':
        if (text.substr(at).starts_with("//")) at = std::min(text.find('\n', at), text.size());
        break;
      case '(':
      case '[':
      case '{':
      case '<':
        if (++depth > kMaxNesting) return at;
        break;
      case '>':
        if (at > 0 && text[at - 1] == '-') break;
        [[fallthrough]];
      case ')':
      case ']':
      case '}':
        if (depth > 0) --depth;
        break;
      default:
        break;
    }
  }
  return std::nullopt;
}
