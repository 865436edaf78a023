// sgdc: files and printing around the compiler library. Exit codes: 0 done, 1 the input is at fault, 2 wrong usage.
#include "tools/sgdc/command.h"

#include <ctime>
#include <iostream>

#include "compiler/auto_sharding/auto_sharding.h"
#include "compiler/driver/end_by_errors.h"
#include "compiler/driver/list_ops.h"
#include "compiler/driver/plans.h"
#include "compiler/driver/write_weights.h"
#include "runtime/artifact/bundle.h"
#include "runtime/artifact/short_message.h"
#include "runtime/artifact/standard_descriptors.h"
#include "runtime/json/json_text.h"
#include "runtime/page/page.h"
#include "tools/sgdc/doctor.h"
#include "tools/sgdc/values.h"

namespace {

using mlir::failed;
using mlir::FailureOr;
using namespace mlir::sgd;

int usage(const std::string& message) {
  std::cerr << "sgdc: " << ::sgd::artifact::ShortMessage(message) << " (see sgdc --help)\n";
  return 2;
}

int listOps(const std::string& frontend) {
  std::vector<std::string> ops;
  std::string error;
  if (!take(listInputOps(frontend), ops, error)) return usage(error);
  for (const std::string& op : ops) std::cout << op << "\n";
  return 0;
}

/// Whether something is asked for.
bool checkHasOutput(const Flags& flags, std::string& error) {
  if (flags.output.empty() && flags.emit.empty() && flags.emitRequest.empty() && flags.report.empty() &&
      flags.explain.empty() && flags.html.empty() && flags.weights.empty() && !flags.autoRanks)
    error =
        "no output is asked for; expected -o FILE, --emit LEVEL, --emit-request FILE, --report, --explain, --html FILE "
        "or --weights FILE";
  return error.empty();
}

bool writeJson(const nlohmann::json& json, const std::string& path) {
  return succeeded(writeFile(path, ::sgd::json::WriteJson(json, 2) + "\n", llvm::errs()));
}

/// Prints a part of all compilations to standard output for "-", writes JSON to a file else.
template <typename T>
bool deliver(const CompiledPlans& compiled, T Compilation::* part, const std::string& path) {
  if (path.empty()) return true;
  if (path != "-") return writeJson(compiled.toJson(part), path);
  compiled.print(part, llvm::outs());
  return true;
}

bool deliver(const AutoChoice& choice, const std::string& path) {
  if (path.empty()) return true;
  if (path != "-") return writeJson(choice.toJson(), path);
  choice.print(llvm::outs());
  return true;
}

FailureOr<std::vector<ProgramSource>> read(const Flags& flags, Timings* timings) {
  Timings::Scope scope(timings, "read");
  // A cached compilation is found by all bytes of its programs.
  return readSources(flags.models, /*whole=*/!flags.cache.empty(), llvm::errs());
}

/// Sets the recipe that is found, and delivers what it was compared with. Beside IR on standard output there is no
/// table that was not asked for.
bool findRecipe(llvm::ArrayRef<ProgramSource> sources, const Flags& flags, CompileOptions& options, Timings* timings) {
  AutoOptions wanted;
  wanted.ranks = *flags.autoRanks;
  if (flags.autoEvaluations > 0) wanted.mostEvaluations = flags.autoEvaluations;
  FailureOr<AutoChoice> choice = chooseRecipe(sources, options, wanted, llvm::errs(), timings);
  if (failed(choice) || !deliver(*choice, flags.autoTable)) return false;
  if (!choice->search.best) {
    llvm::errs() << "sgdc: error: " << choice->getRefusal() << "\n";
    return false;
  }
  if (flags.emit.empty() && flags.autoTable != "-") choice->print(llvm::outs(), /*all=*/false);
  options = useRecipe(options, *choice, flags.autoRecipe.empty() ? "--auto" : flags.autoRecipe);
  return flags.autoRecipe.empty() || succeeded(writeFile(flags.autoRecipe, options.recipe, llvm::errs()));
}

/// Before work that takes long.
bool checkOutputs(const Flags& flags) {
  for (const std::string* path : {&flags.output, &flags.emitRequest, &flags.report, &flags.explain, &flags.autoTable,
                                  &flags.autoRecipe, &flags.html, &flags.weights})
    if (!path->empty() && *path != "-" && !(path == &flags.explain && *path == "all") &&
        failed(checkWritable(*path, llvm::errs())))
      return false;
  return true;
}

bool writePage(const CompiledPlans& compiled, const Flags& flags) {
  if (flags.html.empty()) return true;
  const std::string name = flags.output.empty() ? flags.models.front() : flags.output;
  auto fail = [](const absl::Status& status) {
    llvm::errs() << "sgdc: error: " << ::sgd::artifact::ShortMessage(std::string(status.message())) << "\n";
    return false;
  };
  absl::StatusOr<::sgd::artifact::Bundle> bundle = ::sgd::artifact::Bundle::FromBytes(compiled.artifact, name);
  if (!bundle.ok()) return fail(bundle.status());
  ::sgd::page::Plans plans;
  for (const ::sgd::artifact::Plan& plan : bundle->plans()) {
    auto loaded = bundle->Load({.name = plan.name});
    if (!loaded.ok()) return fail(loaded.status());
    plans.push_back(*std::move(loaded));
  }
  absl::StatusOr<std::string> page = ::sgd::page::WritePage(plans, {});
  return page.ok() ? succeeded(writeFile(flags.html, *page, llvm::errs())) : fail(page.status());
}

bool write(const CompiledPlans& compiled, const Flags& flags) {
  llvm::outs() << compiled.getEmitted();
  const std::string& request = compiled.plans.front().compilation.request;
  if (!flags.emitRequest.empty() && failed(writeFile(flags.emitRequest, request, llvm::errs()))) return false;
  if (!deliver(compiled, &Compilation::report, flags.report)) return false;
  if (flags.explain == "all")
    compiled.print(&Compilation::explanation, llvm::outs(), &ExplanationReport::printAll);
  else if (!deliver(compiled, &Compilation::explanation, flags.explain))
    return false;
  if (!writePage(compiled, flags)) return false;
  return flags.output.empty() || succeeded(writeFile(flags.output, compiled.artifact, llvm::errs()));
}

int run(const Flags& flags, std::vector<PlanRequest> plans, Timings* timings) {
  if (!checkOutputs(flags)) return 1;
  auto sources = read(flags, timings);
  if (failed(sources)) return 1;
  if (!flags.weights.empty() && failed(writeWeights(sources->front(), flags.weights, llvm::errs()))) return 1;
  if (failed(readRecipes(plans, llvm::errs()))) return 1;
  if (flags.autoRanks && !findRecipe(*sources, flags, plans.front().options, timings)) return 1;
  bool isWanted = !flags.output.empty() || !flags.emit.empty() || !flags.emitRequest.empty() || !flags.report.empty() ||
                  !flags.explain.empty() || !flags.html.empty();
  if (!isWanted) return 0;
  std::optional<CompileCache> cache;
  if (!flags.cache.empty()) cache = CompileCache{flags.cache, flags.cacheBytes};
  FailureOr<CompiledPlans> compiled = compilePlans(*sources, plans, cache, llvm::errs(), timings);
  if (failed(compiled)) return 1;
  Timings::Scope scope(timings, "write");
  return write(*compiled, flags) ? 0 : 1;
}

}  // namespace

int mlir::sgd::runCompilerCommand(int argc, char** argv) {
  ::sgd::artifact::ReserveStandardDescriptors();
  double startUp = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  endByErrors("sgdc");
  Flags flags;
  if (std::optional<::sgd::tools::Leave> leave = readFlags(argc, argv, flags)) {
    (leave->exit_code == 0 ? std::cout : std::cerr) << leave->text;
    return leave->exit_code;
  }
  std::string error;
  if (flags.isDoctor) return ::sgd::tools::Doctor(std::cout);
  if (!flags.listOps.empty()) return listOps(flags.listOps);
  std::vector<PlanRequest> plans;
  if (!readValues(flags, plans, error) || !checkHasOutput(flags, error)) return usage(error);
  Timings timings;
  timings.add("start-up", startUp);
  int code = run(flags, std::move(plans), flags.time ? &timings : nullptr);
  if (flags.time) timings.print(llvm::errs());
  endBy(code);
}
