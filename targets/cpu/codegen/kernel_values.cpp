// Values of a kernel's nodes: where each is computed (the outermost scope that knows its variables) and its code.
#include "targets/kernels/element_ops.h"
#include "targets/cpu/codegen/kernel_emitter.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::cpu;
using LValue = llvm::Value;

LValue* KernelEmitter::value(unsigned number) {
  const Node& node = plan.nodes[number];
  size_t depth = 0;
  while (depth + 1 < scopes.size() && ((node.vars & ~scopes[depth].vars) != 0 || node.phase > scopes[depth].phase))
    ++depth;
  if (auto known = scopes[depth].values.find(number); known != scopes[depth].values.end()) return known->second;
  llvm::IRBuilderBase::InsertPointGuard guard(b);
  if (scopes[depth].insertBefore) b.SetInsertPoint(scopes[depth].insertBefore);
  unsigned outerWidth = width;
  llvm::Constant* outerMask = mask;
  if (!varies(node)) width = 1, mask = nullptr;
  LValue* result = compute(number);
  width = outerWidth, mask = outerMask;
  // Code without branches never moves the builder to another block, so the guard may put it back.
  if (result) scopes[depth].values[number] = result;
  return result;
}

LValue* KernelEmitter::lanesOf(unsigned node) {
  LValue* result = value(node);
  return result ? vectors().splat(result) : nullptr;
}

/// The point of the row in the order of its variables, for lane 0; of columns: their place in the rows of the block.
LValue* KernelEmitter::rowPosition() {
  LValue* position = b.getInt64(0);
  for (unsigned var : plan.rowVars)
    position = b.CreateAdd(b.CreateMul(position, b.getInt64(plan.space.extent(var))), varValues[var]);
  if (!hasColumns(plan)) return position;
  return b.CreateAdd(b.CreateMul(position, b.getInt64(laneBlock(plan))), lanePosition);
}

/// Kept values are computed in one walk and read in those after it.
LValue* KernelEmitter::compute(unsigned number) {
  auto kept = walks.kept.find(number);
  if (kept == walks.kept.end() || walk == 0) return computeHere(number);
  if (walk > kept->second) return loadBuffer(number, rowPosition());
  LValue* result = computeHere(number);
  if (!result) return nullptr;
  int64_t elements = plan.product(plan.rowVars) * (hasColumns(plan) ? laneBlock(plan) : 1);
  buffer(number, llvm::alignTo(elements, 64));
  storeBuffer(number, rowPosition(), result);
  return result;
}

LValue* KernelEmitter::computeHere(unsigned number) {
  const Node& node = plan.nodes[number];
  VectorBuilder v = vectors();
  switch (node.kind) {
    case NodeKind::Load:
      return computeLoad(number);
    case NodeKind::Constant:
      return emitScalarConstant(VectorBuilder(b, 1), node.value, node.type);
    case NodeKind::Index:
      return computeIndex(node);
    case NodeKind::Coordinate: {
      LValue* slot = b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), function->getArg(1), node.buffer);
      return b.CreateTrunc(b.CreateAlignedLoad(b.getInt64Ty(), slot, llvm::Align(8)), b.getInt32Ty());
    }
    case NodeKind::InRange:
      return computeInRange(node);
    case NodeKind::Clamp:
      return computeClamp(node);
    case NodeKind::Quotient:
      return b.CreateUDiv(indexLanes(node.index), v.splat(b.getInt64(node.high)));
    case NodeKind::Remainder:
      return b.CreateURem(indexLanes(node.index), v.splat(b.getInt64(node.high)));
    case NodeKind::Reduce:
      if (buffers.count(number)) return v.round(loadBuffer(number, lanePosition), node.type);
      plan.nodes[number].op->emitOpError("is needed before it is computed");
      hasFailed = true;
      return nullptr;
    case NodeKind::Select:
      if (LValue* where = width > 1 ? chosenPlace(number, nullptr) : nullptr) return loadFrom(node, where);
      break;
    case NodeKind::Elementwise:
    case NodeKind::And:
    case NodeKind::Combine:
      break;
  }
  SmallVector<LValue*, 3> operands;
  for (unsigned operand : node.operands) {
    operands.push_back(lanesOf(operand));
    if (!operands.back()) return nullptr;
  }
  if (node.kind == NodeKind::And) return b.CreateAnd(operands[0], operands[1]);
  if (node.kind == NodeKind::Select) return b.CreateSelect(operands[0], operands[1], operands[2]);
  if (node.kind == NodeKind::Combine)
    return emitScatterCombiner(v, cast<ScatterOp>(node.op).getKind(), node.type, operands[0], operands[1]);
  LValue* result = emitElementOp(v, node.op, operands);
  if (!result && !hasFailed) {
    node.op->emitOpError("has no CPU code for type ") << node.type;
    hasFailed = true;
  }
  return result;
}

