// Runs a tool as a user would and keeps what it said.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "tests/runtime/data/tensor_files.h"

namespace sgd {

struct CommandResult {
  int exit_code = -1;  // -1: ended by a signal
  std::string output;
  std::string errors;
};

// `environment` is put before the command ("RANK=0 WORLD_SIZE=2").
inline CommandResult RunCommand(const std::string& program, const std::vector<std::string>& arguments,
                                const std::string& environment = "") {
  data::TemporaryFolder folder;
  std::string line = "env " + environment + " '" + program + "'";
  for (const std::string& argument : arguments) {
    line += " '";
    for (char c : argument) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += "'";
  }
  line += " > " + folder / "out" + " 2> " + folder / "err";
  const int status = std::system(line.c_str());
  CommandResult result;
  // A shell reports a signal of its child as 128 and more.
  if (WIFEXITED(status) && WEXITSTATUS(status) < 128) result.exit_code = WEXITSTATUS(status);
  result.output = data::ReadText(folder / "out");
  result.errors = data::ReadText(folder / "err");
  return result;
}

}  // namespace sgd
