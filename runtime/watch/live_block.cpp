// ANSI codes (ECMA-48): one write for each drawing, past the buffer of lines of the stream, so that a signal that ends
// the process leaves no half of one.
#include "runtime/watch/live_block.h"

#include "absl/strings/str_cat.h"
#include "runtime/artifact/replace_file.h"

namespace sgd::watch {
namespace {

constexpr char kNoWrap[] = "\033[?7l", kWrap[] = "\033[?7h";
constexpr char kClearLine[] = "\033[K", kClearBelow[] = "\033[J";

std::string Up(size_t lines) { return lines == 0 ? "\r" : absl::StrCat("\r\033[", lines, "A"); }

}  // namespace

LiveBlock::~LiveBlock() {
  if (cursor_ == Cursor::kAbove && !lines_.empty()) Print(absl::StrCat("\033[", lines_.size(), "B\r"));
}

std::string LiveBlock::ToBegin() const { return cursor_ == Cursor::kAbove ? "\r" : Up(lines_.size()); }

void LiveBlock::Draw(const std::vector<std::string>& lines) {
  std::string text = absl::StrCat(kNoWrap, ToBegin());
  for (const std::string& line : lines) absl::StrAppend(&text, kClearLine, line, "\n");
  absl::StrAppend(&text, kClearBelow, cursor_ == Cursor::kAbove ? Up(lines.size()) : "");
  Print(absl::StrCat(text, kWrap));
  lines_ = lines;
}

void LiveBlock::Line(const std::string& text) {
  Print(absl::StrCat(ToBegin(), kClearBelow, text, "\n"));
  std::vector<std::string> lines;
  lines.swap(lines_);
  Draw(lines);
}

void LiveBlock::Print(const std::string& text) {
  std::fflush(stream_);
  artifact::WriteAll(fileno(stream_), text, "the terminal").IgnoreError();
}

}  // namespace sgd::watch
