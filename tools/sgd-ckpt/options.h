// The command line of sgd-ckpt as plain data.
#pragma once

#include <string>
#include <variant>

#include "tools/command_line/leave.h"

namespace sgd::ckpt {

enum class Command { kList, kVerify, kMerge, kConvert, kDiff };

struct Options {
  Command command = Command::kList;
  std::string path;    // a checkpoint or a folder of checkpoints; of kDiff a file of tensors too
  std::string other;   // of kDiff
  std::string output;  // of kMerge and kConvert
  int zstd = 0;        // of kConvert: the level of compression; 0: none
  bool as_json = false;
};

using tools::Leave;

// Options to run with, or a text to print and leave.
std::variant<Options, Leave> ParseOptions(int argc, const char* const* argv);

}  // namespace sgd::ckpt
