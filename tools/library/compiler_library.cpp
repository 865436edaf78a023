// Flags and plans are those of sgdc; results are kept instead of written.
#include "tools/library/compiler_library.h"

#include <mutex>
#include <optional>
#include <utility>

#include "compiler/auto_sharding/auto_sharding.h"
#include "compiler/driver/list_ops.h"
#include "compiler/driver/plans.h"
#include "llvm/ADT/STLExtras.h"
#include "runtime/artifact/short_message.h"
#include "runtime/json/json_text.h"
#include "tools/sgd-sim/command.h"
#include "tools/sgdc/command.h"
#include "tools/sgdc/values.h"

namespace {

using mlir::failed;
using mlir::FailureOr;
using namespace mlir::sgd;
using ::sgd::compiler::CompileRequest;
using ::sgd::compiler::CompileResult;
using ::sgd::compiler::ListedOps;

CompileResult refuse(int code, std::string messages) {
  CompileResult result;
  result.code = code;
  result.messages = std::move(messages);
  return result;
}

CompileResult refuseUsage(const std::string& message) {
  return refuse(2, "sgdc: " + ::sgd::artifact::ShortMessage(message) + "\n");
}

/// Flags that name files are the command's alone.
std::string findFileFlag(const Flags& flags) {
  for (auto [name, value] :
       {std::pair("-o", &flags.output), std::pair("--report", &flags.report), std::pair("--explain", &flags.explain),
        std::pair("--emit-request", &flags.emitRequest), std::pair("--auto-recipe", &flags.autoRecipe),
        std::pair("--auto-table", &flags.autoTable), std::pair("--html", &flags.html),
        std::pair("--weights", &flags.weights), std::pair("--list-ops", &flags.listOps)})
    if (!value->empty()) return name;
  return flags.isDoctor ? "--doctor" : "";
}

/// Sets the recipes that the request has, and reads the others.
bool readAllRecipes(const CompileRequest& request, std::vector<PlanRequest>& plans, llvm::raw_ostream& errors) {
  for (PlanRequest& plan : plans) {
    auto given = llvm::find_if(request.recipes, [&](const ::sgd::compiler::RecipeText& recipe) {
      return recipe.name == plan.options.recipeFile;
    });
    if (given != request.recipes.end())
      plan.options.recipe = given->text;
    else if (failed(readRecipes(llvm::MutableArrayRef(plan), errors)))
      return false;
  }
  return true;
}

/// As --auto of sgdc, whose table is not printed.
bool findRecipe(llvm::ArrayRef<ProgramSource> sources, const Flags& flags, CompileOptions& options,
                CompileResult& result, llvm::raw_ostream& errors) {
  AutoOptions wanted;
  wanted.ranks = *flags.autoRanks;
  if (flags.autoEvaluations > 0) wanted.mostEvaluations = flags.autoEvaluations;
  FailureOr<AutoChoice> choice = chooseRecipe(sources, options, wanted, errors, nullptr);
  if (failed(choice)) return false;
  if (!choice->search.best) {
    errors << "sgdc: error: " << choice->getRefusal() << "\n";
    return false;
  }
  options = useRecipe(options, *choice, "--auto");
  result.recipe = options.recipe;
  return true;
}

template <typename T>
std::string getText(const CompiledPlans& compiled, T Compilation::* part) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  compiled.print(part, stream);
  return text;
}

::sgd::compiler::Metrics getMetrics(const Report& report) {
  const MemoryReport& memory = report.memory;
  return {static_cast<double>(report.flops),
          memory.arguments,
          memory.outputs,
          memory.aliased,
          memory.temporaries,
          memory.peak};
}

void fill(CompiledPlans compiled, bool isDescribed, CompileResult& result) {
  result.artifact = std::move(compiled.artifact);
  result.emitted = compiled.getEmitted();
  if (result.artifact.empty()) return;
  result.metrics = getMetrics(compiled.plans.front().compilation.report);
  if (!isDescribed) return;
  result.report = ::sgd::json::WriteJson(compiled.toJson(&Compilation::report), 2);
  result.explanation = ::sgd::json::WriteJson(compiled.toJson(&Compilation::explanation), 2);
  result.report_text = getText(compiled, &Compilation::report);
  result.explanation_text = getText(compiled, &Compilation::explanation);
}

