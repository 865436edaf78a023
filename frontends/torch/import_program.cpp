// Arguments and results of the graph: the archive's parameters, buffers, inputs and outputs.
#include "frontends/torch/import_program.h"

#include "dialects/sgd/input_attrs.h"
#include "dialects/sgd/roles.h"
#include "dialects/sgd/tensor_layout.h"
#include "frontends/torch/graph_lowering.h"
#include "mlir/IR/Verifier.h"
#include "passes/graph/carry/carry_attrs.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

class Importer {
 public:
  Importer(MLIRContext* context, const ExportedProgram& program, StringRef fileName, ReadMember readMember,
           ReadStart readStart, const ImportOptions& options)
      : context(context),
        program(program),
        fileName(fileName),
        readMember(readMember),
        readStart(readStart),
        options(options),
        builder(context) {}

  OwningOpRef<ModuleOp> run() {
    Location loc = FileLineColLoc::get(context, fileName, 0, 0);
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    builder.setInsertionPointToEnd(module->getBody());
    function = func::FuncOp::create(builder, loc, "main", builder.getFunctionType({}, {}));
    Block* block = function.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    graph.emplace(function, builder, program, fileName, options);
    if (failed(addArguments()) || failed(graph->run())) return nullptr;
    // An archive that contradicts itself gives ops that do not fit.
    if (failed(checkConstants()) || failed(addResults()) || failed(verify(*module))) return nullptr;
    return module;
  }

 private:
  static Role getRole(Input::Kind kind, bool isTrained) {
    if (kind == Input::Kind::User) return Role::Input;
    return kind == Input::Kind::Parameter && isTrained ? Role::Parameter : Role::Buffer;
  }

  /// The type that the program's arguments and results have.
  RankedTensorType getOuterType(StringRef name, RankedTensorType type) {
    return graph->isUnsignedByte(name) ? type.clone(builder.getI8Type()) : type;
  }

  Value readArgument(BlockArgument argument, RankedTensorType type) {
    if (argument.getType() == type) return argument;
    return arith::ExtUIOp::create(builder, function.getLoc(), type, argument);
  }

  LogicalResult addArguments() {
    for (const Input& input : program.inputs) {
      if (!input.tied.empty()) {
        addAlias(input);
        continue;
      }
      unsigned position = function.getNumArguments();
      FailureOr<RankedTensorType> type = graph->getType(input.value, function.getLoc());
      if (failed(type)) return failure();
      if (input.kind == Input::Kind::Constant || (input.kind == Input::Kind::Buffer && !input.isPersistent)) {
        if (failed(addConstant(input, *type))) return failure();
        continue;
      }
      // Frozen parameters are state that no gradient changes.
      bool isTrained = program.tensors.at(input.value).requiresGrad;
      SmallVector<NamedAttribute> attributes = {
          builder.getNamedAttr(kNameAttr, builder.getStringAttr(input.name)),
          builder.getNamedAttr(kRoleAttr, RoleAttr::get(context, getRole(input.kind, isTrained)))};
      bool isDrawn = input.kind == Input::Kind::Parameter && isTrained;
      if (std::optional<std::string> values =
              input.stored ? describeValues(*input.stored, isDrawn, readStart) : std::nullopt)
        attributes.push_back(builder.getNamedAttr(kInitAttr, builder.getStringAttr(*values)));
      if (graph->isUnsignedByte(input.value))
        attributes.push_back(builder.getNamedAttr(kUnsignedAttr, builder.getUnitAttr()));
      if (failed(function.insertArgument(position, getOuterType(input.value, *type),
                                         builder.getDictionaryAttr(attributes), function.getLoc())))
        return failure();
      graph->values[input.value] = readArgument(function.getArgument(position), *type);
      if (input.kind == Input::Kind::Parameter) parameters[input.name] = {input.value, position};
      if (input.kind == Input::Kind::Buffer) buffers[input.name] = {position, input.value, graph->values[input.value]};
    }
    return success();
  }

  /// `input` is an earlier parameter under another name.
  void addAlias(const Input& input) {
    auto [value, position] = parameters.lookup(input.tied);
    graph->values[input.value] = graph->values.lookup(value);
    SmallVector<Attribute> names = {builder.getStringAttr(input.name)};
    if (auto known = function.getArgAttrOfType<ArrayAttr>(position, kAliasesAttr))
      names.insert(names.begin(), known.begin(), known.end());
    function.setArgAttr(position, kAliasesAttr, builder.getArrayAttr(names));
  }

  LogicalResult addConstant(const Input& input, RankedTensorType type) {
    llvm::Expected<std::string> bytes = readElements(*input.stored, readMember);
    if (!bytes) return emitError(function.getLoc()) << llvm::toString(bytes.takeError());
    RankedTensorType stored = getOuterType(input.value, type);
    if (static_cast<int64_t>(bytes->size()) != getByteSize(stored))
      return emitError(function.getLoc())
             << "the constant '" << input.name << "' has another type than the program gives it; export the model anew";
    DenseElementsAttr elements;
    if (type.getElementType().isInteger(1)) {
      SmallVector<bool> flags(bytes->begin(), bytes->end());
      elements = DenseElementsAttr::get(type, ArrayRef<bool>(flags));
    } else {
      elements = DenseElementsAttr::getFromRawBuffer(stored, ArrayRef<char>(bytes->data(), bytes->size()));
    }
    if (stored != type)
      elements = elements.mapValues(type.getElementType(), [](const APInt& number) { return number.zext(16); });
    graph->values[input.value] = arith::ConstantOp::create(builder, function.getLoc(), elements);
    constants.push_back({&input, graph->values[input.value]});
    return success();
  }

