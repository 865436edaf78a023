// ANSI codes (ECMA-48): one write for each drawing, past the buffer of lines of the stream, so that a signal that ends
// the process leaves no half of one.
#include "runtime/watch/live_block.h"

#include "absl/strings/str_cat.h"
#include "runtime/artifact/replace_file.h"

namespace sgd::watch {
namespace {

constexpr char kNoWrap[] = "\033[?7l", kWrap[] = "\033[?7h";
constexpr char kClearLine[] = "\033[K", kClearBelow[] = "\033[J";

}  // namespace

std::string LiveBlock::Up() const { return lines_.empty() ? "\r" : absl::StrCat("\r\033[", lines_.size(), "A"); }

void LiveBlock::Draw(const std::vector<std::string>& lines) {
  std::string text = absl::StrCat(kNoWrap, Up());
  for (const std::string& line : lines) absl::StrAppend(&text, kClearLine, line, "\n");
  Print(absl::StrCat(text, kClearBelow, kWrap));
  lines_ = lines;
}

void LiveBlock::Line(const std::string& text) {
  std::vector<std::string> lines;
  lines.swap(lines_);
  Print(absl::StrCat("\r", lines.empty() ? "" : absl::StrCat("\033[", lines.size(), "A"), kClearBelow, text, "\n"));
  Draw(lines);
}

void LiveBlock::Print(const std::string& text) {
  std::fflush(stream_);
  artifact::WriteAll(fileno(stream_), text, "the terminal").IgnoreError();
}

}  // namespace sgd::watch
