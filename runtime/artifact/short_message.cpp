#include "runtime/artifact/short_message.h"

#include <algorithm>

namespace sgd::artifact {
namespace {

constexpr size_t kLongestWord = 300, kLongestMessage = 10'000;

bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

// Two thirds of `limit` from the front, the rest from the end.
std::string CutMiddle(std::string_view text, size_t limit) {
  if (text.size() <= limit) return std::string(text);
  size_t front = limit / 3 * 2, back = text.size() - limit / 3;
  while (front > 0 && !BeginsCharacter(text[front])) --front;
  while (back < text.size() && !BeginsCharacter(text[back])) ++back;
  return std::string(text.substr(0, front)) + "..." + std::string(text.substr(back));
}

}  // namespace

std::string ShortMessage(std::string_view message) {
  std::string result;
  while (!message.empty()) {
    const size_t space = std::min(message.find_first_of(" \n"), message.size());
    result += CutMiddle(message.substr(0, space), kLongestWord);
    const size_t rest = std::min(space + 1, message.size());
    result += message.substr(space, rest - space);
    message.remove_prefix(rest);
  }
  return CutMiddle(result, kLongestMessage);
}

}  // namespace sgd::artifact
