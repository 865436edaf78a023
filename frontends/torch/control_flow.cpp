// torch.cond, while_loop, scan and map: branches and loops of the graph level. Their graphs read nothing but their
// inputs, and regions of the graph level do not either.
#include "frontends/torch/graph_lowering.h"

#include "mlir/IR/Matchers.h"
#include "passes/graph/loops/edit_loop.h"
#include "passes/graph/loops/trip_count.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::torch;

static constexpr StringRef kCond = "higher_order.cond", kWhile = "higher_order.while_loop", kScan = "higher_order.scan",
                           kMap = "higher_order.map_impl";

ArrayRef<StringRef> mlir::sgd::torch::getControlFlowTargets() {
  static constexpr StringRef kAll[] = {kCond, kMap, kScan, kWhile};
  return kAll;
}

static InFlightDiagnostic reportMismatch(const Node& node, Location loc) {
  return emitError(loc) << "'" << node.target << "' has graphs that do not fit its operands; export the model anew";
}

/// Returns whether making `value` anew costs nothing.
static bool isSmallConstant(Value value) {
  constexpr int64_t kFewElements = 16;
  DenseElementsAttr constant;
  return matchPattern(value, m_Constant(&constant)) &&
         (constant.isSplat() || constant.getNumElements() <= kFewElements);
}

static bool isBoolean(Value value) {
  RankedTensorType type = tensorType(value);
  return type.getNumElements() == 1 && type.getElementType().isInteger(1);
}

/// The tensors that become arguments of a region which reads `tensors`: all but constants that are made inside anew.
static SmallVector<Value> getVariables(ArrayRef<Value> tensors) {
  return llvm::to_vector(llvm::make_filter_range(tensors, std::not_fn(isSmallConstant)));
}

/// The values inside of a region of `tensors`, of which getVariables are `arguments`.
static SmallVector<Value> createInside(OpBuilder& builder, ArrayRef<Value> tensors, ArrayRef<BlockArgument> arguments) {
  SmallVector<Value> inside;
  for (Value tensor : tensors) {
    if (isSmallConstant(tensor)) {
      inside.push_back(builder.clone(*tensor.getDefiningOp())->getResult(0));
    } else {
      inside.push_back(arguments.front());
      arguments = arguments.drop_front();
    }
  }
  return inside;
}

FailureOr<SmallVector<Value>> GraphLowering::getTensors(const Node& node, StringRef argument, Location loc) const {
  const Argument* found = node.find(argument);
  const auto* names = found ? std::get_if<std::vector<TensorName>>(found) : nullptr;
  SmallVector<Value> tensors;
  if (names)
    for (const TensorName& one : *names) tensors.push_back(values.lookup(one.name));
  if (names && llvm::all_of(tensors, [](Value tensor) { return tensor != nullptr; })) return tensors;
  return emitError(loc) << "'" << node.target
                        << "' has an operand that is no tensor; expected tensors alone; pass numbers as tensors";
}

LogicalResult GraphLowering::lowerGraph(const Node& node, const Graph& graph, ValueRange inputs,
                                        SmallVectorImpl<Value>& outputs, Location loc) {
  if (graph.inputs.size() != inputs.size()) return reportMismatch(node, loc);
  for (auto [name, value] : llvm::zip(graph.inputs, inputs)) {
    if (name.empty())
      return emitError(loc) << "'" << node.target
                            << "' reads a number from outside; expected tensors alone; pass numbers as tensors";
    FailureOr<RankedTensorType> type = getType(name, loc);
    if (failed(type)) return failure();
    if (*type != value.getType() || values.contains(name)) return reportMismatch(node, loc);
    values[name] = value;
    graphInputs.insert(name);
  }
  for (const Node& inner : graph.nodes)
    if (failed(lower(inner))) return failure();
  for (const std::string& name : graph.outputs) {
    if (failed(refresh(name))) return failure();
    outputs.push_back(values.lookup(name));
    if (!outputs.back()) return reportMismatch(node, loc);
  }
  for (const std::string& name : graph.inputs) values.erase(name);
  for (const Node& inner : graph.nodes)
    for (const std::string& name : inner.outputs) values.erase(name);
  return success();
}

