// Tensors are global in files, as for sgdrun. A function of the SPMD level says in attributes of its arguments and
// results how they are cut; it is evaluated for all ranks of the mesh.
#include "tools/sgd-opt/evaluate_command.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>

#include "dialects/sgd/complex_pairs.h"
#include "dialects/sgd/stages.h"
#include "frontends/text/text_limits.h"
#include "llvm/Support/MemoryBuffer.h"
#include "mlir/Parser/Parser.h"
#include "passes/spmd/partition/passes.h"
#include "reference/evaluate.h"
#include "reference/pipeline.h"
#include "runtime/artifact/element_type.h"
#include "runtime/data/safetensors.h"
#include "runtime/data/tensor_file_writer.h"

using namespace mlir;
using namespace mlir::sgd;
using reference::RankTensors;

namespace {

struct Flags {
  std::string module, function = "main", inputs, outputs;
  bool evaluate = false;
};

int fail(const std::string& message) {
  std::cerr << "sgd-opt: " << message << "\n";
  return 1;
}

/// An argument or result as the user sees it.
struct GlobalTensor {
  RankedTensorType type;
  reference::ShardLayout layout{ShardingAttr()};  // whole at the graph level
  bool isUnsigned = false;
  bool isComplex = false;  // pairs along a last dimension, which files do not have

  /// `attributes` is null where there are none.
  GlobalTensor(Type local, DictionaryAttr attributes) : type(dyn_cast<RankedTensorType>(local)) {
    if (!attributes) return;
    // Before localisation types are global whatever the sharding says.
    if (auto global = attributes.getAs<TypeAttr>(kGlobalTypeAttr)) {
      type = cast<RankedTensorType>(global.getValue());
      layout = reference::ShardLayout(attributes, local);
    }
    isUnsigned = attributes.contains(kUnsignedAttr);
    isComplex = attributes.contains(kComplexAttr);
  }

  /// Nullopt for a type that tensor files do not have.
  std::optional<::sgd::artifact::ElementType> getElement() const {
    if (!type) return std::nullopt;
    if (isComplex) return ::sgd::artifact::ElementType::C64;
    Type element = type.getElementType();
    if (element.isInteger(1)) return ::sgd::artifact::ElementType::Bool;
    std::string name;
    llvm::raw_string_ostream stream(name);
    element.print(stream);
    if (isUnsigned && name.starts_with("i")) name[0] = 'u';
    return ::sgd::artifact::ElementFromName(name);
  }

  ::sgd::data::Dims getFileDims() const {
    ArrayRef<int64_t> shape = type.getShape().drop_back(isComplex ? 1 : 0);
    return {shape.begin(), shape.end()};
  }
};

/// The number in the name of an argument or result: its position in the whole program, which stages may share.
unsigned getPosition(DictionaryAttr attributes, unsigned index) {
  auto position = attributes ? attributes.getAs<IntegerAttr>(kPositionAttr) : IntegerAttr();
  return position ? static_cast<unsigned>(position.getInt()) : index;
}

/// The tensor of an input file under the argument's position or its name.
const ::sgd::data::TensorEntry* find(const ::sgd::data::SafetensorsFile& file, func::FuncOp function,
                                     unsigned argument) {
  unsigned position = getPosition(function.getArgAttrDict(argument), argument);
  if (const auto* entry = file.Find("arg" + std::to_string(position))) return entry;
  auto name = function.getArgAttrOfType<StringAttr>(argument, kNameAttr);
  return name ? file.Find(std::string_view(name.getValue())) : nullptr;
}

/// One function, or those of all stages of a program.
class Evaluation {
 public:
  Evaluation(ArrayRef<func::FuncOp> functions, MeshAttr mesh, bool hasStages)
      : functions(functions), mesh(mesh), hasStages(hasStages) {}

