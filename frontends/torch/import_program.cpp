// Tensors have names; an op that writes to its operand rebinds the name.
#include "frontends/torch/import_program.h"

#include "dialects/sgd/input_attrs.h"
#include "dialects/sgd/roles.h"
#include "dialects/sgd/tensor_layout.h"
#include "frontends/torch/memory.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/graph/functions/random_bits.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

namespace {

/// Returns whether a target only asserts or hints.
bool isIgnored(StringRef target) {
  return target.starts_with("aten._assert") || target.starts_with("aten.sym_") || target == "aten._guards_fn";
}

/// Returns whether a target writes to its operand `self`, as "add_.Tensor" does.
bool writesToSelf(StringRef target) {
  StringRef name = target.split('.').second.split('.').first;
  return name.ends_with("_") && !name.ends_with("__");
}

class Importer {
 public:
  Importer(MLIRContext* context, const ExportedProgram& program, StringRef fileName, ReadMember readMember,
           ReadStart readStart)
      : context(context),
        program(program),
        fileName(fileName),
        readMember(readMember),
        readStart(readStart),
        builder(context),
        memory(program, values) {}

  OwningOpRef<ModuleOp> run() {
    Location loc = FileLineColLoc::get(context, fileName, 0, 0);
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    builder.setInsertionPointToEnd(module->getBody());
    function = func::FuncOp::create(builder, loc, "main", builder.getFunctionType({}, {}));
    Block* block = function.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    findUsed();
    if (failed(addArguments()) || failed(checkOps())) return nullptr;
    for (const Node& node : program.nodes)
      if (!isIgnored(node.target) && failed(lower(node))) return nullptr;
    // An archive that contradicts itself gives ops that do not fit.
    if (failed(checkConstants()) || failed(addResults()) || failed(verify(*module))) return nullptr;
    return module;
  }

 private:
  /// Returns the user's line, named after the module path and the op.
  Location getLoc(const Node& node) {
    Location line = node.file.empty() ? Location(FileLineColLoc::get(context, fileName, 0, 0))
                                      : Location(FileLineColLoc::get(context, node.file, node.line, 1));
    std::string path = node.module + "/" + StringRef(node.target).split('.').second.split('.').first.str();
    std::replace(path.begin(), path.begin() + static_cast<ptrdiff_t>(node.module.size()), '.', '/');
    return NameLoc::get(builder.getStringAttr(path), line);
  }

  FailureOr<RankedTensorType> getType(StringRef name, Location loc) {
    auto found = program.tensors.find(name.str());
    Type element = found == program.tensors.end() ? Type() : getElementType(context, found->second.type);
    if (!element)
      return emitError(loc) << "'" << name
                            << "' has elements of a type that is not supported; expected floats of 16 to 64 bits, "
                               "integers of 8 to 64 bits "
                               "(without a sign only of 8), or booleans; convert it";
    for (int64_t size : found->second.sizes)
      if (size < 0 || size > (int64_t{1} << 40))
        return emitError(loc) << "'" << name << "' has a size of " << size
                              << "; expected a size that a tensor can have";
    return RankedTensorType::get(found->second.sizes, element);
  }

  static Role getRole(Input::Kind kind, bool isTrained) {
    if (kind == Input::Kind::User) return Role::Input;
    return kind == Input::Kind::Parameter && isTrained ? Role::Parameter : Role::Buffer;
  }

  LogicalResult addArguments() {
    for (const Input& input : program.inputs) {
      if (!input.tied.empty()) {
        addAlias(input);
        continue;
      }
      unsigned position = function.getNumArguments();
      FailureOr<RankedTensorType> type = getType(input.value, function.getLoc());
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
      if (isUnsignedByte(input.value)) attributes.push_back(builder.getNamedAttr(kUnsignedAttr, builder.getUnitAttr()));
      if (failed(function.insertArgument(position, getOuterType(input.value, *type),
                                         builder.getDictionaryAttr(attributes), function.getLoc())))
        return failure();
      values[input.value] = readArgument(input.value, function.getArgument(position), *type);
      if (input.kind == Input::Kind::Parameter) parameters[input.name] = {input.value, position};
      if (input.kind == Input::Kind::Buffer) buffers[input.name] = {position, input.value, values[input.value]};
    }
    return success();
  }

  /// `input` is an earlier parameter under another name.
  void addAlias(const Input& input) {
    auto [value, position] = parameters.lookup(input.tied);
    values[input.value] = values.lookup(value);
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
    values[input.value] = arith::ConstantOp::create(builder, function.getLoc(), elements);
    constants.push_back({&input, values[input.value]});
    return success();
  }

  /// A constant that an op writes to would have to be state.
  LogicalResult checkConstants() {
    for (auto [input, value] : constants)
      if (values.lookup(input->value) != value)
        return emitError(function.getLoc())
               << "'" << input->name
               << "' is written to and is not part of the module's state_dict; expected a persistent "
                  "buffer; register it with persistent=True";
    return success();
  }

