// A refusal ends a check; whatever fails after the program was accepted is an error.
#include "tests/differential/check.h"

#include <cstdlib>
#include <random>

#include "compiler/driver/driver.h"
#include "compiler/driver/programs.h"
#include "compiler/driver/registration.h"
#include "dialects/sgd/stages.h"
#include "mlir/Parser/Parser.h"
#include "passes/spmd/partition/passes.h"
#include "reference/pipeline.h"
#include "tests/differential/expected_results.h"
#include "tests/differential/inputs.h"
#include "tests/differential/ranks.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::differential;
using reference::RankTensors;
using reference::Tensor;

namespace {

constexpr const char* kFileName = "program.mlir";

/// A function of the SPMD level, how its arguments and results are cut, and the ranks that run it: all, or those of a
/// stage.
class LocalProgram {
 public:
  LocalProgram(func::FuncOp function, MeshAttr mesh, int64_t firstRank = 0)
      : function(function), mesh(mesh), firstRank(firstRank) {}

  /// Of all ranks of `module`.
  static std::vector<LocalProgram> find(ModuleOp module) {
    MeshAttr mesh = getMesh(module).getMesh();
    if (!getActiveStageAxis(getMesh(module))) return {{module.lookupSymbol<func::FuncOp>("main"), mesh}};
    auto ofStage = MeshAttr::get(module.getContext(), mesh.getAxes().drop_front());
    std::vector<LocalProgram> programs;
    for (auto function : module.getOps<func::FuncOp>())
      programs.emplace_back(function, ofStage, *getStage(function) * ofStage.getNumRanks());
    return programs;
  }

  /// The arguments that its ranks have, as shards.
  std::vector<RankTensors> cutInputs(const std::vector<Tensor>& inputs) { return cutInputs(inputs, mesh); }

  /// The same for `mesh`, of which it may be one stage.
  std::vector<RankTensors> cutInputs(const std::vector<Tensor>& inputs, MeshAttr mesh) {
    std::vector<RankTensors> shards;
    for (unsigned index = 0; index < function.getNumArguments(); ++index) {
      DictionaryAttr attributes = function.getArgAttrDict(index);
      shards.push_back(reference::cut(inputs[getArgumentPosition(index)],
                                      reference::ShardLayout(attributes, function.getArgumentTypes()[index]), mesh,
                                      reference::Padding::Poison));
    }
    return shards;
  }

  reference::ShardLayout getResultLayout(unsigned index) {
    return reference::ShardLayout(function.getResultAttrDict(index), function.getResultTypes()[index]);
  }
  /// Which argument of the whole program argument `index` is.
  unsigned getArgumentPosition(unsigned index) { return getPosition(function.getArgAttrDict(index), index); }
  unsigned getResultPosition(unsigned index) { return getPosition(function.getResultAttrDict(index), index); }
  int64_t getRanks() { return mesh.getNumRanks(); }

  func::FuncOp function;
  MeshAttr mesh;
  int64_t firstRank;

 private:
  static unsigned getPosition(DictionaryAttr attributes, unsigned index) {
    auto position = attributes ? attributes.getAs<IntegerAttr>(kPositionAttr) : IntegerAttr();
    return position ? static_cast<unsigned>(position.getInt()) : index;
  }
};

std::string toBytes(const Tensor& tensor) {
  std::string bytes(getByteSize(tensor.type), '\0');
  tensor.toBytes({bytes.data(), bytes.size()});
  return bytes;
}

/// The program as if nobody had asked for any sharding: what one rank computes.
void dropShardings(ModuleOp module, func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    function.removeArgAttr(i, kShardingAttr);
    function.removeArgAttr(i, kStageAttr);
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    function.removeResultAttr(i, StringAttr::get(module.getContext(), kShardingAttr));
  module.walk([](ShardingConstraintOp constraint) {
    constraint.replaceAllUsesWith(constraint.getInput());
    constraint.erase();
  });
  if (MeshOp mesh = getMesh(module)) mesh.erase();
}

/// Messages that say that the compiler contradicts itself: no refusal that a user could act on.
bool isInternal(StringRef message) {
  static constexpr StringLiteral signs[] = {"please report",
                                            "must be alone in its kernel",
                                            "does not fit in dimension",
                                            "do not fit one assignment",
                                            "is not valid",
                                            "reshard it before",
                                            "operands and results that disagree",
                                            "requires the same encoding",
                                            "run sgd-",
                                            "failed to verify",
                                            "error: 'fusion.matmul'",
                                            "error: 'fusion.cluster'",
                                            "error: 'plan."};
  return llvm::any_of(signs, [&](StringRef sign) { return message.contains(sign); });
}

class Check {
 public:
  Check(const std::string& text, const CheckOptions& options)
      : text(text),
        options(options),
        context(getRegistry(), MLIRContext::Threading::DISABLED),
        handler(&context, [this](Diagnostic& diagnostic) { messages += diagnostic.str() + "\n"; }) {}

