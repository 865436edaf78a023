// Asks the registries themselves: the frontends' tables, the interface of sharding rules, the code generator and the
// evaluator, the last two by a sample of each op. The fuzzer prints its own list, which is read here.
#include "tools/sgd-opt/coverage_command.h"

#include <map>
#include <set>

#include "compiler/driver/driver.h"
#include "dialects/sgd/sharding_rule.h"
#include "frontends/frontends.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "reference/evaluate.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Coverage of an op of the graph level.
struct Entry {
  std::string along;        // how its dimensions may be sharded
  std::string partitioned;  // how many of how many may stay sharded
  bool hasKernel = false, hasReference = false;
};

/// The page's word for a factor's kind.
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

/// How many of the sample's dimensions, those that go together counted once, may stay sharded.
std::string countPartitioned(const ShardingRule& rule) {
  int64_t whole = llvm::count_if(rule.factors, [](const Factor& f) { return f.kind == FactorKind::NeedReplication; });
  int64_t all = rule.factors.size();
  return (Twine(all - whole) + " of " + Twine(all)).str();
}

/// By op, the families whose programs hold it: lines of a name, a tab, and names separated by commas.
using Families = std::map<std::string, std::string>;

std::optional<Families> readFamilies(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file) return std::nullopt;
  Families families;
  for (StringRef line : llvm::split((*file)->getBuffer(), '\n')) {
    auto [op, names] = line.split('\t');
    if (!names.empty()) families[op.str()] = names.str();
  }
  return families;
}

/// The first few of the families, and how many more there are.
std::string describeFamilies(const Families& families, StringRef op) {
  constexpr size_t kMost = 4;
  auto found = families.find(op.str());
  if (found == families.end()) return "no";
  SmallVector<StringRef> names;
  StringRef(found->second).split(names, ", ");
  std::string text = llvm::join(ArrayRef(names).take_front(kMost), ", ");
  if (names.size() > kMost) text += " and " + std::to_string(names.size() - kMost) + " more";
  return text;
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

void printInputOps(const InputOps& ops, const Families& families) {
  llvm::outs() << "\n| op | fuzzed |\n|---|---|\n";
  for (const std::string& name : ops.imported)
    llvm::outs() << "| `" << name << "` | " << describeFamilies(families, name) << " |\n";
  auto quote = [](const std::string& name) { return "`" + name + "`"; };
  if (!ops.refused.empty())
    llvm::outs() << "\nRefused, by name, with the location and what to do instead: "
                 << llvm::join(llvm::map_range(ops.refused, quote), ", ") << ".\n";
}

void printInputs(MLIRContext& context, const Families& families) {
  llvm::outs()
      << "## Input\n\nOps of the input dialects that are lowered, and the families of the fuzzer whose programs "
         "hold them.\n";
  for (const Frontend* frontend : getFrontends()) {
    InputOps ops = frontend->getInputOps(context);
    if (ops.imported.empty() && ops.refused.empty()) continue;
    llvm::outs() << "\n### " << frontend->getName() << "\n";
    printInputOps(ops, families);
  }
}

void printGraphOps(const std::map<std::string, Entry>& entries, const Families& families) {
  llvm::outs() << R"(
## Graph level

How dimensions may be sharded, over a sample of each op: *passes*: each shard from the same shards; *reduces*: shards give
partial results; *exchanges*: shards need parts of their neighbours; *whole*: brought together before. *partitioned* is how
many of the sample's dimensions stay sharded, those that go together counted once. Then whether the op has a kernel for
CPU, whether the reference evaluator knows it, and the families of the fuzzer whose programs hold it.

| op | sharding rule | partitioned | CPU kernel | reference | fuzzed |
|---|---|---|---|---|---|
)";
  for (const auto& [name, entry] : entries)
    llvm::outs() << "| `" << name << "` | " << entry.along << " | " << entry.partitioned << " | "
                 << (entry.hasKernel ? "yes" : "no") << " | " << (entry.hasReference ? "yes" : "no") << " | "
                 << describeFamilies(families, name) << " |\n";
}

}  // namespace

int mlir::sgd::coverageCommand(int argc, char** argv, const DialectRegistry& registry) {
  if (argc != 4 || StringRef(argv[1]) != "--op-coverage") {
    llvm::errs() << "usage: sgd-opt --op-coverage SAMPLES.mlir FAMILIES\n";
    return 2;
  }
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module = parseSourceFile<ModuleOp>(argv[2], &context);
  if (!module) return 1;
  std::optional<Families> families = readFamilies(argv[3]);
  if (!families) {
    llvm::errs() << "sgd-opt: cannot read " << argv[3] << "\n";
    return 1;
  }
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
    ShardingRule rule = op.getShardingRule();
    Entry entry{describeRule(rule), countPartitioned(rule), compiles(function), evaluates(function)};
    // Ops of other dialects are many; those that nothing here makes are known to neither.
    if (entry.hasKernel || entry.hasReference) entries[name] = entry;
  }
  llvm::outs()
      << "# Operations\n\nWritten by `./dev docs` from the tables of the frontends, the sharding rules, the code "
         "generator, the reference evaluator and the fuzzer.\n\n";
  printInputs(context, *families);
  printGraphOps(entries, *families);
  return 0;
}
