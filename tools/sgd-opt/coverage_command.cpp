// Asks the registries themselves: the frontend's tables, the interface of sharding rules, the code generator and the
// evaluator, the last two by a sample of each op.
#include "tools/sgd-opt/coverage_command.h"

#include <map>
#include <set>

#include "compiler/driver.h"
#include "dialects/sgd/sharding_rule.h"
#include "frontends/stablehlo/import.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "mlir/Parser/Parser.h"
#include "reference/evaluate.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// What is known of an op of the graph level.
struct Entry {
  std::string along;  // how its dimensions may be sharded
  bool hasKernel = false, hasReference = false;
};

/// What the page calls a factor's kind.
StringRef getWord(FactorKind kind) {
  switch (kind) {
    case FactorKind::PassThrough:
      return "passes";
    case FactorKind::Reduction:
      return "reduces";
    case FactorKind::Permutation:
      return "exchanges";
    case FactorKind::NeedReplication:
      return "whole";
  }
  llvm_unreachable("all kinds are handled");
}

std::string describeRule(const ShardingRule& rule) {
  std::string text;
  for (FactorKind kind :
       {FactorKind::PassThrough, FactorKind::Reduction, FactorKind::Permutation, FactorKind::NeedReplication})
    if (llvm::any_of(rule.factors, [&](const Factor& factor) { return factor.kind == kind; }))
      text += (text.empty() ? "" : ", ") + getWord(kind).str();
  return text.empty() ? "passes" : text;
}

/// The function alone in a module, as the program `main`.
std::string getProgram(func::FuncOp function) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto copy = cast<func::FuncOp>(function->clone());
  copy.setSymName("main");
  copy->print(stream, OpPrintingFlags().useLocalScope());
  copy->destroy();
  return text;
}

bool compiles(func::FuncOp function) {
  std::string ignored;
  llvm::raw_string_ostream errors(ignored);
  CompileOptions options;
  options.threads = 1;
  options.cpu = "x86-64-v3";
  return succeeded(compile({{"main", "sample.mlir", getProgram(function)}}, options, errors));
}

bool evaluates(func::FuncOp function) {
  std::vector<reference::RankTensors> arguments;
  for (Type type : function.getArgumentTypes()) arguments.push_back({reference::Tensor(cast<RankedTensorType>(type))});
  ScopedDiagnosticHandler quiet(function.getContext(), [](Diagnostic&) { return success(); });
  return succeeded(reference::evaluate(function, std::move(arguments), 1));
}

/// The op called like the function.
ShardingRuleOpInterface findOp(func::FuncOp function) {
  ShardingRuleOpInterface found;
  for (Operation& op : function.front())
    if (op.getName().getStringRef() == function.getSymName()) found = dyn_cast<ShardingRuleOpInterface>(op);
  return found;
}

/// A function that holds op `name` on one to three tensors of one type, if it takes such; else null.
func::FuncOp makeSample(ModuleOp module, StringRef name) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic&) { return success(); });
  for (Type element : {Type(builder.getF32Type()), Type(builder.getI32Type())})
    for (unsigned count = 1; count <= 3; ++count) {
      Type type = RankedTensorType::get({8}, element);
      SmallVector<Type> types(count, type);
      auto function =
          func::FuncOp::create(builder, builder.getUnknownLoc(), name, builder.getFunctionType(types, type));
      OpBuilder inside = OpBuilder::atBlockEnd(function.addEntryBlock());
      OperationState state(builder.getUnknownLoc(), name, function.getArguments(), type);
      Operation* op = inside.create(state);
      if (succeeded(verify(op))) {
        func::ReturnOp::create(inside, builder.getUnknownLoc(), op->getResults());
        return function;
      }
      function.erase();
    }
  return {};
}

/// Ops that say how a value is sharded, and compute nothing.
bool isAnnotation(StringRef name) {
  return name == ReshardOp::getOperationName() || name == ShardingConstraintOp::getOperationName();
}

std::set<std::string> getOpsWithRules(MLIRContext& context) {
  std::set<std::string> names;
  for (RegisteredOperationName name : context.getRegisteredOperations())
    if (name.hasInterface<ShardingRuleOpInterface>() && !isAnnotation(name.getStringRef()))
      names.insert(name.getStringRef().str());
  return names;
}

void printInputOps(MLIRContext& context) {
  SmallVector<std::string> supported = getSupportedInputOps();
  struct Lists {
    std::set<std::string> read, refused;
  };
  std::map<std::string, Lists> dialects;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    StringRef dialect = name.getDialectNamespace(), op = name.stripDialect();
    if ((dialect != "stablehlo" && dialect != "chlo") || op == "return") continue;
    Lists& lists = dialects[dialect.str()];
    (llvm::is_contained(supported, name.getStringRef()) ? lists.read : lists.refused).insert(op.str());
  }
  llvm::outs() << "## Input\n\nOps of the input dialects. What is refused is named with its location and what to do "
                  "instead.\n\n| dialect | read | refused |\n|---|---|---|\n";
  for (const auto& [dialect, lists] : dialects)
    llvm::outs() << "| `" << dialect << "` | " << llvm::join(lists.read, ", ") << " | "
                 << llvm::join(lists.refused, ", ") << " |\n";
}

void printGraphOps(const std::map<std::string, Entry>& entries) {
  llvm::outs()
      << "\n## Graph level\n\nHow dimensions may be sharded, over a sample of each op: *passes*: each shard from the "
         "same "
         "shards; *reduces*: shards give\npartial results; *exchanges*: shards need parts of their neighbours; "
         "*whole*: "
         "brought together before. Then whether the op\ncan be compiled for CPU, and whether the reference evaluator "
         "knows it.\n\n| op | sharding | CPU | reference |\n|---|---|---|---|\n";
  for (const auto& [name, entry] : entries)
    llvm::outs() << "| `" << name << "` | " << entry.along << " | " << (entry.hasKernel ? "yes" : "no") << " | "
                 << (entry.hasReference ? "yes" : "no") << " |\n";
}

}  // namespace

int mlir::sgd::coverageCommand(int argc, char** argv, const DialectRegistry& registry) {
  if (argc != 3 || StringRef(argv[1]) != "--op-coverage") {
    llvm::errs() << "usage: sgd-opt --op-coverage SAMPLES.mlir\n";
    return 2;
  }
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module = parseSourceFile<ModuleOp>(argv[2], &context);
  if (!module) return 1;
  std::map<std::string, Entry> entries;
  for (const std::string& name : getOpsWithRules(context)) {
    auto function = module->lookupSymbol<func::FuncOp>(name);
    if (!function) function = makeSample(*module, name);
    ShardingRuleOpInterface op = function ? findOp(function) : ShardingRuleOpInterface();
    if (!op && StringRef(name).starts_with("sgd.")) {
      llvm::errs() << "sgd-opt: " << argv[2] << " needs a function @" << name << " that holds this op\n";
      return 1;
    }
    if (!op) continue;
    Entry entry{describeRule(op.getShardingRule()), compiles(function), evaluates(function)};
    // Ops of other dialects are many; those that nothing here makes are known to neither.
    if (entry.hasKernel || entry.hasReference) entries[name] = entry;
  }
  llvm::outs()
      << "# Operations\n\nWritten by `./dev docs` from the tables of the frontend, the sharding rules, the code "
         "generator and the reference evaluator.\n\n";
  printInputOps(context);
  printGraphOps(entries);
  return 0;
}