  CheckResult run() {
    Compilation compilation;
    if (!compile(text, compilation, /*mayRefuse=*/true)) return result;
    result.report = compilation.report;
    // The bytes of each run of a collective are rounded down.
    uint64_t rounding = 0;
    for (const CollectiveReport& one : result.report.collectives) rounding += one.count;
    if (result.report.lowerBound.bytes > result.report.sentBytes + rounding) {
      fail("sends " + Twine(result.report.sentBytes) + " bytes, less than the lower bound of " +
           Twine(result.report.lowerBound.bytes));
      return result;
    }
    if (!isSmall()) return result;
    if (expect() && checkSpmd(compilation) && checkArtifact(compilation, local, Sums::InParts) && options.onOneRank)
      checkOnOneRank();
    return result;
  }

 private:
  static DialectRegistry getRegistry() {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }

  bool fail(const Twine& what) {
    result.verdict = Verdict::Differs;
    result.message = (what + (messages.empty() ? "" : ": ") + messages).str();
    return false;
  }

  bool compile(const std::string& program, Compilation& compilation, bool mayRefuse) {
    std::string errors;
    llvm::raw_string_ostream stream(errors);
    CompileOptions compileOptions;
    compileOptions.emit = EmitLevel::Spmd;
    compileOptions.threads = 1;
    compileOptions.target = options.target;
    compileOptions.topology = options.topology;
    auto compiled = mlir::sgd::compile({{"main", kFileName, program}}, compileOptions, stream);
    if (succeeded(compiled)) {
      compilation = std::move(*compiled);
      return true;
    }
    result.verdict = mayRefuse && !isInternal(errors) ? Verdict::Refused : Verdict::Differs;
    result.message = StringRef(errors).trim().str();
    return false;
  }

  /// Whether the reference can evaluate it in a moment, and ranks fit in this process.
  bool isSmall() {
    constexpr int64_t kMostElements = 1 << 20, kMostRanks = 64;
    // As for this target: what is lowered on import for GPUs, Fourier transforms to matmuls, is not there for one rank
    // either.
    PlanOptions load;
    load.target = options.target;
    graph = loadProgram(&context, {"main", kFileName, text}, getImportOptions(load), nullptr);
    if (!graph) return fail("the program was compiled but does not load");
    if (MeshOp mesh = getMesh(*graph)) {
      MeshAxisAttr stages = getStageAxis(mesh);
      if (mesh.getMesh().getNumRanks() * (stages ? stages.getSize() : 1) > kMostRanks) return false;
    }
    auto isLarge = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape() && tensor.getNumElements() > kMostElements;
    };
    WalkResult walk = graph->walk([&](Operation* op) {
      bool stops = llvm::any_of(op->getOperandTypes(), isLarge) || llvm::any_of(op->getResultTypes(), isLarge);
      return stops ? WalkResult::interrupt() : WalkResult::advance();
    });
    return !walk.wasInterrupted();
  }

  bool expect() {
    auto function = graph->lookupSymbol<func::FuncOp>("main");
    inputs = makeInputs(function, InputDirectives::parse(text));
    auto created = ExpectedResults::create(function, inputs);
    if (failed(created)) return fail("no reference");
    expectation.emplace(std::move(*created));
    return true;
  }

  bool checkSpmd(const Compilation& compilation) {
    spmd = parseSourceString<ModuleOp>(compilation.emitted, &context);
    if (!spmd) return fail("the SPMD level's text does not parse");
    local = LocalProgram::find(*spmd);
    if (getActiveStageAxis(getMesh(*spmd))) return checkStages(getMesh(*spmd).getMesh());
    LocalProgram& program = local.front();
    auto results = reference::evaluate(program.function, program.cutInputs(inputs), program.getRanks());
    if (failed(results)) return fail("no reference at the SPMD level");
    return compare(*results, program, Sums::InParts, "the SPMD level");
  }

  /// Checks the functions of all stages, which send each other messages; `mesh` has the axis of stages.
  bool checkStages(MeshAttr mesh) {
    std::vector<func::FuncOp> functions;
    std::vector<std::vector<RankTensors>> arguments;
    for (LocalProgram& program : local) {
      functions.push_back(program.function);
      arguments.push_back(program.cutInputs(inputs, mesh));
    }
    auto results = reference::evaluatePipeline(functions, std::move(arguments), mesh.getNumRanks());
    if (failed(results)) return fail("no reference of the stages");
    for (auto [program, ofStage] : llvm::zip(local, *results)) {
      // What ranks of other stages computed means nothing.
      for (RankTensors& shards : ofStage) {
        auto begin = shards.begin() + program.firstRank;
        shards = RankTensors(begin, begin + program.getRanks());
      }
      if (!compare(ofStage, program, Sums::InParts, "the SPMD level")) return false;
    }
    return true;
  }

