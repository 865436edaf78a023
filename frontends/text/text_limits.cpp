// One pass over the characters. Angle brackets need not match: what does not parse is the parser's to report.
#include "frontends/text/text_limits.h"

#include "frontends/text/tokens.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace mlir::sgd;

namespace {

class FaultScanner {
 public:
  explicit FaultScanner(StringRef text) : text(text) {}

  std::optional<TextFault> run() {
    while (at < text.size() && !fault) scanToken();
    return std::move(fault);
  }

 private:
  /// Of an alias: brackets that it opens, and characters, with the aliases that it names put in their places.
  struct Expansion {
    size_t nesting = 0, size = 0;
  };

  void scanToken() {
    char c = text[at];
    if (isSpace(c)) return scanSpaces();
    minusSigns = c == '-' ? minusSigns + 1 : 0;
    if (minusSigns > kMaxNesting) return report("more than " + Twine(kMaxNesting) + " minus signs follow each other");
    inMetadata |= text.substr(at).starts_with("{-#");
    if (c == '"') {
      scanString();
    } else if (text.substr(at).starts_with("//")) {
      at = skipComment(text, at);
    } else if (isDigit(c)) {
      scanNumber();
    } else if (isAlpha(c) || c == '_' || c == '%' || c == '@' || c == '^') {
      at = skipName(text, at + 1);
    } else if (c == '#' || c == '!') {
      scanAlias();
    } else {
      scanBracket(c);
      ++at;
    }
    last = c;
  }

  void scanSpaces() {
    size_t begin = std::exchange(at, skipSpaces(text, at));
    if (text.slice(begin, at).contains('\n')) endAlias();
  }

  void report(const Twine& message) { fault = {at, message.str()}; }

  void scanString() {
    size_t begin = std::exchange(at, skipString(text, at));
    // A resource of the metadata: its alignment in four bytes, then its data. MLIR's allocator aborts the process when
    // it cannot satisfy the alignment.
    StringRef digits = text.slice(begin, at).drop_front();
    if (!inMetadata || last != ':' || !digits.consume_front("0x")) return;
    std::string bytes;
    if (digits.size() < 8 || !tryGetFromHex(digits.take_front(8), bytes)) return;
    uint32_t alignment = support::endian::read32le(bytes.data());
    if (isPowerOf2_32(alignment) && alignment <= kMaxAlignment) return;
    at = begin;
    report("a resource aligned to " + Twine(alignment) + " bytes; expected a power of two of at most " +
           Twine(kMaxAlignment) + " in its first four bytes");
  }

  void scanNumber() {
    size_t begin = at;
    bool isHex = text.substr(at).starts_with("0x");
    if (isHex) at += 2;
    while (at < text.size() && (isHex ? isHexDigit(text[at]) : isDigit(text[at]))) ++at;
    size_t digits = at - begin;
    if (digits <= kMaxDigits) return;
    at = begin;
    report("a number of " + Twine(digits) + " digits in a row; at most " + Twine(kMaxDigits) +
           " are read; give tensors as dense<\"0x...\">");
  }

  void scanBracket(char c) {
    if (c == '(' || c == '[' || c == '{' || c == '<') {
      ++depth;
      deepen(0);
    } else if (c == ')' || c == ']' || c == '}' || (c == '>' && last != '-')) {
      if (depth > 0) --depth;
    }
  }

  /// Something that opens `inner` brackets stands here.
  void deepen(size_t inner) {
    if (defined) defined->nesting = std::max(defined->nesting, depth + inner);
    if (depth + inner <= kMaxNesting) return;
    if (inner == 0)
      return report("more than " + Twine(kMaxNesting) + " brackets are open here; no program is nested as deeply");
    report("with its aliases in their places more than " + Twine(kMaxNesting) +
           " brackets are open here; no program is nested as deeply");
  }

  /// An attribute or a type: the definition of an alias where it begins a line, else perhaps the use of one.
  void scanAlias() {
    size_t begin = std::exchange(at, skipName(text, at + 1));
    StringRef name = text.slice(begin, at), rest = text.substr(at).ltrim();
    if (depth == 0 && rest.starts_with("=") && !rest.starts_with("==")) {
      endAlias(/*isCertain=*/true);
      definedName = name;
      defined = Expansion();
      definedAt = at;
      return;
    }
    auto used = aliases.find(name);
    if (used == aliases.end()) return;
    if (defined) defined->size = SaturatingAdd(defined->size, used->second.size);
    deepen(used->second.nesting);
  }

  /// At the end of a line: of the definition too, unless it goes on.
  void endAlias(bool isCertain = false) {
    if (!defined) return;
    StringRef rest = text.substr(at);
    bool begins = rest.empty() || isAlpha(rest.front()) || StringRef("\"%#!_").contains(rest.front());
    if (!isCertain && (depth != 0 || !begins || last == '=' || last == ':')) return;
    defined->size = SaturatingAdd(defined->size, at - definedAt);
    if (defined->size > kMaxAliasSize)
      return report("the alias " + definedName + " has more than " + Twine(kMaxAliasSize) +
                    " characters once the aliases that it names stand in it; no program has such attributes");
    aliases[definedName] = *defined;
    defined.reset();
  }

  StringRef text;
  size_t at = 0, depth = 0, minusSigns = 0;
  bool inMetadata = false;  // behind the program, where resources are
  char last = '\n';         // before `at`, spaces left out
  StringMap<Expansion> aliases;
  std::optional<Expansion> defined;
  StringRef definedName;
  size_t definedAt = 0;
  std::optional<TextFault> fault;
};

}  // namespace

std::optional<TextFault> mlir::sgd::findTextFault(StringRef text) { return FaultScanner(text).run(); }
