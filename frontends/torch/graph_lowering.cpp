// Graph values do not alias: memory.h says which names a write reaches.
#include "frontends/torch/graph_lowering.h"

#include "passes/graph/functions/random_bits.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

/// Returns whether a target only asserts or hints.
static bool isIgnored(StringRef target) {
  return target.starts_with("aten._assert") || target.starts_with("aten.sym_") || target == "aten._guards_fn";
}

static bool hasGraphs(StringRef target) { return llvm::is_contained(getControlFlowTargets(), target); }

/// Returns whether a target writes to its operand `self`, as "add_.Tensor" does.
static bool writesToSelf(StringRef target) {
  StringRef name = target.split('.').second.split('.').first;
  return name.ends_with("_") && !name.ends_with("__") && name != "detach_" && !changesDims(target);
}

/// The tensor that an op like "add_" writes to.
static StringRef getWritten(const Node& node) {
  for (const auto& [name, argument] : node.arguments)
    if (name == "self" || name == "input")
      if (const auto* tensor = std::get_if<TensorName>(&argument)) return tensor->name;
  return "";
}

/// The names of tensors that a node reads.
static SmallVector<StringRef> getOperands(const Node& node) {
  SmallVector<StringRef> names;
  for (const auto& [name, argument] : node.arguments) {
    if (const auto* tensor = std::get_if<TensorName>(&argument)) names.push_back(tensor->name);
    if (const auto* list = std::get_if<std::vector<TensorName>>(&argument))
      for (const TensorName& one : *list)
        if (!one.name.empty()) names.push_back(one.name);
  }
  return names;
}

void mlir::sgd::torch::forEachNode(ArrayRef<Node> nodes, function_ref<void(const Node&)> visit) {
  for (const Node& node : nodes) {
    visit(node);
    for (const Graph& graph : node.graphs) forEachNode(graph.nodes, visit);
  }
}

GraphLowering::GraphLowering(func::FuncOp function, OpBuilder& builder, const ExportedProgram& program,
                             StringRef fileName, const ImportOptions& options)
    : function(function),
      builder(builder),
      program(program),
      fileName(fileName),
      options(options),
      memory(program, values) {
  for (const Output& output : program.outputs) used.insert(output.value);
  forEachNode(program.nodes, [&](const Node& node) {
    for (StringRef name : getOperands(node)) used.insert(name);
    for (const Graph& graph : node.graphs)
      for (const std::string& name : graph.outputs) used.insert(name);
  });
  scopes.push_back({[this](Value) -> Value {
    generatorArgument = this->function.getNumArguments();
    return addGenerator(this->function);
  }});
}

LogicalResult GraphLowering::run() {
  if (failed(checkOps())) return failure();
  for (const Node& node : program.nodes)
    if (failed(lower(node))) return failure();
  return success();
}

LogicalResult GraphLowering::refresh(StringRef name) {
  return memory.refresh(name, [&](const Node& view) { return compute(view, getLoc(view)); });
}

/// Returns the user's line, named after the module path and the op.
Location GraphLowering::getLoc(const Node& node) const {
  MLIRContext* context = builder.getContext();
  Location line = node.file.empty() ? Location(FileLineColLoc::get(context, fileName, 0, 0))
                                    : Location(FileLineColLoc::get(context, node.file, node.line, 1));
  std::string path = node.module + "/" + StringRef(node.target).split('.').second.split('.').first.str();
  std::replace(path.begin(), path.begin() + static_cast<ptrdiff_t>(node.module.size()), '.', '/');
  return NameLoc::get(builder.getStringAttr(path), line);
}

FailureOr<RankedTensorType> GraphLowering::getType(StringRef name, Location loc) const {
  auto found = program.tensors.find(name.str());
  Type element = found == program.tensors.end() ? Type() : getElementType(builder.getContext(), found->second.type);
  if (!element)
    return emitError(loc) << "'" << name
                          << "' has elements of a type that is not supported; expected floats of 16 to 64 bits, "
                             "integers of 8 to 64 bits "
                             "(without a sign only of 8), or booleans; convert it";
  if (!found->second.isKnown)
    return emitError(loc) << "'" << name
                          << "' has a size that is not known before the model runs; expected sizes of the inputs; "
                             "export the model without it";
  for (int64_t size : found->second.sizes)
    if (size < 0 || size > (int64_t{1} << 40))
      return emitError(loc) << "'" << name << "' has a size of " << size << "; expected a size that a tensor can have";
  return RankedTensorType::get(found->second.sizes, element);
}

LogicalResult GraphLowering::checkOps() {
  llvm::MapVector<StringRef, const Node*> unknown;
  forEachNode(program.nodes, [&](const Node& node) {
    if (!isIgnored(node.target) && !hasGraphs(node.target) && !findLowering(node.target))
      unknown.insert({node.target, &node});
  });
  for (auto [target, node] : unknown) {
    bool isExpanded = target.contains("predispatch");  // of vmap and associative_scan
    emitError(getLoc(*node)) << "'" << target << "' is not supported; "
                             << (isExpanded ? "export with run_decompositions(), which expands it"
                                            : "sgdc --list-ops torch lists the ops that are; write it by them");
  }
  return success(unknown.empty());
}

/// Checks that the tensors an op reads exist, and that the required ones are present.
LogicalResult GraphLowering::checkOperands(const Node& node, const AtenOp& op, Location loc) {
  const OpEntry& entry = *findLowering(node.target);
  for (StringRef name : entry.required)
    if (!op.tensor(name))
      return emitError(loc) << "'" << node.target << "' has no tensor '" << name
                            << "'; expected one; export the model anew";
  if (entry.required.empty()) return success();
  int64_t rank = tensorType(op.tensor(entry.required.front())).getRank();
  if (rank >= entry.leastRank) return success();
  return emitError(loc) << "'" << node.target << "' has '" << entry.required.front() << "' of " << rank
                        << " dimensions; expected at least " << entry.leastRank << "; export the model anew";
}

