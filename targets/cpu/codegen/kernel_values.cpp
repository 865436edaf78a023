// Values of a kernel's nodes: where each is computed (the outermost scope that knows its variables) and its code.
#include "targets/cpu/codegen/element_ops.h"
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

LValue* KernelEmitter::constantScalar(TypedAttr attribute, Type type) {
  VectorBuilder scalar(b, 1);
  llvm::Type* llvmType = scalar.computeType(type);
  if (auto number = dyn_cast<FloatAttr>(attribute)) {
    APFloat exact = number.getValue();
    bool losesInfo;
    exact.convert(type.isF64() ? APFloat::IEEEdouble() : APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    return llvm::ConstantFP::get(llvmType, exact);
  }
  return llvm::ConstantInt::get(llvmType, cast<IntegerAttr>(attribute).getValue());
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
      return constantScalar(node.value, node.type);
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
    case NodeKind::Elementwise:
    case NodeKind::And:
    case NodeKind::Combine:
    case NodeKind::Select:
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

// Loads
// -----------------------------------------------------------------------------------------------------------------

static llvm::Constant* tableData(DenseElementsAttr table, llvm::LLVMContext& context) {
  Type type = table.getElementType();
  SmallVector<llvm::Constant*> elements;
  for (Attribute element : table.getValues<Attribute>()) {
    APInt bits = isa<FloatAttr>(element) ? cast<FloatAttr>(element).getValue().bitcastToAPInt()
                                         : cast<IntegerAttr>(element).getValue();
    if (type.isInteger(1)) bits = bits.zext(8);
    elements.push_back(llvm::ConstantInt::get(context, bits));
  }
  return llvm::ConstantArray::get(llvm::ArrayType::get(elements.front()->getType(), elements.size()), elements);
}

LValue* KernelEmitter::pointer(unsigned buffer) {
  if (buffer < operandPointers.size()) return operandPointers[buffer];
  unsigned table = buffer - operandPointers.size();
  if (tablePointers.size() <= table) tablePointers.resize(table + 1);
  if (!tablePointers[table]) {
    llvm::Constant* data = tableData(plan.tables[table], module.getContext());
    auto* global = new llvm::GlobalVariable(module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data,
                                            symbol + ".table");
    global->setAlignment(llvm::Align(64));
    tablePointers[table] = global;
  }
  return tablePointers[table];
}

int64_t KernelEmitter::bufferElements(unsigned buffer) {
  ClusterOp cluster = plan.cluster;
  if (buffer >= operandPointers.size()) return plan.tables[buffer - operandPointers.size()].getNumElements();
  return cast<RankedTensorType>(cluster->getOperand(buffer).getType()).getNumElements();
}

/// Tells LLVM that nothing writes to the memory while the kernel runs.
llvm::Instruction* KernelEmitter::invariant(llvm::Instruction* load, unsigned buffer) {
  if (buffer >= overwritten.size() || !overwritten[buffer])
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(module.getContext(), {}));
  return load;
}

LValue* KernelEmitter::computeLoad(unsigned number) {
  const Node& node = plan.nodes[number];
  VectorBuilder v = vectors();
  llvm::Type *scalar = v.memoryType(node.type), *type = v.lanes(scalar);
  llvm::Align align(module.getDataLayout().getTypeAllocSize(scalar));
  if (auto tile = tiles.find(number); tile != tiles.end())
    return v.fromMemory(b.CreateAlignedLoad(type, tile->second(), align), node.type);
  LValue* guard = node.guard == kNone ? nullptr : value(node.guard);
  Address at = address(node.index);
  LValue* base = pointer(node.buffer);
  if (width == 1 || (at.laneStep == 0 && !at.perLane)) {
    // Where the guard is false the index may lie outside: any element will do.
    LValue* offset = guard ? clampOffset(at.scalar, node.buffer) : at.scalar;
    LValue* memory =
        invariant(b.CreateAlignedLoad(scalar, b.CreateInBoundsGEP(scalar, base, offset), align), node.buffer);
    return v.splat(VectorBuilder(b, 1).fromMemory(memory, node.type));
  }
  LValue* exists = mask;
  if (guard) exists = mask ? b.CreateAnd(mask, v.splat(guard)) : v.splat(guard);
  LValue* zero = llvm::Constant::getNullValue(type);
  if (at.laneStep == 1 && !at.perLane) {
    LValue* where = b.CreateGEP(scalar, base, at.scalar);
    LValue* memory = exists ? static_cast<LValue*>(b.CreateMaskedLoad(type, where, align, exists, zero))
                            : invariant(b.CreateAlignedLoad(type, where, align), node.buffer);
    return v.fromMemory(memory, node.type);
  }
  if (!at.perLane && !guard && KernelPlan::isNear(at.laneStep))
    return v.fromMemory(loadNear(node, b.CreateGEP(scalar, base, at.scalar), at.laneStep), node.type);
  LValue* where = b.CreateGEP(scalar, base, indexLanes(node.index));
  if (!exists) exists = llvm::Constant::getAllOnesValue(v.lanes(b.getInt1Ty()));
  return v.fromMemory(b.CreateMaskedGather(type, where, align, exists, zero), node.type);
}

/// Lanes `step` elements apart from `first` on: whole vectors are read, and their elements picked. Nothing before the
/// first or after the last lane that exists is touched.
LValue* KernelEmitter::loadNear(const Node& node, LValue* first, int64_t step) {
  llvm::Type* scalar = vectors().memoryType(node.type);
  llvm::Align align(module.getDataLayout().getTypeAllocSize(scalar));
  int64_t lanes = width, elements = std::abs(step) * width;
  if (mask)
    for (lanes = 0; lanes < width && mask->getAggregateElement(static_cast<unsigned>(lanes))->isOneValue();) ++lanes;
  SmallVector<llvm::Constant*> isRead;
  SmallVector<int> picked;
  int64_t last = std::abs(step) * (lanes - 1);  // element of the last lane, from the nearest end
  for (int64_t element = 0; element < elements; ++element)
    isRead.push_back(b.getInt1(step > 0 ? element <= last : element >= elements - 1 - last));
  for (int64_t lane = 0; lane < width; ++lane)
    picked.push_back(static_cast<int>(step > 0 ? lane * step : elements - 1 + lane * step));
  if (step < 0) first = b.CreateConstGEP1_64(scalar, first, static_cast<uint64_t>(1 - elements));
  auto* type = llvm::FixedVectorType::get(scalar, static_cast<unsigned>(elements));
  bool isWhole = last == elements - 1;
  LValue* memory = isWhole ? static_cast<LValue*>(invariant(b.CreateAlignedLoad(type, first, align), node.buffer))
                           : b.CreateMaskedLoad(type, first, align, llvm::ConstantVector::get(isRead),
                                                llvm::Constant::getNullValue(type));
  return b.CreateShuffleVector(memory, picked);
}

LValue* KernelEmitter::clampOffset(LValue* offset, unsigned buffer) {
  VectorBuilder scalar(b, 1);
  LValue* low = scalar.binary(llvm::Intrinsic::smax, offset, b.getInt64(0));
  return scalar.binary(llvm::Intrinsic::smin, low, b.getInt64(bufferElements(buffer) - 1));
}
