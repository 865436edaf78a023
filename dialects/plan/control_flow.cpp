// Loops and branches of the plan: verifiers, and the functions that they run.
#include "dialects/plan/host_call.h"

using namespace mlir;
using namespace mlir::plan;

SmallVector<func::FuncOp> mlir::plan::getCallees(Operation* op) {
  SmallVector<func::FuncOp> callees;
  auto add = [&](FlatSymbolRefAttr name) {
    if (auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, name)) callees.push_back(callee);
  };
  if (auto loop = dyn_cast<LoopOp>(op)) {
    if (loop.getConditionAttr()) add(loop.getConditionAttr());
    add(loop.getBodyAttr());
  } else if (auto branches = dyn_cast<CaseOp>(op)) {
    for (auto name : branches.getBranches().getAsRange<FlatSymbolRefAttr>()) add(name);
  }
  return callees;
}

/// Whether `op`, or an op that it runs, is one of `Ops`.
template <typename... Ops>
static bool runsAny(Operation* op) {
  if (isa<Ops...>(op)) return true;
  return llvm::any_of(getCallees(op), [](func::FuncOp callee) {
    return llvm::any_of(callee.front(), [](Operation& inner) { return runsAny<Ops...>(&inner); });
  });
}

bool mlir::plan::usesChannels(Operation* op) { return runsAny<SendOp, ReceiveOp>(op); }

bool mlir::plan::keepsOrder(Operation* op) { return runsAny<SendOp, ReceiveOp, HostCallOp>(op); }

int64_t mlir::plan::getTrips(Operation* op) {
  auto loop = dyn_cast<LoopOp>(op);
  return loop ? static_cast<int64_t>(loop.getTrips().value_or(1)) : 1;
}

MutableOperandRange mlir::plan::getScratch(Operation* op, Space space) {
  auto get = [&](auto call) {
    return space == Space::Window ? call.getWindowScratchMutable() : call.getPrivateScratchMutable();
  };
  auto loop = dyn_cast<LoopOp>(op);
  return loop ? get(loop) : get(cast<CaseOp>(op));
}

SmallVector<Value> mlir::plan::getPassedBuffers(Operation* op) {
  SmallVector<Value> buffers;
  if (auto loop = dyn_cast<LoopOp>(op)) {
    llvm::append_range(buffers, loop.getInputs());
    llvm::append_range(buffers, loop.getIterArgs());
  } else if (auto branches = dyn_cast<CaseOp>(op)) {
    llvm::append_range(buffers, branches.getInputs());
    llvm::append_range(buffers, branches.getOutputs());
  }
  return buffers;
}

/// Spaces may differ until offsets are assigned: the caller's are where things lie.
static bool isSameBuffer(Type a, Type b) {
  auto first = dyn_cast<MemRefType>(a), second = dyn_cast<MemRefType>(b);
  return first && second && first.getShape() == second.getShape() && first.getElementType() == second.getElementType();
}

/// `op` passes `operands` to `callee`, which returns `results`.
static LogicalResult verifyCallee(Operation* op, SymbolTableCollection& symbols, FlatSymbolRefAttr name,
                                  ArrayRef<Value> operands, ArrayRef<Type> results) {
  auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(op, name);
  if (!callee || callee.isExternal()) return op->emitOpError() << "names the unknown function " << name;
  if (!llvm::hasSingleElement(callee.getBody())) return op->emitOpError() << name << " must be one block";
  auto matches = [](ArrayRef<Type> types, ArrayRef<Type> wanted) {
    return types.size() == wanted.size() &&
           llvm::all_of(llvm::zip(types, wanted), [](auto pair) { return std::apply(isSameBuffer, pair); });
  };
  if (!matches(callee.getArgumentTypes(), llvm::map_to_vector(operands, [](Value value) { return value.getType(); })))
    return op->emitOpError() << "passes other buffers than " << name << " takes";
  if (!matches(callee.getResultTypes(), results)) return op->emitOpError() << name << " returns other buffers";
  return success();
}

LogicalResult LoopOp::verify() {
  if (getTrips().has_value() == getCondition().has_value())
    return emitOpError("has a condition exactly when its trips are not known");
  return getTrips().value_or(0) >= 0 ? success() : emitOpError("has a negative number of trips");
}

LogicalResult LoopOp::verifySymbolUses(SymbolTableCollection& symbols) {
  SmallVector<Value> passed = getPassedBuffers(*this);
  auto iterArgs = llvm::map_to_vector(getIterArgs(), [](Value iterArg) { return iterArg.getType(); });
  if (failed(verifyCallee(*this, symbols, getBodyAttr(), passed, iterArgs))) return failure();
  if (!getConditionAttr()) return success();
  Type boolean = MemRefType::get({}, IntegerType::get(getContext(), 1));
  return verifyCallee(*this, symbols, getConditionAttr(), passed, boolean);
}

LogicalResult CaseOp::verify() {
  if (getBranches().empty()) return emitOpError("has no branches");
  auto type = cast<MemRefType>(getIndex().getType());
  return type.getRank() == 0 && type.getElementType().isInteger(32) ? success() : emitOpError("index must be one i32");
}

LogicalResult CaseOp::verifySymbolUses(SymbolTableCollection& symbols) {
  SmallVector<Value> passed = getPassedBuffers(*this);
  auto outputs = llvm::map_to_vector(getOutputs(), [](Value output) { return output.getType(); });
  for (auto name : getBranches().getAsRange<FlatSymbolRefAttr>())
    if (failed(verifyCallee(*this, symbols, name, passed, outputs))) return failure();
  return success();
}
