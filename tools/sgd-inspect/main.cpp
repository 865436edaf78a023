// sgd-inspect: prints what an artifact holds, as text or JSON.
#include <signal.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "runtime/artifact/out_of_memory.h"
#include "runtime/artifact/reader.h"
#include "runtime/artifact/short_message.h"
#include "runtime/artifact/standard_descriptors.h"
#include "runtime/process/leave.h"
#include "runtime/process/shrunken_files.h"
#include "tools/sgd-inspect/check_streams.h"
#include "tools/sgd-inspect/describe.h"
#include "tools/sgd-inspect/module_text.h"
#include "tools/sgd-inspect/options.h"
#include "tools/sgd-inspect/text.h"

namespace {

using sgd::inspect::Leave;
using sgd::inspect::Options;

// Exit code 3: the artifact can be read, but its instructions could get in each other's way.
int Print(const std::string& text, bool is_clean) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return is_clean ? 0 : 3;
  std::perror("sgd-inspect: cannot write to standard output");
  return 1;
}

int SayWhy(const absl::Status& error) {
  const std::string_view message(error.message().data(), error.message().size());
  std::fprintf(stderr, "sgd-inspect: %s\n", sgd::artifact::ShortMessage(message).c_str());
  return 1;
}

// The kernels' text for one GPU architecture.
int PrintModule(const sgd::artifact::ArtifactFile& file, const std::string& architecture) {
  absl::StatusOr<std::string> text = sgd::inspect::ModuleText(file, architecture);
  return text.ok() ? Print(*text, true) : SayWhy(text.status());
}

absl::StatusOr<int> Inspect(const Options& options) {
  absl::StatusOr<std::unique_ptr<sgd::artifact::ArtifactFile>> file = sgd::artifact::ArtifactFile::Open(options.path);
  if (!file.ok()) return file.status();
  if (!options.instead.module.empty()) return PrintModule(**file, options.instead.module);
  if (options.instead.check_streams) {
    const sgd::inspect::StreamsReport report = sgd::inspect::CheckStreams(**file);
    return Print(report.text, report.is_clean);
  }
  const nlohmann::ordered_json description = sgd::inspect::Describe(**file, options.parts);
  // Names in an artifact may be any bytes; those that are not UTF-8 are replaced.
  const std::string text =
      options.as_json ? description.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"
                      : sgd::inspect::DescriptionText(description, options.parts);
  return Print(text, true);
}

// Turns signals that would end this process into errors: pages of the file that are gone, a full disk behind standard
// output.
void EndByErrors(int argc, const char* const* argv) {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  sgd::process::LeaveWhenFilesShrink(argc, argv);
}

int InspectOrSayWhy(const Options& options) {
  const absl::StatusOr<int> code =
      sgd::artifact::WithMemoryFor(("a description of " + options.path).c_str(), [&] { return Inspect(options); });
  return code.ok() ? *code : SayWhy(code.status());
}

}  // namespace

int main(int argc, char** argv) {
  sgd::artifact::ReserveStandardDescriptors();
  EndByErrors(argc, argv);
  sgd::process::SetToolName("sgd-inspect");
  sgd::process::LeaveWhenOutOfMemory();
  const std::variant<Options, Leave> parsed = sgd::inspect::ParseOptions(argc, argv);
  if (const Leave* leave = std::get_if<Leave>(&parsed)) {
    std::fputs(leave->exit_code == 0 ? leave->text.c_str() : sgd::artifact::ShortMessage(leave->text).c_str(),
               leave->exit_code == 0 ? stdout : stderr);
    return leave->exit_code;
  }
  const Options& options = std::get<Options>(parsed);
  return InspectOrSayWhy(options);
}