  bool checkArtifact(const Compilation& compilation, std::vector<LocalProgram>& programs, Sums sums) {
    std::vector<RankBytes> bytes;
    for (LocalProgram& program : programs) {
      // What a rank has not is empty.
      bytes.resize(std::max<size_t>(bytes.size(), program.firstRank + program.getRanks()), RankBytes(inputs.size()));
      for (auto [index, shards] : llvm::enumerate(program.cutInputs(inputs)))
        for (auto [rank, shard] : llvm::enumerate(shards))
          bytes[program.firstRank + rank][program.getArgumentPosition(index)] = toBytes(shard);
    }
    auto outputs =
        runOnRanks(compilation.artifact, bytes, {.threads = options.threads, .isEmulated = options.target != "cpu"});
    if (!outputs.ok()) return fail(outputs.status().ToString());
    if (options.onHosts && bytes.size() > 1 && !checkOnHosts(compilation, bytes, *outputs)) return false;
    for (LocalProgram& program : programs) {
      std::vector<RankTensors> results;
      for (auto [index, type] : llvm::enumerate(program.function.getResultTypes())) {
        RankTensors& tensors = results.emplace_back();
        for (int64_t rank = 0; rank < program.getRanks(); ++rank) {
          const std::string& shard = (*outputs)[program.firstRank + rank][program.getResultPosition(index)];
          tensors.push_back(Tensor::fromBytes(cast<RankedTensorType>(type), {shard.data(), shard.size()}));
        }
      }
      if (!compare(results, program, sums, bytes.size() == 1 ? "the artifact of one rank" : "the artifact"))
        return false;
    }
    return true;
  }

  /// The same bits with ranks dealt out to several hosts, by the program's text.
  bool checkOnHosts(const Compilation& compilation, const std::vector<RankBytes>& bytes,
                    const std::vector<RankBytes>& expected) {
    std::mt19937 random(static_cast<uint32_t>(std::hash<std::string>{}(text)));
    RunOptions onHosts;
    onHosts.threads = options.threads;
    const uint32_t hosts = 2 + random() % 3;
    for (size_t rank = 0; rank < bytes.size(); ++rank) onHosts.hosts.push_back(random() % hosts);
    auto outputs = runOnRanks(compilation.artifact, bytes, onHosts);
    if (!outputs.ok()) return fail("on several hosts: " + outputs.status().ToString());
    return *outputs == expected || fail("other bits on several hosts than on one");
  }

  /// A manual region's body is written for the ranks of its mesh: it means nothing without them.
  bool hasManualRegion() {
    return graph->walk([](ManualComputationOp) { return WalkResult::interrupt(); }).wasInterrupted();
  }

  void checkOnOneRank() {
    if (hasManualRegion()) return;
    OwningOpRef<ModuleOp> whole = graph->clone();
    dropShardings(*whole, whole->lookupSymbol<func::FuncOp>("main"));
    std::string program;
    llvm::raw_string_ostream(program) << *whole;
    Compilation compilation;
    if (!compile(program, compilation, /*mayRefuse=*/false)) {
      result.message = "refused without shardings only: " + result.message;
      return;
    }
    OwningOpRef<ModuleOp> parsed = parseSourceString<ModuleOp>(compilation.emitted, &context);
    if (!parsed) return void(fail("the SPMD level's text of one rank does not parse"));
    std::vector<LocalProgram> onOne = LocalProgram::find(*parsed);
    checkArtifact(compilation, onOne, Sums::Whole);
  }

  bool compare(const std::vector<RankTensors>& results, LocalProgram& program, Sums sums, StringRef what) {
    for (auto [index, shards] : llvm::enumerate(results)) {
      unsigned position = program.getResultPosition(index);
      auto error = expectation->findError(position, shards, program.getResultLayout(index), program.mesh, sums);
      if (error) return fail(what + ", result " + Twine(position) + ", " + *error);
    }
    return true;
  }

  const std::string& text;
  const CheckOptions& options;
  MLIRContext context;
  std::string messages;
  ScopedDiagnosticHandler handler;
  OwningOpRef<ModuleOp> graph, spmd;
  std::vector<Tensor> inputs;
  std::optional<ExpectedResults> expectation;
  std::vector<LocalProgram> local;
  CheckResult result;
};

}  // namespace

std::string CheckOptions::getDefaultTarget() {
  const char* target = std::getenv("SGD_CHECK_TARGET");
  return target ? target : "cpu";
}

bool CheckOptions::getDefaultOnHosts() { return std::getenv("SGD_CHECK_HOSTS") != nullptr; }

std::string CheckOptions::getDefaultTopology() {
  const char* topology = std::getenv("SGD_CHECK_TOPOLOGY");
  return topology ? topology : "";
}

CheckResult differential::check(const std::string& text, const CheckOptions& options) {
  return Check(text, options).run();
}
