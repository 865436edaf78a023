// sgd-ckpt: looks at checkpoints.
#include <signal.h>

#include <cstdio>
#include <variant>

#include "runtime/artifact/out_of_memory.h"
#include "runtime/artifact/short_message.h"
#include "runtime/artifact/standard_descriptors.h"
#include "runtime/process/leave.h"
#include "runtime/process/shrunken_files.h"
#include "tools/command_line/standard_output.h"
#include "tools/sgd-ckpt/commands.h"
#include "tools/sgd-ckpt/options.h"

int main(int argc, char** argv) {
  using namespace sgd::ckpt;
  sgd::artifact::ReserveStandardDescriptors();
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  sgd::process::LeaveWhenFilesShrink(argc, argv);
  sgd::process::LeaveWhenOutOfMemory();
  const std::variant<Options, Leave> parsed = ParseOptions(argc, argv);
  if (const Leave* leave = std::get_if<Leave>(&parsed)) {
    std::fputs(leave->exit_code == 0 ? leave->text.c_str() : sgd::artifact::ShortMessage(leave->text).c_str(),
               leave->exit_code == 0 ? stdout : stderr);
    return leave->exit_code;
  }
  const absl::StatusOr<Result> result = Run(std::get<Options>(parsed));
  if (!result.ok()) {
    const absl::string_view message = result.status().message();
    std::fprintf(stderr, "sgd-ckpt: %s\n", sgd::artifact::ShortMessage({message.data(), message.size()}).c_str());
    return 1;
  }
  if (!sgd::tools::PrintOutput(result->text)) {
    std::perror("sgd-ckpt: cannot write to standard output");
    return 1;
  }
  return result->exit_code;
}