  /// A constant that an op writes to would have to be state.
  LogicalResult checkConstants() {
    for (auto [input, value] : constants)
      if (graph->values.lookup(input->value) != value)
        return emitError(function.getLoc())
               << "'" << input->name
               << "' is written to and is not part of the module's state_dict; expected a persistent "
                  "buffer; register it with persistent=True";
    return success();
  }

  struct Buffer {
    unsigned argument;
    std::string value;
    Value first;  // before writes
  };

  LogicalResult addResults() {
    SmallVector<Value> results;
    SmallVector<Attribute> attributes;
    auto add = [&](Value value, StringRef source, StringRef name, std::optional<unsigned> argument, bool isLoss) {
      SmallVector<NamedAttribute> own = {builder.getNamedAttr(kNameAttr, builder.getStringAttr(name))};
      if (graph->isUnsignedByte(source)) {
        own.push_back(builder.getNamedAttr(kUnsignedAttr, builder.getUnitAttr()));
        value = arith::TruncIOp::create(builder, function.getLoc(), getOuterType(source, tensorType(value)), value);
      }
      if (argument) {
        own.push_back(builder.getNamedAttr(kCarryAttr, builder.getI64IntegerAttr(*argument)));
        own.push_back(builder.getNamedAttr(kCarryBasisAttr, builder.getStringAttr("names")));
      }
      if (isLoss) own.push_back(builder.getNamedAttr(kRoleAttr, RoleAttr::get(context, Role::Loss)));
      results.push_back(value);
      attributes.push_back(builder.getDictionaryAttr(own));
    };
    llvm::StringSet<> written;
    for (const Output& output : program.outputs) {
      if (failed(graph->refresh(output.value))) return failure();
      Value value = graph->values.lookup(output.value);
      auto buffer = buffers.find(output.buffer);
      if (!value || (!output.buffer.empty() && buffer == buffers.end()))
        return emitError(function.getLoc())
               << "output '" << output.value << "' is no value of the program; export the model anew";
      if (output.buffer.empty())
        add(value, output.value, output.name.empty() ? output.value : output.name, std::nullopt, output.isLoss);
      else
        add(value, output.value, output.buffer, buffer->second.argument, false), written.insert(output.buffer);
    }
    // Buffers that ops have written to.
    for (const auto& [name, buffer] : buffers)
      if (Value value = graph->values.lookup(buffer.value); !written.contains(name) && value != buffer.first)
        add(value, buffer.value, name, buffer.argument, false);
    if (Value generator = graph->getGenerator()) {
      add(generator, "", kGeneratorName, graph->getGeneratorArgument(), false);
      NamedAttrList unsignedState(cast<DictionaryAttr>(attributes.back()));
      unsignedState.set(kUnsignedAttr, builder.getUnitAttr());
      attributes.back() = unsignedState.getDictionary(context);
    }
    func::ReturnOp::create(builder, function.getLoc(), results);
    function.setType(builder.getFunctionType(function.getArgumentTypes(), ValueRange(results).getTypes()));
    function.setResAttrsAttr(builder.getArrayAttr(attributes));
    function->setAttr(kCarryIsKnownAttr, builder.getUnitAttr());
    noteEvaluation();
    function->setAttr(kIndexTypeAttr, TypeAttr::get(builder.getI64Type()));
    return success();
  }

  /// Layers that were exported in eval() mode would be trained as they are.
  void noteEvaluation() {
    forEachNode(program.nodes, [&](const Node& node) {
      StringRef name = StringRef(node.target).split('.').second.split('.').first;
      bool isDropout = name == "dropout" || name == "dropout_" || name == "native_dropout";
      bool isNorm = name == "batch_norm" || name == "instance_norm";
      for (const auto& [argument, value] : node.arguments) {
        bool isMode =
            (isDropout && argument == "train") || (isNorm && (argument == "training" || argument == "use_input_stats"));
        const bool* trains = isMode ? std::get_if<bool>(&value) : nullptr;
        if (!trains || *trains || function->hasAttr(kEvaluatesAttr)) continue;
        function->setAttr(kEvaluatesAttr, builder.getStringAttr((node.module + " (" + name + ")").str()));
      }
    });
  }

  MLIRContext* context;
  const ExportedProgram& program;
  StringRef fileName;
  ReadMember readMember;
  ReadStart readStart;
  const ImportOptions& options;
  OpBuilder builder;
  func::FuncOp function;
  std::optional<GraphLowering> graph;
  /// By name in the module, the name of the value and the position of the argument.
  llvm::StringMap<std::pair<std::string, unsigned>> parameters;
  std::map<std::string, Buffer> buffers;  // by name in the module, in a fixed order
  SmallVector<std::pair<const Input*, Value>> constants;
};

}  // namespace

OwningOpRef<ModuleOp> mlir::sgd::torch::importProgram(MLIRContext* context, const ExportedProgram& program,
                                                      StringRef fileName, ReadMember readMember, ReadStart readStart,
                                                      const ImportOptions& options) {
  return Importer(context, program, fileName, readMember, readStart, options).run();
}
