#include "frontends/text/named_ops.h"

#include "frontends/text/tokens.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace mlir::sgd;

namespace {

/// A name, bare or in quotes, with the characters around it, spaces left out; '\0' at the text's ends.
struct Word {
  StringRef name;
  bool isQuoted;
  char before, after;

  /// Attributes, types, symbols and values have a sigil; what is named in brackets is a resource or part of an
  /// attribute.
  bool isOp() const {
    if (StringRef("#!@%^<[(,").contains(before)) return false;
    return isQuoted ? after == '(' : !StringRef("=>,])").contains(after);
  }
  bool isAttribute() const { return after == '=' && (before == '{' || before == ','); }
};

/// Goes through the words outside of comments, locations and what follows the program.
class WordScanner {
 public:
  explicit WordScanner(StringRef text) : text(text) {}

  std::optional<Word> next() {
    while ((at = skipSpaces(text, at)) < text.size()) {
      StringRef rest = text.substr(at);
      if (rest.starts_with("{-#")) return std::nullopt;
      if (rest.starts_with("//")) {
        at = skipComment(text, at);
      } else if (isAlpha(rest.front()) || rest.front() == '_' || rest.front() == '"') {
        Word word = take();
        if (word.isQuoted || word.name != "loc" || word.after != '(') return word;
        skipBrackets();
      } else {
        last = rest.front();
        at = isDigit(last) ? skipName(text, at) : at + 1;
      }
    }
    return std::nullopt;
  }

 private:
  Word take() {
    const size_t begin = at;
    const bool isQuoted = text[begin] == '"';
    at = std::min(isQuoted ? skipString(text, begin) : skipName(text, begin), text.size());
    StringRef name = text.slice(begin, at);
    const size_t following = skipSpaces(text, at);
    char after = following < text.size() ? text[following] : '\0';
    return {isQuoted ? name.trim('"') : name, isQuoted, std::exchange(last, name.back()), after};
  }

  /// From before an opening bracket to behind the closing one.
  void skipBrackets() {
    size_t depth = 0;
    while (at < text.size()) {
      char c = text[at];
      at = c == '"' ? skipString(text, at) : at + 1;
      if (c == '(') ++depth;
      if (c == ')' && --depth == 0) break;
    }
    last = ')';
  }

  StringRef text;
  size_t at = 0;
  char last = '\0';  // before `at`, spaces left out
};

bool hasWord(StringRef text, function_ref<bool(const Word&)> isWanted) {
  WordScanner scanner(text);
  while (std::optional<Word> word = scanner.next())
    if (isWanted(*word)) return true;
  return false;
}

}  // namespace

bool mlir::sgd::hasOpOf(ArrayRef<StringLiteral> dialects, StringRef text) {
  auto isOfOne = [&](StringRef name) { return is_contained(dialects, name.split('.').first) && name.contains('.'); };
  // Most texts have no such word at all, and a search is faster than a scan.
  auto isSomewhere = [&](StringRef dialect) { return text.contains((dialect + ".").str()); };
  return any_of(dialects, isSomewhere) &&
         hasWord(text, [&](const Word& word) { return word.isOp() && isOfOne(word.name); });
}

bool mlir::sgd::hasAttribute(StringRef name, StringRef text) {
  return text.contains(name) &&
         hasWord(text, [&](const Word& word) { return word.isAttribute() && word.name == name; });
}