LogicalResult GraphLowering::setOutputs(const Node& node, ValueRange results, Location loc) {
  if (results.size() != node.outputs.size()) return reportMismatch(node, loc);
  for (auto [name, value] : llvm::zip(node.outputs, results)) {
    if (name.empty()) continue;
    FailureOr<RankedTensorType> type = getType(name, loc);
    if (failed(type)) return failure();
    if (*type != value.getType()) return reportMismatch(node, loc);
    values[name] = value;
  }
  return success();
}

FailureOr<GraphLowering::Lowered> GraphLowering::lowerRegion(const Node& node, const Graph& graph, Block& block,
                                                             function_ref<SmallVector<Value>()> createInputs,
                                                             llvm::unique_function<Value(Value)> addGeneratorArgument,
                                                             Location loc) {
  OpBuilder::InsertionGuard guard(builder);
  if (block.mightHaveTerminator())
    builder.setInsertionPoint(block.getTerminator());
  else
    builder.setInsertionPointToEnd(&block);
  scopes.push_back({std::move(addGeneratorArgument)});
  Lowered lowered;
  LogicalResult result = lowerGraph(node, graph, createInputs(), lowered.values, loc);
  lowered.generator = scopes.back().generator;
  scopes.pop_back();
  if (failed(result)) return failure();
  return lowered;
}

LogicalResult GraphLowering::lowerControlFlow(const Node& node, Location loc) {
  size_t graphs = node.target == kCond || node.target == kWhile ? 2 : 1;
  if (node.graphs.size() != graphs) return reportMismatch(node, loc);
  if (node.target == kCond) return lowerCond(node, loc);
  return node.target == kWhile ? lowerWhile(node, loc) : lowerScan(node, loc);
}

// Branches
// -----------------------------------------------------------------------------------------------------------------

LogicalResult GraphLowering::lowerCond(const Node& node, Location loc) {
  FailureOr<SmallVector<Value>> operands = getTensors(node, "operands", loc);
  if (failed(operands)) return failure();
  const Argument* predicate = node.find("predicate");
  if (const auto* known = predicate ? std::get_if<bool>(predicate) : nullptr) {
    SmallVector<Value> results;
    if (failed(lowerGraph(node, node.graphs[*known ? 0 : 1], *operands, results, loc))) return failure();
    return setOutputs(node, results, loc);
  }
  const auto* name = predicate ? std::get_if<TensorName>(predicate) : nullptr;
  if (!name)
    return emitError(loc) << "'" << node.target
                          << "' has a predicate that is not known; expected a tensor or sizes of the inputs; compute "
                             "it as a tensor";
  Value chosen = values.lookup(name->name);
  TensorMath math(builder, loc);
  if (!isBoolean(chosen))
    return emitError(loc) << "'" << node.target << "' has a predicate of type " << chosen.getType()
                          << "; expected one boolean; reduce it";
  Value index = math.create<arith::ExtUIOp>(RankedTensorType::get({}, builder.getI32Type()), math.reshape(chosen, {}));
  return lowerBranches(node, index, *operands, loc);
}

LogicalResult GraphLowering::lowerBranches(const Node& node, Value index, ArrayRef<Value> operands, Location loc) {
  // Branch 0 is for false.
  const Graph* graphs[] = {&node.graphs[1], &node.graphs[0]};
  SmallVector<Value> inputs = getVariables(operands);
  auto branches = CaseOp::create(builder, loc, TypeRange(), index, inputs, std::size(graphs));
  for (Region& branch : branches.getBranches())
    branch.emplaceBlock().addArguments(TypeRange(inputs), SmallVector<Location>(inputs.size(), loc));
  // All branches have the state as an argument if one of them draws.
  Type state;
  auto addGeneratorArgument = [&](Value outside) -> Value {
    if (!state) {
      branches.getInputsMutable().append(outside);
      for (Region& branch : branches.getBranches()) branch.addArgument(outside.getType(), loc);
    }
    state = outside.getType();
    return builder.getInsertionBlock()->getArguments().back();
  };
  SmallVector<Lowered> results;
  for (auto [graph, branch] : llvm::zip(graphs, branches.getBranches())) {
    auto createInputs = [&] { return createInside(builder, operands, branch.getArguments()); };
    FailureOr<Lowered> lowered = lowerRegion(node, *graph, branch.front(), createInputs, addGeneratorArgument, loc);
    if (failed(lowered)) return failure();
    results.push_back(*lowered);
  }
  SmallVector<Type> types(ValueRange(results.front().values).getTypes());
  for (auto [branch, lowered] : llvm::zip(branches.getBranches(), results)) {
    if (TypeRange(ValueRange(lowered.values)) != TypeRange(types)) return reportMismatch(node, loc);
    if (state) lowered.values.push_back(lowered.generator ? lowered.generator : Value(branch.getArguments().back()));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(&branch.front());
    YieldOp::create(builder, loc, lowered.values);
  }
  if (state) types.push_back(state);
  auto typed = CaseOp::create(builder, loc, types, index, branches.getInputs(), std::size(graphs));
  for (auto [from, to] : llvm::zip(branches.getBranches(), typed.getBranches())) to.takeBody(from);
  branches.erase();
  if (state) scopes.back().generator = typed.getResults().back();
  return setOutputs(node, typed.getResults().drop_back(state ? 1 : 0), loc);
}

