// Flags around replay() of the driver.
#include "tools/sgd-opt/replay_command.h"

#include <CLI/CLI.hpp>

#include "compiler/driver/driver.h"
#include "runtime/json/json_text.h"
#include "runtime/text/text_file.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

struct Flags {
  bool replay = false;
  std::string request, output, report;
};

int replay(const Flags& flags) {
  ProgramSource request{"", flags.request, ""};
  if (std::optional<std::string> fault = ::sgd::text::ReadTextFile(flags.request, request.text)) {
    llvm::errs() << flags.request << ": error: cannot read: " << *fault << "\n";
    return 1;
  }
  FailureOr<Compilation> compilation = mlir::sgd::replay(request, llvm::errs());
  if (failed(compilation) || failed(writeFile(flags.output, compilation->artifact, llvm::errs()))) return 1;
  if (flags.report.empty()) return 0;
  std::string report = ::sgd::json::WriteJson(compilation->report.toJson(), 2) + "\n";
  return succeeded(writeFile(flags.report, report, llvm::errs())) ? 0 : 1;
}

}  // namespace

int mlir::sgd::replayCommand(int argc, char** argv) {
  CLI::App app("Goes on with a compilation from a file of sgdc --emit-request, to the artifact that sgdc writes.",
               "sgd-opt");
  Flags flags;
  app.add_flag("--replay", flags.replay, "This mode; all else is mlir-opt");
  app.add_option("REQUEST", flags.request, "File that sgdc --emit-request wrote")->required();
  app.add_option("-o", flags.output, "Write the artifact (.sgda) to FILE")->required()->type_name("FILE");
  app.add_option("--report", flags.report, "Write the report as JSON")->type_name("FILE.json");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return replay(flags);
}
