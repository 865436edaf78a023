// A block of lines at the end of a terminal, drawn again in its place.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace sgd::watch {

// Changes nothing of the terminal that lasts: each drawing ends with the cursor below the block and lines that wrap, so
// that a run may end at any time.
class LiveBlock {
 public:
  // `stream` is a terminal, and borrowed.
  explicit LiveBlock(std::FILE* stream) : stream_(stream) {}

  void Draw(const std::vector<std::string>& lines);
  // A line that stays, above the block.
  void Line(const std::string& text);

 private:
  std::string Up() const;
  void Print(const std::string& text);

  std::FILE* stream_;
  std::vector<std::string> lines_;  // drawn
};

}  // namespace sgd::watch