  int run(const Flags& flags) {
    std::vector<std::vector<RankTensors>> arguments(functions.size());
    for (auto [function, own] : llvm::zip(functions, arguments))
      if (int code = readArguments(flags.inputs, function, own)) return code;
    const int64_t ranks = getRanks() ? mesh.getNumRanks() : 1;
    if (hasStages) {
      auto results = reference::evaluatePipeline(functions, std::move(arguments), ranks);
      return failed(results) ? 1 : writeResults(flags.outputs, *results);
    }
    auto results = reference::evaluate(functions.front(), std::move(arguments.front()), ranks);
    return failed(results) ? 1 : writeResults(flags.outputs, {std::move(*results)});
  }

 private:
  int readArguments(const std::string& path, func::FuncOp function, std::vector<RankTensors>& arguments) {
    if (path.empty() && function.getNumArguments() > 0)
      return fail("the function has arguments; expected their values; give --inputs FILE");
    if (path.empty()) return 0;
    auto file = ::sgd::data::SafetensorsFile::Open(path);
    if (!file.ok()) return fail(std::string(file.status().message()));
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      GlobalTensor argument(function.getArgumentTypes()[i], function.getArgAttrDict(i));
      const unsigned position = getPosition(function.getArgAttrDict(i), i);
      const ::sgd::data::TensorEntry* entry = find(*file, function, i);
      if (!entry)
        return fail(path + ": no tensor 'arg" + std::to_string(position) +
                    "' nor one with the argument's name; expected one of them; add it to the file");
      auto element = argument.getElement();
      if (!element || ::sgd::data::DimsAs(*entry, *element) != argument.getFileDims())
        return fail(path + ": '" + entry->name + "' is " + ::sgd::data::TypeText(entry->element, entry->dims) +
                    ", which is not the type of argument " + std::to_string(position));
      auto bytes = file->Bytes(*entry);
      auto global =
          reference::Tensor::fromBytes(argument.type, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      arguments.push_back(reference::cut(global, argument.layout, getRanks()));
    }
    return 0;
  }

  /// A result that is written under one number: of several stages that have it, the first one's, or the rows of all.
  struct Result {
    GlobalTensor global;
    std::vector<std::pair<reference::ShardLayout, RankTensors>> parts;
  };

  int writeResults(const std::string& path, const std::vector<std::vector<RankTensors>>& results) {
    std::map<unsigned, Result> all;
    for (auto [stage, one] : llvm::enumerate(functions)) {
      func::FuncOp function = one;
      for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
        DictionaryAttr attributes = function.getResultAttrDict(i);
        GlobalTensor global(type, attributes);
        Result& result = all.try_emplace(getPosition(attributes, i), Result{global, {}}).first->second;
        if (result.parts.empty() || global.layout.rows)
          result.parts.emplace_back(global.layout, ofStage(stage, results[stage][i]));
      }
    }
    std::vector<::sgd::data::TensorSpec> specs;
    for (const auto& [position, result] : all) {
      auto element = result.global.getElement();
      if (!element)
        return fail("result " + std::to_string(position) +
                    " has a type that tensor files do not have; expected an integer or float of 8 to 64 bits; convert "
                    "it in the program");
      specs.push_back({"result" + std::to_string(position), *element, result.global.getFileDims()});
    }
    auto writer = ::sgd::data::TensorFileWriter::Create(path, specs);
    if (!writer.ok()) return fail(std::string(writer.status().message()));
    size_t next = 0;
    for (const auto& [position, result] : all) {
      auto bytes = writer->Bytes(next++);
      reference::Tensor whole(result.global.type);
      for (const auto& [layout, shards] : result.parts) reference::put(shards, whole, layout, getRanks());
      whole.toBytes({reinterpret_cast<char*>(bytes.data()), bytes.size()});
    }
    absl::Status status = writer->Commit();
    return status.ok() ? 0 : fail(std::string(status.message()));
  }