// Indices
// ---------------------------------------------------------------------------------------------------------------

KernelEmitter::Address KernelEmitter::address(const IndexExpr& index) {
  Address result{b.getInt64(index.getConstant())};
  for (const IndexExpr::Term& term : index.getTerms()) {
    auto opaqueVar = plan.opaqueVars.find(term.var);
    LValue* position = opaqueVar == plan.opaqueVars.end() ? varValues[term.var] : value(opaqueVar->second);
    if (!position) position = b.getInt64(0);
    if (position->getType()->isVectorTy()) {
      LValue* scaled = b.CreateMul(position, vectors().splat(b.getInt64(term.coefficient)));
      result.perLane = result.perLane ? b.CreateAdd(result.perLane, scaled) : scaled;
      continue;
    }
    if (term.var == plan.laneVar) result.laneStep = term.coefficient;
    result.scalar = b.CreateAdd(result.scalar, b.CreateMul(position, b.getInt64(term.coefficient)));
  }
  return result;
}

LValue* KernelEmitter::laneNumbers() {
  SmallVector<llvm::Constant*> numbers;
  for (unsigned lane = 0; lane < width; ++lane) numbers.push_back(b.getInt64(lane));
  return llvm::ConstantVector::get(numbers);
}

LValue* KernelEmitter::indexLanes(const IndexExpr& index) {
  Address at = address(index);
  if (width == 1) return at.scalar;
  LValue* lanes = vectors().splat(at.scalar);
  if (at.laneStep != 0)
    lanes = b.CreateAdd(lanes, b.CreateMul(laneNumbers(), vectors().splat(b.getInt64(at.laneStep))));
  return at.perLane ? b.CreateAdd(lanes, at.perLane) : lanes;
}

LValue* KernelEmitter::computeIndex(const Node& node) {
  VectorBuilder v = vectors();
  LValue* number = indexLanes(node.index);
  llvm::Type* type = v.lanes(v.computeType(node.type));
  if (isa<FloatType>(node.type)) return v.round(b.CreateSIToFP(number, type), node.type);
  return b.CreateSExtOrTrunc(number, type);
}

LValue* KernelEmitter::computeInRange(const Node& node) {
  VectorBuilder v = vectors();
  Address at = address(node.index);
  auto [least, most] = plan.space.range(node.index);
  if (width > 1 && !at.perLane && std::max(-least, most) < (int64_t{1} << 30) && node.high < (int64_t{1} << 30)) {
    // Lanes of 32 bits do.
    SmallVector<llvm::Constant*> steps;
    for (unsigned lane = 0; lane < width; ++lane)
      steps.push_back(b.getInt32(static_cast<uint32_t>(at.laneStep * lane - node.low)));
    LValue* offset = b.CreateAdd(v.splat(b.CreateTrunc(at.scalar, b.getInt32Ty())), llvm::ConstantVector::get(steps));
    return b.CreateICmpULT(offset, v.splat(b.getInt32(static_cast<uint32_t>(node.high - node.low))));
  }
  LValue* offset = b.CreateSub(indexLanes(node.index), v.splat(b.getInt64(node.low)));
  return b.CreateICmpULT(offset, v.splat(b.getInt64(node.high - node.low)));
}

LValue* KernelEmitter::computeClamp(const Node& node) {
  VectorBuilder v = vectors();
  LValue* start = lanesOf(node.operands[0]);
  if (!start) return nullptr;
  llvm::Type* type = v.lanes(b.getInt64Ty());
  LValue* limit = v.splat(b.getInt64(node.high - 1));
  if (node.isUnsigned) return v.binary(llvm::Intrinsic::umin, b.CreateZExtOrTrunc(start, type), limit);
  LValue *wide = b.CreateSExtOrTrunc(start, type), *low = v.splat(b.getInt64(node.low));
  return b.CreateSub(v.binary(llvm::Intrinsic::smax, v.binary(llvm::Intrinsic::smin, wide, limit), low), low);
}
