// Tokens are runs of letters and digits, and single other characters, so that most changes still parse.
#include "tests/fuzz/damage.h"

#include <cctype>

using namespace mlir::sgd::fuzz;

namespace {

bool isWord(char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '%' || c == '.'; }

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> tokens;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (text.compare(at, 2, "//") == 0) end = std::min(text.find('\n', at), text.size());
    if (isWord(text[at]))
      while (end < text.size() && isWord(text[end])) ++end;
    tokens.push_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

/// Others of the same kind fit more often: a number for a number, a value for a value.
bool isAlike(const std::string& a, const std::string& b) {
  auto kind = [](char c) {
    return isdigit(static_cast<unsigned char>(c)) ? '0' : isalpha(static_cast<unsigned char>(c)) ? 'a' : c;
  };
  return kind(a[0]) == kind(b[0]);
}

std::string chooseOther(Choices& choices, const std::vector<std::string>& tokens, const std::string& token) {
  static const std::vector<std::string> rare = {"0",
                                                "-1",
                                                "1",
                                                "2",
                                                "4294967296",
                                                "9223372036854775807",
                                                "-9223372036854775808",
                                                "?",
                                                "{",
                                                "}",
                                                "[",
                                                ">",
                                                "f8E4M3FN",
                                                "complex",
                                                "i1",
                                                "i65",
                                                "ui8",
                                                "tuple",
                                                "none",
                                                "*",
                                                "index",
                                                "x",
                                                "%a0",
                                                "dense",
                                                "loc"};
  if (choices.chance(40)) return choices.pick(rare);
  std::vector<std::string> alike;
  for (const std::string& other : tokens)
    if (isAlike(token, other)) alike.push_back(other);
  return choices.pick(alike);
}

}  // namespace

std::string mlir::sgd::fuzz::damage(Choices& choices, const std::string& text) {
  std::vector<std::string> tokens = split(text);
  for (uint64_t times = 1 + choices.below(4); times > 0; --times) {
    size_t at = choices.below(tokens.size());
    if (tokens[at].starts_with("//") || tokens[at] == "\n" || tokens[at] == " ") continue;
    switch (choices.below(4)) {
      case 0:
      case 1:
        tokens[at] = chooseOther(choices, tokens, tokens[at]);
        break;
      case 2:
        tokens[at] = " ";
        break;
      default:
        tokens[at] += tokens[at];
    }
  }
  std::string damaged;
  for (const std::string& token : tokens) damaged += token;
  return damaged;
}
