// The walk over functions and ops; see importer.h. Arguments and results of public functions are in
// function_import.cpp.
#include "frontends/stablehlo/importer.h"

#include "dialects/sgd/linear_algebra.h"
#include "frontends/stablehlo/complex/expand_complex.h"
#include "frontends/stablehlo/input/library_ops.h"
#include "frontends/stablehlo/input/region_ops.h"
#include "frontends/stablehlo/linear_algebra_lowering.h"
#include "frontends/stablehlo/prepare/prepare.h"
#include "frontends/stablehlo/widen_float8.h"
#include "llvm/Support/SaveAndRestore.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace mlir::sgd;

/// Advice for an op that has no lowering: what to write instead, or what is supported.
static StringRef getAdvice(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Cases({"stablehlo.dynamic_broadcast_in_dim", "stablehlo.dynamic_iota", "stablehlo.dynamic_reshape",
              "stablehlo.dynamic_pad", "stablehlo.real_dynamic_slice", "stablehlo.dynamic_gather",
              "stablehlo.get_dimension_size", "stablehlo.set_dimension_size"},
             "export with concrete shapes")
      .Cases({"stablehlo.infeed", "stablehlo.outfeed", "stablehlo.send", "stablehlo.recv"},
             "transfers within a step are not, pass tensors as arguments and results")
      .Default("docs/supported.md lists what is");
}

/// Calls that place a value: by its sharding, which is read as that of any op, its memory or its layout,
/// which are the compiler's own choice.
static bool isIdentity(stablehlo::CustomCallOp call) {
  static constexpr StringRef kTargets[] = {"Sharding", "annotate_device_placement", "LayoutConstraint", "MoveToDevice",
                                           "MoveToHost"};
  return llvm::is_contained(kTargets, call.getCallTargetName()) && call->getNumOperands() == 1 &&
         call->getOperandTypes() == call->getResultTypes();
}

/// Whether the call wants its value in memory of the host beside the device, as jax.checkpoint with a policy that
/// offloads prints it.
static bool asksForHost(stablehlo::CustomCallOp call) {
  auto attributes = call->getAttrOfType<DictionaryAttr>("mhlo.frontend_attributes");
  auto placement = attributes ? attributes.getAs<StringAttr>("_xla_buffer_placement") : StringAttr();
  return call.getCallTargetName() == "MoveToHost" || (placement && placement.getValue().ends_with("host"));
}

static LoweringTable createLowerings() {
  LoweringTable table;
  addElementwiseLowerings(table);
  addCollectiveLowerings(table);
  addConversionLowerings(table);
  addConvolutionLowerings(table);
  addCustomCallLowerings(table);
  addShapeLowerings(table);
  addLinearAlgebraLowerings(table);
  addNormalizationLowerings(table);
  addRaggedLowerings(table);
  addRandomLowerings(table);
  addSpecialFunctionLowerings(table);
  return table;
}

ArrayRef<std::pair<StringRef, Importer::ImportFn>> Importer::getRegionLowerings() {
  static const std::pair<StringRef, ImportFn> lowerings[] = {
      {stablehlo::MapOp::getOperationName(), &Importer::importMap},
      {stablehlo::ReduceOp::getOperationName(), &Importer::importReduce},
      {stablehlo::ReduceWindowOp::getOperationName(), &Importer::importReduceWindow},
      {stablehlo::ScatterOp::getOperationName(), &Importer::importScatter},
      {stablehlo::SelectAndScatterOp::getOperationName(), &Importer::importSelectAndScatter},
      {stablehlo::SortOp::getOperationName(), &Importer::importSort}};
  return lowerings;
}

SmallVector<std::string> Importer::getSupportedOps() {
  // Those that importOp knows by itself.
  SmallVector<std::string> names{"stablehlo.after_all", "stablehlo.create_token",
                                 "stablehlo.rng",       "stablehlo.composite",
                                 "stablehlo.while",     "stablehlo.if",
                                 "stablehlo.case",      "sdy.sharding_constraint",
                                 "sdy.reshard",         "sdy.mesh"};
  for (auto [name, import] : getRegionLowerings()) names.push_back(name.str());
  for (const auto& entry : createLowerings()) names.push_back(entry.getKey().str());
  for (StringRef name : getComplexOps()) names.push_back(name.str());
  llvm::sort(names);
  return names;
}

Importer::Importer(ModuleOp module, const ImportOptions& options)
    : module(module), options(options), builder(module.getContext()), shardings(module) {
  for (auto [name, import] : getRegionLowerings()) regionLowerings[OperationName(name, module.getContext())] = import;
  for (const auto& entry : createLowerings())
    lowerings[OperationName(entry.getKey(), module.getContext())] = entry.getValue();
}