  /// Names all ops that are not supported, each once, before anything is lowered.
  LogicalResult checkOps() {
    llvm::MapVector<StringRef, const Node*> unknown;
    for (const Node& node : program.nodes)
      if (!isIgnored(node.target) && !findLowering(node.target)) unknown.insert({node.target, &node});
    for (auto [target, node] : unknown)
      emitError(getLoc(*node)) << "'" << target
                               << "' is not supported; sgdc --list-ops torch lists the ops that are; write it by them";
    return success(unknown.empty());
  }

  /// Checks that the tensors an op reads exist, and that the required ones are present.
  LogicalResult checkOperands(const Node& node, const AtenOp& op, Location loc) {
    for (const auto& [argument, value] : node.arguments) {
      SmallVector<StringRef> names;
      if (const auto* tensor = std::get_if<TensorName>(&value)) names.push_back(tensor->name);
      if (const auto* list = std::get_if<std::vector<TensorName>>(&value))
        for (const TensorName& one : *list)
          if (!one.name.empty()) names.push_back(one.name);
      for (StringRef name : names)
        if (!values.contains(name))
          return emitError(loc) << "'" << node.target << "' reads '" << name
                                << "', which is no value of the program; export the model anew";
    }
    for (StringRef name : findLowering(node.target)->required)
      if (!op.tensor(name))
        return emitError(loc) << "'" << node.target << "' has no tensor '" << name
                              << "'; expected one; export the model anew";
    const OpEntry& entry = *findLowering(node.target);
    if (entry.required.empty()) return success();
    int64_t rank = tensorType(op.tensor(entry.required.front())).getRank();
    if (rank >= entry.leastRank) return success();
    return emitError(loc) << "'" << node.target << "' has '" << entry.required.front() << "' of " << rank
                          << " dimensions; expected at least " << entry.leastRank << "; export the model anew";
  }

  LogicalResult lower(const Node& node) {
    Location loc = getLoc(node);
    for (const std::string& output : node.outputs)
      if (!output.empty() && values.contains(output))
        return emitError(loc) << "'" << node.target << "' computes '" << output
                              << "', which is the name of another value; export the model anew";
    if (failed(refreshOperands(node))) return failure();
    SmallVector<std::pair<std::string, Value>> writes;
    if (failed(compute(node, loc, &writes))) return failure();
    memory.note(node);
    TensorMath math(builder, loc);
    if (writesToSelf(node.target) && node.target != "aten.detach_.default") {
      // The result is the operand's own memory under another name.
      StringRef written = getWritten(node);
      if (failed(write(node, math, written, values.lookup(node.outputs.front())))) return failure();
      memory.noteSame(node.outputs.front(), written);
    }
    for (const auto& [name, value] : writes)
      if (failed(write(node, math, name, value))) return failure();
    return success();
  }

  void findUsed() {
    for (const Output& output : program.outputs) used.insert(output.value);
    for (const Node& node : program.nodes)
      for (const auto& [name, argument] : node.arguments) {
        if (const auto* tensor = std::get_if<TensorName>(&argument)) used.insert(tensor->name);
        if (const auto* list = std::get_if<std::vector<TensorName>>(&argument))
          for (const TensorName& one : *list)
            if (!one.name.empty()) used.insert(one.name);
      }
  }

  /// Lowers a node and sets the values of its outputs. `writes` receives what it writes to operands.
  LogicalResult compute(const Node& node, Location loc,
                        SmallVectorImpl<std::pair<std::string, Value>>* writes = nullptr) {
    SmallVector<RankedTensorType> types;
    for (const std::string& output : node.outputs) {
      // Of an output that is None nobody asks for the type.
      FailureOr<RankedTensorType> type =
          output.empty() ? RankedTensorType::get({}, builder.getI1Type()) : getType(output, loc);
      if (failed(type)) return failure();
      types.push_back(*type);
    }
    if (types.empty())
      return emitError(loc) << "'" << node.target << "' has no result, which is not supported; leave it out";
    auto drawBits = [&](TensorMath& math, RankedTensorType type) { return draw(math, type); };
    AtenOp op(program, node, values, types, builder, loc, drawBits);
    if (failed(checkOperands(node, op, loc)) || failed(findLowering(node.target)->lower(op))) return failure();
    for (auto [name, value, type] : llvm::zip(node.outputs, op.getResults(), types)) {
      if (name.empty() || (!value && !used.contains(name))) continue;
      if (!value || value.getType() != type)
        return emitError(loc) << "'" << node.target << "' gives "
                              << (value ? value.getType() : Type(NoneType::get(context))) << " where the archive has "
                              << type << "; this form of the op is not supported; rewrite it";
    }
    for (auto [name, value] : llvm::zip(node.outputs, op.getResults()))
      if (value && !name.empty()) values[name] = isUnsignedByte(name) ? cutToByte(value, loc) : value;
    if (writes) llvm::append_range(*writes, op.getWrites());
    return success();
  }

  // Unsigned bytes
  // ---------------------------------------------------------------------------------------------------------------

  bool isUnsignedByte(StringRef name) const {
    auto found = program.tensors.find(name.str());
    return found != program.tensors.end() && found->second.type == static_cast<int>(ScalarType::Byte);
  }