LogicalResult GraphLowering::lower(const Node& node) {
  if (isIgnored(node.target)) return success();
  Location loc = getLoc(node);
  for (const std::string& output : node.outputs)
    if (!output.empty() && values.contains(output))
      return emitError(loc) << "'" << node.target << "' computes '" << output
                            << "', which is the name of another value; export the model anew";
  if (failed(refreshOperands(node))) return failure();
  if (changesDims(node.target)) renamed.insert(getWritten(node));
  return hasGraphs(node.target) ? lowerControlFlow(node, loc) : lowerOp(node, loc);
}

LogicalResult GraphLowering::lowerOp(const Node& node, Location loc) {
  SmallVector<std::pair<std::string, Value>> writes;
  if (failed(compute(node, loc, &writes))) return failure();
  memory.note(node);
  TensorMath math(builder, loc);
  if (writesToSelf(node.target)) {
    // The result is the operand's own memory under another name.
    StringRef written = getWritten(node);
    if (failed(write(node, math, written, values.lookup(node.outputs.front())))) return failure();
    memory.noteSame(node.outputs.front(), written);
  }
  for (const auto& [name, value] : writes)
    if (failed(write(node, math, name, value))) return failure();
  return success();
}

LogicalResult GraphLowering::compute(const Node& node, Location loc,
                                     SmallVectorImpl<std::pair<std::string, Value>>* writes) {
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
  if (setEmptyOutputs(node, types, loc)) return success();
  auto drawBits = [&](TensorMath& math, RankedTensorType type) { return draw(math, type); };
  AtenOp op(program, node, values, types, builder, loc, drawBits);
  if (failed(checkOperands(node, op, loc)) || failed(findLowering(node.target)->lower(op))) return failure();
  for (auto [name, value, type] : llvm::zip(node.outputs, op.getResults(), types)) {
    if (name.empty() || (!value && !used.contains(name))) continue;
    if (!value || value.getType() != type)
      return emitError(loc) << "'" << node.target << "' gives "
                            << (value ? value.getType() : Type(NoneType::get(builder.getContext())))
                            << " where the archive has " << type
                            << "; this form of the op is not supported; rewrite it";
  }
  for (auto [name, value] : llvm::zip(node.outputs, op.getResults()))
    if (value && !name.empty()) values[name] = isUnsignedByte(name) ? cutToByte(value, loc) : value;
  if (writes) llvm::append_range(*writes, op.getWrites());
  return success();
}

/// Results without elements are constants, whatever the op does with sizes of 0.
bool GraphLowering::setEmptyOutputs(const Node& node, ArrayRef<RankedTensorType> types, Location loc) {
  auto hasElements = [](RankedTensorType type) { return type.getNumElements() != 0; };
  bool isOwn = getSharing(node, program).first == Sharing::Own && !writesToSelf(node.target);
  if (!isOwn || llvm::any_of(types, hasElements)) return false;
  for (auto [name, type] : llvm::zip(node.outputs, types))
    values[name] = arith::ConstantOp::create(builder, loc, cast<TypedAttr>(builder.getZeroAttr(type)));
  return true;
}

bool GraphLowering::isUnsignedByte(StringRef name) const {
  auto found = program.tensors.find(name.str());
  return found != program.tensors.end() && found->second.type == static_cast<int>(ScalarType::Byte);
}

/// Arithmetic in i16 may leave the range of bytes; ops that move elements do not.
Value GraphLowering::cutToByte(Value value, Location loc) {
  Operation* op = value.getDefiningOp();
  if (!op || op->hasTrait<MovesElements>()) return value;
  TensorMath math(builder, loc);
  return math.create<arith::AndIOp>(value, math.splat(tensorType(value), int64_t{255}));
}

Value GraphLowering::draw(TensorMath& math, RankedTensorType type) {
  RandomBits drawn = writeRandomBits(math, getGeneratorState(scopes.size() - 1), type, BitGeneratorKind::ThreeFry);
  scopes.back().generator = drawn.state;
  return drawn.bits;
}

Value GraphLowering::getGeneratorState(size_t scope) {
  if (!scopes[scope].generator) {
    Value outside = scope == 0 ? Value() : getGeneratorState(scope - 1);
    scopes[scope].generator = scopes[scope].addGeneratorArgument(outside);
  }
  return scopes[scope].generator;
}

LogicalResult GraphLowering::write(const Node& node, TensorMath& math, StringRef name, Value value) {
  if (graphInputs.contains(memory.getRoot(name)))
    return emitError(math.getLoc()) << "'" << node.target << "' writes to '" << name
                                    << "', a tensor from outside of a branch or loop; expected values that the branch "
                                       "or loop returns; return the new value";
  if (memory.isWritable(name) && succeeded(memory.write(math, name, value))) return success();
  return emitError(math.getLoc()) << "'" << node.target << "' writes to '" << name
                                  << "', which may share memory with a tensor in a way that is not supported; expected "
                                     "a tensor of its own, or a slice, transposition or reshape of one; use the op "
                                     "that does not write, or export with run_decompositions()";
}

/// Brings the tensors that a node reads up to date.
LogicalResult GraphLowering::refreshOperands(const Node& node) {
  for (StringRef name : getOperands(node)) {
    if (!values.contains(name) || renamed.contains(name))
      return emitError(getLoc(node)) << "'" << node.target << "' reads '" << name
                                     << "', which is no value of the program"
                                     << (renamed.contains(name) ? " since its dimensions have changed" : "")
                                     << "; export the model anew";
    if (failed(refresh(name))) return failure();
  }
  return success();
}
