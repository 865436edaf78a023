// sgd-inspect: prints what an artifact holds, as text or JSON.
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/artifact/file_mapping.h"
#include "runtime/artifact/out_of_memory.h"
#include "runtime/artifact/reader.h"
#include "runtime/comm/leave.h"
#include "tools/sgd-inspect/check_streams.h"
#include "tools/sgd-inspect/describe.h"
#include "tools/sgd-inspect/module_text.h"
#include "tools/sgd-inspect/text.h"

namespace {

constexpr char kAbout[] =
    "Shows what a compiled artifact (.sgda) holds: mesh, memory, programs with their inputs and "
    "outputs, collectives.\n"
    "Without flags a summary. All sizes are bytes, of one rank.";

// Exit code 3: the artifact can be read, but its instructions could get in each other's way.
int Print(const std::string& text, bool is_clean) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return is_clean ? 0 : 3;
  std::perror("sgd-inspect: cannot write to standard output");
  return 1;
}

// The kernels' text for one GPU architecture.
int PrintModule(const sgd::artifact::ArtifactFile& file, const std::string& architecture) {
  absl::StatusOr<std::string> text = sgd::inspect::ModuleText(file, architecture);
  if (text.ok()) return Print(*text, true);
  std::fprintf(stderr, "sgd-inspect: %s\n", std::string(text.status().message()).c_str());
  return 1;
}

// What is printed instead of a description.
struct Instead {
  bool check_streams = false;
  std::string module;  // architecture; empty: not asked for
};

absl::StatusOr<int> Inspect(const std::string& path, const sgd::inspect::Parts& parts, bool as_json,
                            const Instead& instead) {
  absl::StatusOr<std::unique_ptr<sgd::artifact::ArtifactFile>> file = sgd::artifact::ArtifactFile::Open(path);
  if (!file.ok()) return file.status();
  if (!instead.module.empty()) return PrintModule(**file, instead.module);
  if (instead.check_streams) {
    const sgd::inspect::StreamsReport report = sgd::inspect::CheckStreams(**file);
    return Print(report.text, report.is_clean);
  }
  const nlohmann::ordered_json description = sgd::inspect::Describe(**file, parts);
  // Names in an artifact may be any bytes; those that are not UTF-8 are replaced.
  const std::string text =
      as_json ? description.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"
              : sgd::inspect::DescriptionText(description, parts);
  return Print(text, true);
}

// What would end this process by a signal ends it by an error: the file's pages that have gone, a file that standard
// output may not fill further.
void EndByErrors() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  sgd::artifact::LeaveWhenFilesShrink();
}

int InspectOrSayWhy(const std::string& path, const sgd::inspect::Parts& parts, bool as_json, const Instead& instead) {
  const sgd::comm::LeaveAction leave([](const absl::Status& cause) {
    const std::string line = absl::StrCat("sgd-inspect: ", cause.message(), "\n");
    if (write(STDERR_FILENO, line.data(), line.size()) < 0) _exit(1);
    _exit(1);
  });
  const absl::StatusOr<int> code = sgd::artifact::WithMemoryFor(("a description of " + path).c_str(),
                                                                [&] { return Inspect(path, parts, as_json, instead); });
  if (code.ok()) return *code;
  std::fprintf(stderr, "sgd-inspect: %s\n", std::string(code.status().message()).c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  EndByErrors();
  std::string path;
  sgd::inspect::Parts parts;
  bool as_json = false;
  Instead instead;
  CLI::App app{kAbout, "sgd-inspect"};
  app.add_option("artifact", path, "The artifact, made by sgdc")->required()->option_text("ARTIFACT");
  app.add_flag("--json", as_json, "JSON instead of text");
  app.add_flag("--program", parts.program, "Inputs, outputs and every instruction");
  app.add_flag("--memory", parts.memory, "Every slice of memory: what lies there and when it is used");
  app.add_flag("--collectives", parts.collectives, "Every collective with its tensors and bytes");
  app.add_flag("--kernels", parts.kernels,
               "Every kernel: how often it is launched, how it is dealt out to threads, its work, ops and source line");
  app.add_flag("--explain", parts.explain, "Why each collective is there");
  app.add_flag("--check-streams", instead.check_streams,
               "Instead: whether instructions that may run at the same time leave each other's memory alone, on a "
               "device with streams and "
               "on threads of a host; exit code 3 when not")
      ->excludes("--json");
  app.add_option("--module", instead.module, "Instead: the kernels for a GPU architecture of the artifact, as PTX")
      ->excludes("--json")
      ->excludes("--check-streams")
      ->option_text("ARCH");
  app.set_version_flag("--version", std::string("sgd-inspect ") + SGD_VERSION, "Print the version");
  app.set_help_flag("-h,--help", "Print this text");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return 0;
  } catch (const CLI::CallForVersion& version) {
    std::puts(version.what());
    return 0;
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "sgd-inspect: %s (see sgd-inspect --help)\n", error.what());
    return 2;
  }
  return InspectOrSayWhy(path, parts, as_json, instead);
}