  /// Arithmetic in i16 may leave the range of bytes; ops that move elements do not.
  Value cutToByte(Value value, Location loc) {
    Operation* op = value.getDefiningOp();
    if (!op || op->hasTrait<MovesElements>()) return value;
    TensorMath math(builder, loc);
    return math.create<arith::AndIOp>(value, math.splat(tensorType(value), int64_t{255}));
  }

  /// The type that the program's arguments and results have.
  RankedTensorType getOuterType(StringRef name, RankedTensorType type) {
    return isUnsignedByte(name) ? type.clone(builder.getI8Type()) : type;
  }

  Value readArgument(StringRef name, BlockArgument argument, RankedTensorType type) {
    if (argument.getType() == type) return argument;
    return arith::ExtUIOp::create(builder, function.getLoc(), type, argument);
  }

  /// Draws from the program's generator, whose state is an argument and, advanced, a result.
  Value draw(TensorMath& math, RankedTensorType type) {
    if (!generator) {
      generatorArgument = function.getNumArguments();
      generator = addGenerator(function);
    }
    RandomBits drawn = writeRandomBits(math, generator, type, BitGeneratorKind::ThreeFry);
    generator = drawn.state;
    return drawn.bits;
  }

  // Writes to views
  // ---------------------------------------------------------------------------------------------------------------

  /// The tensor that an op like "add_" writes to.
  static StringRef getWritten(const Node& node) {
    for (const auto& [name, argument] : node.arguments)
      if (name == "self" || name == "input")
        if (const auto* tensor = std::get_if<TensorName>(&argument)) return tensor->name;
    return "";
  }

  LogicalResult write(const Node& node, TensorMath& math, StringRef name, Value value) {
    if (memory.isWritable(name) && succeeded(memory.write(math, name, value))) return success();
    return emitError(math.getLoc())
           << "'" << node.target << "' writes to '" << name
           << "', which may share memory with a tensor in a way that is not supported; expected "
              "a tensor of its own, or a slice, transposition or reshape of one; use the op that "
              "does not write, or export with run_decompositions()";
  }

  /// Brings the tensors that a node reads up to date.
  LogicalResult refreshOperands(const Node& node) {
    auto refresh = [&](StringRef name) {
      return memory.refresh(name, [&](const Node& view) { return compute(view, getLoc(view)); });
    };
    for (const auto& [name, argument] : node.arguments) {
      if (const auto* tensor = std::get_if<TensorName>(&argument); tensor && failed(refresh(tensor->name)))
        return failure();
      if (const auto* list = std::get_if<std::vector<TensorName>>(&argument))
        for (const TensorName& one : *list)
          if (failed(refresh(one.name))) return failure();
    }
    return success();
  }

  // Results
  // ---------------------------------------------------------------------------------------------------------------

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
      if (isUnsignedByte(source)) {
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
      auto recompute = [&](const Node& view) { return compute(view, getLoc(view)); };
      if (failed(memory.refresh(output.value, recompute))) return failure();
      Value value = values.lookup(output.value);
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
      if (Value value = values.lookup(buffer.value); !written.contains(name) && value != buffer.first)
        add(value, buffer.value, name, buffer.argument, false);
    if (generator) {
      add(generator, "", kGeneratorName, generatorArgument, false);
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
    for (const Node& node : program.nodes) {
      StringRef name = StringRef(node.target).split('.').second.split('.').first;
      bool isDropout = name == "dropout" || name == "dropout_" || name == "native_dropout";
      bool isNorm = name == "batch_norm" || name == "instance_norm";
      for (const auto& [argument, value] : node.arguments) {
        bool isMode =
            (isDropout && argument == "train") || (isNorm && (argument == "training" || argument == "use_input_stats"));
        const bool* trains = isMode ? std::get_if<bool>(&value) : nullptr;
        if (!trains || *trains) continue;
        std::string text = (node.module + " (" + name + ")").str();
        function->setAttr(kEvaluatesAttr, builder.getStringAttr(text));
        return;
      }
    }
  }

  MLIRContext* context;
  const ExportedProgram& program;
  StringRef fileName;
  ReadMember readMember;
  ReadStart readStart;
  OpBuilder builder;
  func::FuncOp function;
  AtenOp::Values values;
  Memory memory;
  llvm::StringSet<> used;  // names that ops read or that are outputs
  /// By name in the module, the name of the value and the position of the argument.
  llvm::StringMap<std::pair<std::string, unsigned>> parameters;
  std::map<std::string, Buffer> buffers;  // by name in the module, in a fixed order
  SmallVector<std::pair<const Input*, Value>> constants;
  Value generator;  // the state after the last draw; null: none
  unsigned generatorArgument = 0;
};

}  // namespace

OwningOpRef<ModuleOp> mlir::sgd::torch::importProgram(MLIRContext* context, const ExportedProgram& program,
                                                      StringRef fileName, ReadMember readMember, ReadStart readStart) {
  return Importer(context, program, fileName, readMember, readStart).run();
}
