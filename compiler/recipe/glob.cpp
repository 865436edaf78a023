// Names and patterns in one form: parts with dots between them.
#include "compiler/recipe/glob.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "runtime/artifact/tensor_path.h"

using namespace mlir::sgd;
using llvm::StringRef;

std::string TensorGlob::normalizeName(StringRef name) {
  return ::sgd::artifact::DottedText(::sgd::artifact::ArgumentPath(std::string_view(name)));
}

/// `[0-2]`, `[!a]` and, behind a dot, `[abc]` are sets of characters; every other bracket holds a key or a position.
static bool isCharacterSet(StringRef before, StringRef inside) {
  if (before.ends_with(".")) return true;
  if (inside.starts_with("!") || inside.starts_with("^")) return true;
  return inside.size() >= 3 && inside[1] == '-' && !inside.starts_with("'") && !inside.starts_with("\"");
}

/// Brackets of keys and positions become dots; sets of characters stay.
static std::string normalizePattern(StringRef pattern) {
  std::string text;
  while (!pattern.empty()) {
    size_t open = pattern.find('[');
    text += pattern.take_front(open);
    if (open == StringRef::npos) break;
    StringRef rest = pattern.drop_front(open + 1);
    size_t close = rest.find(']');
    StringRef inside = rest.take_front(close);
    if (isCharacterSet(pattern.take_front(open), inside)) {
      text += ("[" + inside + "]").str();
    } else {
      if (!text.empty()) text += '.';
      text += inside.trim("'\"");
    }
    pattern = close == StringRef::npos ? StringRef() : rest.drop_front(close + 1);
  }
  return text;
}

llvm::Expected<TensorGlob> TensorGlob::parse(StringRef pattern) {
  auto text = std::make_unique<std::string>(normalizePattern(pattern));
  llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(*text);
  if (!glob) return glob.takeError();
  return TensorGlob(std::move(text), std::move(*glob));
}

llvm::Expected<ScopeGlob> ScopeGlob::parse(StringRef pattern) {
  auto text = std::make_unique<std::string>(pattern.trim('/').str());
  llvm::replace(*text, '.', '/');
  llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(*text);
  if (!glob) return glob.takeError();
  return ScopeGlob(std::move(text), std::move(*glob));
}

StringRef ScopeGlob::findIn(StringRef path) const {
  std::string scope = path.str();
  llvm::replace(scope, '.', '/');
  llvm::SmallVector<size_t> begins = {0};
  for (size_t i = 0; i < scope.size(); ++i)
    if (scope[i] == '/') begins.push_back(i + 1);
  llvm::SmallVector<size_t> ends;
  for (size_t begin : llvm::drop_begin(begins)) ends.push_back(begin - 1);
  ends.push_back(scope.size());
  for (size_t end : llvm::reverse(ends))
    for (size_t begin : begins)
      if (begin < end && glob.match(StringRef(scope).slice(begin, end))) return path.take_front(end);
  return {};
}