bool compileAll(const CompileRequest& request, const Flags& flags, std::vector<PlanRequest> plans,
                CompileResult& result, llvm::raw_ostream& errors) {
  std::vector<ProgramSource> sources;
  for (const ::sgd::compiler::Program& program : request.programs)
    sources.push_back({program.name, program.file_name, program.text});
  if (!readAllRecipes(request, plans, errors)) return false;
  if (flags.autoRanks && !findRecipe(sources, flags, plans.front().options, result, errors)) return false;
  std::optional<CompileCache> cache;
  if (!flags.cache.empty()) cache = CompileCache{flags.cache, flags.cacheBytes};
  FailureOr<CompiledPlans> compiled = compilePlans(sources, plans, cache, errors);
  if (failed(compiled)) return false;
  fill(std::move(*compiled), request.is_described, result);
  return true;
}

/// A request's flags, read.
struct ReadRequest {
  Flags flags;
  std::vector<PlanRequest> plans;
};

/// Nothing where `refusal` says what is wrong.
std::optional<ReadRequest> readRequest(const CompileRequest& request, CompileResult& refusal) {
  std::vector<const char*> arguments = {"sgdc"};
  for (const std::string& flag : request.flags) arguments.push_back(flag.c_str());
  for (const ::sgd::compiler::Program& program : request.programs) arguments.push_back(program.file_name.c_str());
  ReadRequest read;
  std::string error;
  if (auto leave = readFlags(static_cast<int>(arguments.size()), arguments.data(), read.flags))
    refusal = refuse(2, leave->text);
  else if (read.flags.models.size() != request.programs.size())
    refusal = refuseUsage("expected flags as --NAME=VALUE, and a value stands by itself");
  else if (std::string name = findFileFlag(read.flags); !name.empty())
    refusal = refuseUsage(name + " is for the command; its result is returned");
  else if (!readValues(read.flags, read.plans, error))
    refusal = refuseUsage(error);
  else
    return read;
  return std::nullopt;
}

/// Likewise. Flags of the request before are not read again: the parser takes longer than a small program.
std::optional<ReadRequest> readRequestOnce(const CompileRequest& request, CompileResult& refusal) {
  static std::mutex mutex;
  static std::optional<std::pair<std::vector<std::string>, ReadRequest>> last;
  {
    const std::lock_guard lock(mutex);
    if (last && last->first == request.flags) return last->second;
  }
  std::optional<ReadRequest> read = readRequest(request, refusal);
  const std::lock_guard lock(mutex);
  if (read) last = std::pair(request.flags, *read);
  return read;
}

CompileResult compileRequest(const CompileRequest& request) {
  CompileResult result;
  std::optional<ReadRequest> read = readRequestOnce(request, result);
  if (!read) return result;
  for (PlanRequest& plan : read->plans) plan.options.omitsDescription = !request.is_described;
  std::string messages;
  llvm::raw_string_ostream errors(messages);
  if (!compileAll(request, read->flags, std::move(read->plans), result, errors)) return refuse(1, messages);
  result.messages = std::move(messages);
  return result;
}

}  // namespace

CompileResult sgd::compiler::Compile(const CompileRequest& request) { return compileRequest(request); }

ListedOps sgd::compiler::ListOps(const std::string& frontend) {
  ListedOps listed;
  std::string error;
  if (take(listInputOps(frontend), listed.ops, error)) return listed;
  return {2, "sgdc: " + ::sgd::artifact::ShortMessage(error) + "\n", {}};
}

std::string sgd::compiler::Version() { return SGD_VERSION; }

int sgd::compiler::RunCompilerCommand(int argc, char** argv) { return runCompilerCommand(argc, argv); }

int sgd::compiler::RunSimulatorCommand(int argc, char** argv) { return runSimulatorCommand(argc, argv); }
