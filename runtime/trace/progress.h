// Tells a person how training goes: a bar that stays in place on a terminal, lines elsewhere.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "absl/time/time.h"
#include "runtime/clock/steady_clock.h"

namespace sgd::trace {

// "1:05" or "2:01:05".
std::string ClockText(absl::Duration duration);

class Progress {
 public:
  // Steps [first, first + steps) are expected. `stream` is not owned; `is_terminal` chooses the
  // bar. Elsewhere the first, every `every`th and the last step have a line; `every` is at least 1.
  Progress(std::FILE* stream, bool is_terminal, uint64_t first, uint64_t steps, uint64_t every = 1);
  ~Progress() { End(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Whether Step would use a text for this step.
  bool Shows(uint64_t step) const;
  // After each step; `text` says what is worth knowing of it ("loss 2.57"). The bar is redrawn at
  // most ten times a second, and for the last step. Numbers of steps are padded to the width of the last one.
  void Step(uint64_t step, const std::string& text);

  // A line that stays, above the bar if there is one.
  void Line(const std::string& text);
  // Draws the bar a last time and ends its line; the next step would begin another one.
  void End();

 private:
  void Draw(uint64_t done, const std::string& text);

  std::FILE* stream_;
  bool is_terminal_;
  uint64_t first_;
  uint64_t steps_;
  uint64_t every_;
  bool is_drawn_ = false;
  uint64_t done_ = 0;
  std::string text_;
  absl::Time begin_ = SteadyNow();
  absl::Time drawn_ = absl::InfinitePast();
};

}  // namespace sgd::trace