  /// Expands the tensors of the ranks of `stage` to the ranks of all stages.
  RankTensors ofStage(size_t stage, const RankTensors& tensors) const {
    if (!hasStages) return tensors;
    const size_t ofOne = tensors.size() / functions.size();
    RankTensors own;
    for (size_t rank = 0; rank < tensors.size(); ++rank) own.push_back(tensors[stage * ofOne + rank % ofOne]);
    return own;
  }

  /// The mesh whose ranks are evaluated: none at the graph level, where one rank stands for all.
  MeshAttr getRanks() {
    if (hasStages) return mesh;
    func::FuncOp function = functions.front();
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (function.getArgAttr(i, kGlobalTypeAttr)) return mesh;
    return nullptr;
  }

  ArrayRef<func::FuncOp> functions;
  MeshAttr mesh;
  bool hasStages;
};

/// The functions of the stages of `program`, by stage; error texts go to `fail`.
std::optional<std::vector<func::FuncOp>> getStages(ModuleOp module, StringRef program, int64_t stages) {
  std::vector<func::FuncOp> functions(stages);
  for (auto function : module.getOps<func::FuncOp>()) {
    std::optional<int64_t> stage = getStage(function);
    bool isOther = function->hasAttr(kProgramAttr) && getProgramName(function) != program;
    if (!stage || isOther || *stage < 0 || *stage >= stages) continue;
    if (functions[*stage]) return std::nullopt;
    functions[*stage] = function;
  }
  return llvm::all_of(functions, [](func::FuncOp function) { return function; }) ? std::optional(functions)
                                                                                 : std::nullopt;
}

int evaluate(const Flags& flags, const DialectRegistry& registry) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  if (!isSafeToParse(flags.module)) return 1;
  auto module = parseSourceFile<ModuleOp>(flags.module, &context);
  if (!module) return 1;
  MeshOp mesh = getMesh(*module);
  if (MeshAxisAttr axis = getActiveStageAxis(mesh)) {
    auto stages = getStages(*module, flags.function, axis.getSize());
    if (!stages)
      return fail(flags.module + ": program '" + flags.function + "' has not one function for each of " +
                  std::to_string(axis.getSize()) + " stages; choose a program with --function");
    return Evaluation(*stages, mesh.getMesh(), /*hasStages=*/true).run(flags);
  }
  auto function = module->lookupSymbol<func::FuncOp>(flags.function);
  if (!function) return fail(flags.module + ": no function @" + flags.function + "; choose one with --function");
  return Evaluation(function, mesh ? mesh.getMesh() : MeshAttr(), /*hasStages=*/false).run(flags);
}

}  // namespace

bool mlir::sgd::isSafeToParse(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  std::optional<TextFault> fault = buffer ? findTextFault((*buffer)->getBuffer()) : std::nullopt;
  if (!fault) return true;
  const size_t line = (*buffer)->getBuffer().take_front(fault->position).count('\n') + 1;
  fail(path.str() + ":" + std::to_string(line) + ": " + fault->message);
  return false;
}

int mlir::sgd::evaluateCommand(int argc, char** argv, const DialectRegistry& registry) {
  CLI::App app("Evaluates a function of the graph or SPMD level in double precision, op by op, for all ranks at once.",
               "sgd-opt");
  Flags flags;
  app.add_flag("--evaluate", flags.evaluate, "This mode; all else is mlir-opt");
  app.add_option("MODULE", flags.module, "Text of the graph or SPMD level (sgdc MODEL --emit graph)")->required();
  app.add_option("--function", flags.function, "Function, or program of several stages, to evaluate (default main)")
      ->type_name("NAME");
  app.add_option("--inputs", flags.inputs, "Global tensors arg0, arg1, ... or by the model's names")->type_name("FILE");
  app.add_option("--outputs", flags.outputs, "Where result0, result1, ... go")->required()->type_name("FILE");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return evaluate(flags, registry);
}