LogicalResult Importer::run() {
  if (prepareInput(module).failed() || shardings.importMesh().failed()) return failure();
  widenFloat8(module);
  if (expandComplex(module, options.transformsByMatmuls).failed()) return failure();
  SmallVector<Operation*> old;
  for (Operation& op : *module.getBody()) {
    if (isa<MeshOp>(op)) continue;
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      return op.emitError() << "'" << op.getName()
                            << "' at the top level is not supported; expected functions and one mesh";
    functions[function.getSymNameAttr()] = function;
    old.push_back(&op);
  }
  if (llvm::none_of(functions, [](auto entry) { return entry.second.isPublic(); }))
    return module.emitError("has no public function; expected one to compile; make the program's function public");
  for (Operation* op : old) {
    auto function = cast<func::FuncOp>(op);
    if (!function.isPublic()) continue;
    if (inlinedOps.check(function).failed() || importFunction(function).failed()) return failure();
  }
  for (Operation* op : old) op->erase();
  for (StringRef name : {"mhlo.num_partitions", "mhlo.num_replicas"}) module->removeDiscardableAttr(name);
  return success();
}

LogicalResult Importer::importBody(func::FuncOp function, std::optional<Location> caller,
                                   SmallVectorImpl<Value>& returned) {
  if (llvm::any_of(callStack, [&](const Frame& frame) { return frame.function == function; }))
    return emitError(caller.value_or(function.getLoc()))
           << "'" << function.getSymName() << "' calls itself; recursion is not supported";
  if (function.isExternal())
    return emitError(caller.value_or(function.getLoc()))
           << "'" << function.getSymName()
           << "' has no body; expected a definition; export the program with the functions that it calls";
  if (!function.getBody().hasOneBlock())
    return function.emitError("has several blocks; use 'stablehlo.while' and 'stablehlo.case' for control flow");
  callStack.push_back({function, caller});
  if (importBlock(function.getBody().front(), returned).failed()) return failure();
  callStack.pop_back();
  return success();
}

LogicalResult Importer::importBlock(Block& block, SmallVectorImpl<Value>& returned) {
  llvm::SaveAndRestore deeper(depth, depth + 1);
  if (depth > kMaxImportDepth)
    return emitError(inlineLocation(block.getParentOp()->getLoc(), callStack.back().caller))
           << "calls, loops and branches nest deeper than " << kMaxImportDepth << "; flatten the program";
  for (Operation& op : block.without_terminator())
    if (importOp(&op, inlineLocation(op.getLoc(), callStack.back().caller)).failed()) return failure();
  for (Value operand : block.getTerminator()->getOperands()) returned.push_back(values.lookup(operand));
  return success();
}

LogicalResult Importer::importOp(Operation* op, Location loc) {
  if (++importedOps > kMaxInlinedOps)
    return emitError(loc) << "the program becomes more than " << kMaxInlinedOps
                          << " ops when its calls are inlined and its short loops unrolled; compile with a smaller "
                             "--unroll, or call fewer functions";
  // Of the graph level already; see expandComplex.
  if (isa<LinearAlgebraOp>(op)) {
    IRMapping mapping;
    for (Value operand : op->getOperands()) mapping.map(operand, values.lookup(operand));
    Operation* copy = builder.clone(*op, mapping);
    copy->setLoc(loc);
    for (auto [old, result] : llvm::zip_equal(op->getResults(), copy->getResults())) values[old] = result;
    return success();
  }
  if (auto call = dyn_cast<func::CallOp>(op)) return importCall(op, call.getCalleeAttr(), loc);
  if (auto composite = dyn_cast<stablehlo::CompositeOp>(op))
    return importCall(op, composite.getDecompositionAttr(), loc);
  if (auto constraint = dyn_cast<sdy::ShardingConstraintOp>(op))
    return importConstraint(op, constraint.getSharding(), loc);
  if (auto reshard = dyn_cast<sdy::ReshardOp>(op)) return importConstraint(op, reshard.getSharding(), loc);
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(op); call && isIdentity(call)) {
    if (asksForHost(call) && !std::exchange(hasToldOfHost, true))
      emitRemark(loc) << "asks for memory of the host; what is there is decided by cost, under a memory limit and on "
                         "devices with memory of their own";
    return mapResults(op, values.lookup(op->getOperand(0)), loc);
  }
  if (isa<sdy::ManualComputationOp>(op)) return importManual(op, loc);
  if (isa<stablehlo::WhileOp>(op)) return importWhile(op, loc);
  if (isa<stablehlo::IfOp, stablehlo::CaseOp>(op)) return importConditional(op, loc);
  return lower(op, loc);
}