// Loops
// -----------------------------------------------------------------------------------------------------------------

/// A loop whose body leaves all iter_args as they are. The state of a generator may become one of them.
struct GraphLowering::Loop {
  Loop(OpBuilder& builder, Location loc, ValueRange inits, std::optional<int64_t> trips)
      : op(WhileOp::create(builder, loc, inits, trips,
                           [](OpBuilder&, ValueRange arguments) { return SmallVector<Value>(arguments); })) {}

  Block& getBody() { return op.getBody().front(); }

  Value addGeneratorArgument(Value outside, Block& block) {
    op = addInvariants(op, outside);
    auto argument = block.getArguments().back();
    generator = argument.getArgNumber();
    return argument;
  }

  WhileOp op;
  std::optional<unsigned> generator;  // the iter_arg that is the state
};

/// Returns whether a loop of known trips carries tensors with as many rows of more than a number.
static bool hasStackedValues(WhileOp loop) {
  return llvm::any_of(loop.getInits().getTypes(), [&](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return tensor.getRank() >= 2 && tensor.getDimSize(0) == static_cast<int64_t>(*loop.getTrips());
  });
}

SmallVector<Value> GraphLowering::finishLoop(Loop& loop) {
  SmallVector<Value> results(loop.op.getResults());
  std::optional<uint64_t> trips = loop.op.getTrips();
  bool isKept = !trips || (options.keepsLayerLoops && hasStackedValues(loop.op));
  int64_t ops = 0;
  loop.getBody().walk([&](Operation*) { ++ops; });
  if (!isKept && static_cast<int64_t>(*trips) <= getMostUnrolledTrips(*trips, ops, options.unrolledOps))
    results = unrollLoop(loop.op);
  if (loop.generator) scopes.back().generator = results[*loop.generator];
  return results;
}

LogicalResult GraphLowering::lowerBody(const Node& node, Loop& loop, unsigned firstCarried, size_t numCarried,
                                       function_ref<SmallVector<Value>()> createInputs, SmallVectorImpl<Value>& others,
                                       Location loc) {
  Block& body = loop.getBody();
  auto addGeneratorArgument = [&](Value outside) { return loop.addGeneratorArgument(outside, body); };
  FailureOr<Lowered> lowered = lowerRegion(node, node.graphs.back(), body, createInputs, addGeneratorArgument, loc);
  if (failed(lowered)) return failure();
  if (lowered->values.size() < numCarried) return reportMismatch(node, loc);
  for (auto [number, value] : llvm::enumerate(ArrayRef(lowered->values).take_front(numCarried))) {
    if (value.getType() != body.getArgument(firstCarried + number).getType()) return reportMismatch(node, loc);
    body.getTerminator()->setOperand(firstCarried + number, value);
  }
  if (loop.generator) body.getTerminator()->setOperand(*loop.generator, lowered->generator);
  llvm::append_range(others, ArrayRef(lowered->values).drop_front(numCarried));
  return success();
}

