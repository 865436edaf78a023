// Draws blocks into a file beside lines of other processes, and reads the file as a terminal would.
#include "runtime/watch/live_block.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace sgd::watch {
namespace {

using ::testing::ElementsAre;

// The lines that a terminal of enough lines shows for a text with the codes that blocks use.
std::vector<std::string> Screen(const std::string& text) {
  std::vector<std::string> lines(1);
  size_t row = 0, column = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r') {
      column = 0;
    } else if (text[i] == '\n') {
      column = 0;
      if (++row == lines.size()) lines.emplace_back();
    } else if (text[i] == '\033') {
      const size_t end = text.find_first_of("ABJKhl", i);
      const int count = std::atoi(text.c_str() + i + 2);
      if (text[end] == 'A') row -= static_cast<size_t>(count);
      if (text[end] == 'B') row += static_cast<size_t>(count);
      if (text[end] == 'J' || text[end] == 'K') lines[row].resize(std::min(column, lines[row].size()));
      if (text[end] == 'J') lines.resize(row + 1);
      i = end;
    } else {
      lines[row].resize(std::max(lines[row].size(), column + 1), ' ');
      lines[row][column++] = text[i];
    }
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

class Terminal {
 public:
  Terminal() : file_(std::tmpfile()) {}
  ~Terminal() { std::fclose(file_); }
  std::FILE* file() { return file_; }
  // As another process writes.
  void Write(const std::string& text) {
    ASSERT_EQ(write(fileno(file_), text.data(), text.size()), ssize_t(text.size()));
  }
  std::string Text() {
    std::string text(1 << 16, '\0');
    text.resize(static_cast<size_t>(pread(fileno(file_), text.data(), text.size(), 0)));
    return text;
  }
  std::vector<std::string> Lines() { return Screen(Text()); }

 private:
  std::FILE* file_;
};

TEST(LiveBlock, StaysInPlace) {
  for (const Cursor cursor : {Cursor::kBelow, Cursor::kAbove}) {
    Terminal terminal;
    {
      LiveBlock block(terminal.file(), cursor);
      block.Draw({"step 1", "loss 2.5"});
      block.Draw({"step 2", "loss 2", "waits 1"});
      EXPECT_THAT(terminal.Lines(), ElementsAre("step 2", "loss 2", "waits 1"));
      block.Draw({"step 3"});
      block.Line("eval");
      block.Draw({"step 4"});
    }
    terminal.Write("$");
    EXPECT_THAT(terminal.Lines(), ElementsAre("eval", "step 4", "$"));
  }
}

TEST(LiveBlock, WhatOthersWriteStaysAboveIt) {
  Terminal terminal;
  LiveBlock block(terminal.file(), Cursor::kAbove);
  block.Draw({"step 1", "loss 2.5", "waits 1"});
  terminal.Write(std::string(kOverLiveBlock) + "note: rank 3 is slow\n");
  EXPECT_THAT(terminal.Lines(), ElementsAre("note: rank 3 is slow"));
  terminal.Write("a line of another program\n");
  block.Draw({"step 2", "loss 2"});
  EXPECT_THAT(terminal.Lines(), ElementsAre("note: rank 3 is slow", "a line of another program", "step 2", "loss 2"));
}

TEST(LiveBlock, LeavesTheTerminalAsItWas) {
  Terminal terminal;
  {
    LiveBlock block(terminal.file(), Cursor::kAbove);
    block.Draw({"step 1"});
  }
  const std::string text = terminal.Text();
  EXPECT_GT(text.rfind("\033[?7h"), text.rfind("\033[?7l"));
}

}  // namespace
}  // namespace sgd::watch