LogicalResult Importer::lower(Operation* op, Location loc) {
  LowerFn lowering = lowerings.lookup(op->getName());
  ImportFn regionLowering = regionLowerings.lookup(op->getName());
  if (!lowering && !regionLowering)
    return emitError(loc) << "'" << op->getName() << "' is not supported yet; "
                          << getAdvice(op->getName().getStringRef());
  for (auto [index, type] : llvm::enumerate(op->getResultTypes()))
    if (!convertTensorType(type))
      return reportUnsupportedType(loc, "result " + Twine(index) + " of '" + op->getName().getStringRef() + "'", type);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) operands.push_back(values.lookup(operand));
  OpLowering lowered(op, operands, builder, loc);
  lowered.allowsTf32 = options.allowTf32;
  if ((lowering ? lowering(lowered) : (this->*regionLowering)(lowered)).failed()) return failure();
  foldScalars(lowered.results);
  return mapResults(op, lowered.results, loc);
}

LogicalResult Importer::importCall(Operation* op, FlatSymbolRefAttr callee, Location loc) {
  func::FuncOp function = functions.lookup(callee.getAttr());
  if (!function)
    return emitError(loc)
           << "'" << op->getName() << "' names the unknown function " << callee
           << "; expected a function of this module; export the program with the functions that it calls";
  if (TypeRange(function.getArgumentTypes()) != TypeRange(op->getOperandTypes()) ||
      TypeRange(function.getResultTypes()) != TypeRange(op->getResultTypes()))
    return emitError(loc)
           << "'" << op->getName() << "' and " << callee
           << " disagree on types; expected operands and results of the function's types; export the program again";
  auto annotate = [&](Value value, DictionaryAttr attributes, const Twine& what) -> FailureOr<Value> {
    auto sharding = shardings.find(attributes, 0, 1, cast<RankedTensorType>(value.getType()), loc, what);
    return failed(sharding) ? FailureOr<Value>(failure()) : constrain(value, *sharding, loc);
  };
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    FailureOr<Value> value =
        annotate(values.lookup(operand), function.getArgAttrDict(index), "argument " + Twine(index));
    if (failed(value)) return failure();
    if (!function.isExternal()) values[function.getArgument(index)] = *value;
  }
  SmallVector<Value> results;
  if (importBody(function, loc, results).failed()) return failure();
  for (auto [index, result] : llvm::enumerate(results)) {
    FailureOr<Value> value = annotate(result, function.getResultAttrDict(index), "result " + Twine(index));
    if (failed(value)) return failure();
    result = *value;
  }
  return mapResults(op, results, loc);
}

LogicalResult Importer::importConstraint(Operation* op, sdy::ShardingAttr sharding, Location loc) {
  Value input = values.lookup(op->getOperand(0));
  auto converted = shardings.convert(sharding, cast<RankedTensorType>(input.getType()), loc,
                                     "'" + op->getName().getStringRef() + "'");
  if (failed(converted)) return failure();
  values[op->getResult(0)] = constrain(input, *converted, loc);
  return success();
}

LogicalResult Importer::mapResults(Operation* op, ValueRange results, Location loc) {
  DictionaryAttr attributes = op->getAttrDictionary();
  for (auto [index, original, result] : llvm::enumerate(op->getResults(), results)) {
    auto sharding = shardings.find(attributes, index, results.size(), cast<RankedTensorType>(result.getType()), loc,
                                   "'" + op->getName().getStringRef() + "'");
    if (failed(sharding)) return failure();
    values[original] = constrain(result, *sharding, loc);
  }
  return success();
}

Value Importer::constrain(Value value, ShardingAttr sharding, Location loc) {
  return sharding ? ShardingConstraintOp::create(builder, loc, value, sharding).getResult() : value;
}

bool Importer::hasFile(Location loc) {
  auto known = locationHasFile.find(loc);
  if (known != locationHasFile.end()) return known->second;
  bool found = loc->walk([](Location part) {
                    return isa<FileLineColRange>(part) ? WalkResult::interrupt() : WalkResult::advance();
                  })
                   .wasInterrupted();
  return locationHasFile[loc] = found;
}

Location Importer::locate(func::FuncOp function, Value value) {
  if (hasFile(function.getLoc())) return function.getLoc();
  for (Operation* user : value.getUsers())
    if (hasFile(user->getLoc())) return user->getLoc();
  return function.getLoc();
}

Location Importer::inlineLocation(Location loc, std::optional<Location> caller) {
  if (!caller || isa<UnknownLoc>(loc)) return caller.value_or(loc);
  if (hasFile(loc)) return CallSiteLoc::get(loc, *caller);
  // JAX names the ops of library functions ("reduce_max") without a location: the user's line is that
  // of the call.
  auto name = dyn_cast<NameLoc>(loc);
  return name ? Location(NameLoc::get(name.getName(), *caller)) : *caller;
}
