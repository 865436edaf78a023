// A block of lines at the end of a terminal, drawn again in its place.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace sgd::watch {

// Where the cursor waits between drawings.
enum class Cursor {
  kBelow,  // the process may end at any time and leaves a whole block
  // Other processes may write to the terminal: the next drawing is below what they have written.
  kAbove,
};

// Changes no setting of the terminal that lasts: each drawing ends with lines that wrap. Its lines do not, so that a
// narrow terminal shows their beginnings.
class LiveBlock {
 public:
  // `stream` is a terminal, and borrowed.
  explicit LiveBlock(std::FILE* stream, Cursor cursor = Cursor::kBelow) : stream_(stream), cursor_(cursor) {}
  // Leaves the cursor below the block.
  ~LiveBlock();
  LiveBlock(const LiveBlock&) = delete;
  LiveBlock& operator=(const LiveBlock&) = delete;

  void Draw(const std::vector<std::string>& lines);
  // A line that stays, above the block.
  void Line(const std::string& text);

 private:
  // From where the cursor waits to the beginning of the block.
  std::string ToBegin() const;
  void Print(const std::string& text);

  std::FILE* stream_;
  const Cursor cursor_;
  std::vector<std::string> lines_;  // drawn
};

// Prefix of a line for a terminal on which another process may show a block or a bar: erases the block, which its
// process draws again below the line.
inline constexpr char kOverLiveBlock[] = "\r\033[J";

}  // namespace sgd::watch
