// Drawing of the progress bar and of plain lines.
#include "runtime/trace/progress.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/clock/steady_clock.h"

namespace sgd::trace {
namespace {

constexpr uint64_t kBarWidth = 24;
// Lines that are longer than the terminal is wide are cut off there: a bar of two lines could not be drawn again.
constexpr char kBackToLineStart[] = "\r\033[K", kNoWrap[] = "\033[?7l", kWrap[] = "\033[?7h";

}  // namespace

std::string ClockText(absl::Duration duration) {
  const int64_t seconds = absl::ToInt64Seconds(duration);
  if (seconds < 3600) return absl::StrFormat("%d:%02d", seconds / 60, seconds % 60);
  return absl::StrFormat("%d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

Progress::Progress(std::FILE* stream, bool is_terminal, uint64_t first, uint64_t steps, uint64_t every)
    : stream_(stream), is_terminal_(is_terminal), first_(first), steps_(steps), every_(every) {}

void Progress::End() {
  if (!is_terminal_ || done_ == 0) return;
  Draw(done_, text_);
  std::fputc('\n', stream_);
  std::fflush(stream_);
  done_ = 0;
  is_drawn_ = false;
}

bool Progress::Shows(uint64_t step) const {
  const bool is_due = is_terminal_ ? SteadyNow() - drawn_ >= absl::Milliseconds(100) : (step - first_) % every_ == 0;
  return is_due || step + 1 - first_ == steps_;
}

void Progress::Step(uint64_t step, const std::string& text) {
  if (!is_terminal_) {
    if (!Shows(step)) return;
    const int width = static_cast<int>(absl::StrCat(steps_ == 0 ? step : first_ + steps_ - 1).size());
    std::fprintf(stream_, "step %*llu%s%s\n", width, static_cast<unsigned long long>(step), text.empty() ? "" : "  ",
                 text.c_str());
    std::fflush(stream_);
    return;
  }
  done_ = step + 1 - first_;
  if (!Shows(step)) return;
  text_ = text;
  Draw(done_, text_);
}

void Progress::Line(const std::string& text) {
  if (is_drawn_) std::fputs(kBackToLineStart, stream_);
  std::fprintf(stream_, "%s\n", text.c_str());
  std::fflush(stream_);
  is_drawn_ = false;
  drawn_ = absl::InfinitePast();
}

void Progress::Draw(uint64_t done, const std::string& text) {
  drawn_ = SteadyNow();
  is_drawn_ = true;
  const uint64_t filled = steps_ == 0 ? kBarWidth : done * kBarWidth / steps_;
  const absl::Duration passed = drawn_ - begin_;
  const absl::Duration left = passed / static_cast<int64_t>(done) * static_cast<int64_t>(steps_ - done);
  const std::string bar = std::string(filled, '=') + std::string(kBarWidth - filled, ' ');
  const std::string line =
      absl::StrCat(kNoWrap, kBackToLineStart, "[", bar, "] ", first_ + done, "/", first_ + steps_, "  ", text, "  ",
                   ClockText(passed), done < steps_ ? " left " : "", done < steps_ ? ClockText(left) : "", "\r", kWrap);
  std::fputs(line.c_str(), stream_);
  std::fflush(stream_);
}

}  // namespace sgd::trace