LogicalResult GraphLowering::lowerWhile(const Node& node, Location loc) {
  FailureOr<SmallVector<Value>> carried = getTensors(node, "carried", loc),
                                invariants = getTensors(node, "invariants", loc);
  if (failed(carried) || failed(invariants)) return failure();
  SmallVector<Value> inits(*carried);
  llvm::append_range(inits, getVariables(*invariants));
  Loop loop(builder, loc, inits, std::nullopt);
  Block& condition = loop.op.getCondition().emplaceBlock();
  condition.addArguments(TypeRange(inits), SmallVector<Location>(inits.size(), loc));
  auto createInputs = [&](Block& block) {
    SmallVector<Value> inputs(block.getArguments().take_front(carried->size()));
    llvm::append_range(inputs, createInside(builder, *invariants, block.getArguments().drop_front(carried->size())));
    return inputs;
  };
  SmallVector<Value> others;
  auto createBodyInputs = [&] { return createInputs(loop.getBody()); };
  if (failed(lowerBody(node, loop, 0, carried->size(), createBodyInputs, others, loc))) return failure();
  if (!others.empty()) return reportMismatch(node, loc);
  if (failed(lowerCondition(node, loop, condition, [&] { return createInputs(condition); }, loc))) return failure();
  if (std::optional<int64_t> trips = findTrips(loop.op)) {
    loop.op.getCondition().dropAllReferences();
    loop.op.getCondition().getBlocks().clear();
    loop.op.setTrips(*trips);
  }
  SmallVector<Value> results = finishLoop(loop);
  return setOutputs(node, ValueRange(results).take_front(carried->size()), loc);
}

LogicalResult GraphLowering::lowerCondition(const Node& node, Loop& loop, Block& condition,
                                            function_ref<SmallVector<Value>()> createInputs, Location loc) {
  auto addGeneratorArgument = [&](Value outside) { return loop.addGeneratorArgument(outside, condition); };
  FailureOr<Lowered> test = lowerRegion(node, node.graphs.front(), condition, createInputs, addGeneratorArgument, loc);
  if (failed(test)) return failure();
  if (test->generator)
    return emitError(loc) << "'" << node.target
                          << "' draws random numbers in its condition; expected it to compare values; draw them in the "
                             "body and carry them";
  if (test->values.size() != 1 || !isBoolean(test->values.front())) return reportMismatch(node, loc);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&condition);
  YieldOp::create(builder, loc, TensorMath(builder, loc).reshape(test->values.front(), {}));
  return success();
}

LogicalResult GraphLowering::lowerScan(const Node& node, Location loc) {
  FailureOr<SmallVector<Value>> rows = getTensors(node, "rows", loc), invariants = getTensors(node, "invariants", loc);
  FailureOr<SmallVector<Value>> carried = SmallVector<Value>();
  if (node.target == kScan) carried = getTensors(node, "carried", loc);
  if (failed(carried) || failed(rows) || failed(invariants)) return failure();
  auto hasNoRows = [](Value tensor) { return tensorType(tensor).getRank() == 0; };
  if (rows->empty() || llvm::any_of(*rows, hasNoRows)) return reportMismatch(node, loc);
  int64_t trips = shapeOf(rows->front()).front();
  auto differs = [&](Value tensor) { return shapeOf(tensor).front() != trips; };
  if (llvm::any_of(*rows, differs) || trips == 0) return reportMismatch(node, loc);

  TensorMath math(builder, loc);
  SmallVector<Value> inits = {math.index(0)};
  llvm::append_range(inits, *carried);
  llvm::append_range(inits, *rows);
  llvm::append_range(inits, getVariables(*invariants));
  Loop loop(builder, loc, inits, trips);
  Value number = loop.getBody().getArgument(0);
  auto createInputs = [&] {
    ArrayRef<BlockArgument> arguments = loop.getBody().getArguments().drop_front();
    SmallVector<Value> inputs(arguments.take_front(carried->size()));
    arguments = arguments.drop_front(carried->size());
    for (Value stack : arguments.take_front(rows->size()))
      inputs.push_back(math.reshape(readRow(builder, stack, number), shapeOf(stack).drop_front()));
    llvm::append_range(inputs, createInside(builder, *invariants, arguments.drop_front(rows->size())));
    return inputs;
  };
  SmallVector<Value> stacked;
  if (failed(lowerBody(node, loop, 1, carried->size(), createInputs, stacked, loc))) return failure();
  Operation* yield = loop.getBody().getTerminator();
  OpBuilder inside(yield);
  TensorMath step(inside, loc);
  yield->setOperand(0, step.add(number, step.index(1)));
  for (Value value : stacked) loop.op = addStack(loop.op, value, number, trips);
  SmallVector<Value> all = finishLoop(loop), results = llvm::to_vector(ArrayRef(all).slice(1, carried->size()));
  llvm::append_range(results, ArrayRef(all).take_back(stacked.size()));
  return setOutputs(node, results, loc);
}
