// The command line of sgd-ckpt as plain data.
#pragma once

#include <string>
#include <variant>

namespace sgd::ckpt {

enum class Command { kList, kVerify, kMerge, kConvert, kDiff };

struct Options {
  Command command = Command::kList;
  std::string path;    // a checkpoint or a folder of checkpoints; of kDiff a file of tensors too
  std::string other;   // of kDiff
  std::string output;  // of kMerge and kConvert
  bool as_json = false;
};

// A parsed command line: options to run with, or a text to print and leave.
struct Leave {
  int exit_code;     // 0 for --help and --version, 2 for wrong usage
  std::string text;  // for standard output when exit_code is 0, else for standard error; ends with a line end
};
std::variant<Options, Leave> ParseOptions(int argc, const char* const* argv);

}  // namespace sgd::ckpt
