// Values that come from memory: neighbouring elements, one for all lanes, elements near or far from each other, and
// pieces among which selects choose.
#include "dialects/fusion/fusion_dialect.h"
#include "llvm/Analysis/VectorUtils.h"
#include "targets/cpu/codegen/kernel_emitter.h"
#include "targets/kernels/table_data.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::cpu;
using LValue = llvm::Value;

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
  fusion::ClusterOp cluster = plan.cluster;
  if (buffer >= operandPointers.size()) return plan.tables[buffer - operandPointers.size()].getNumElements();
  return cast<RankedTensorType>(cluster->getOperand(buffer).getType()).getNumElements();
}

/// Tells LLVM that nothing writes to the memory while the kernel runs.
llvm::Instruction* KernelEmitter::invariant(llvm::Instruction* load, unsigned buffer) {
  if (buffer >= overwritten.size() || !overwritten[buffer])
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(module.getContext(), {}));
  return load;
}

/// Lanes of `type` from `where` on; zero, and not touched, where the lane does not exist.
/// The load is cut into parts of a register: LLVM 22 cuts one of more by itself, and where each lane of such a part is
/// known not to exist although the whole mask is no constant, its part for AVX2 reads all lanes.
LValue* KernelEmitter::maskedLoad(llvm::Type* type, LValue* where, llvm::Align align, LValue* exists) {
  llvm::Type* scalar = type->getScalarType();
  unsigned part = registerLanes * 32 / scalar->getScalarSizeInBits();
  if (isa<llvm::Constant>(exists) || part >= width)
    return b.CreateMaskedLoad(type, where, align, exists, llvm::Constant::getNullValue(type));
  auto* partType = llvm::FixedVectorType::get(scalar, part);
  SmallVector<LValue*> parts;
  for (unsigned first = 0; first < width; first += part) {
    SmallVector<int> lanes = llvm::to_vector(llvm::seq<int>(first, first + part));
    LValue* begin = b.CreateConstGEP1_64(scalar, where, first);
    parts.push_back(b.CreateMaskedLoad(partType, begin, align, b.CreateShuffleVector(exists, lanes),
                                       llvm::Constant::getNullValue(partType)));
  }
  return llvm::concatenateVectors(b, parts);
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
    // Where the guard is false the index may be outside: any element will do.
    LValue* offset = guard ? clampOffset(at.scalar, node.buffer) : at.scalar;
    LValue* memory =
        invariant(b.CreateAlignedLoad(scalar, b.CreateInBoundsGEP(scalar, base, offset), align), node.buffer);
    return v.splat(VectorBuilder(b, 1).fromMemory(memory, node.type));
  }
  LValue* exists = mask;
  if (guard) exists = mask ? b.CreateAnd(mask, v.splat(guard)) : v.splat(guard);
  if (at.laneStep == 1 && !at.perLane) {
    LValue* where = b.CreateGEP(scalar, base, at.scalar);
    LValue* memory = exists ? maskedLoad(type, where, align, exists)
                            : invariant(b.CreateAlignedLoad(type, where, align), node.buffer);
    return v.fromMemory(memory, node.type);
  }
  if (!at.perLane && !guard && KernelPlan::isNear(at.laneStep))
    return v.fromMemory(loadNear(node, b.CreateGEP(scalar, base, at.scalar), at.laneStep), node.type);
  LValue* where = b.CreateGEP(scalar, base, indexLanes(node.index));
  if (!exists) exists = llvm::Constant::getAllOnesValue(v.lanes(b.getInt1Ty()));
  LValue* zero = llvm::Constant::getNullValue(type);
  return v.fromMemory(b.CreateMaskedGather(type, where, align, exists, zero), node.type);
}

/// Positions of the lanes that a chain of selects picks among neighbouring pieces, the first of which begins at 0, when
/// all lanes pick alike: only the picked piece need be read. Null for another node. `before`: the condition that does
/// not hold.
LValue* KernelEmitter::chosenPlace(unsigned number, const Node* before) {
  const Node& node = plan.nodes[number];
  if (node.kind == NodeKind::Select) {
    const Node& condition = plan.nodes[node.operands[0]];
    const Node& piece = plan.nodes[node.operands[1]];
    // A chain that does not begin with the first piece is a part of one whose earlier pieces are no loads.
    bool follows = before ? before->index == condition.index && before->high == condition.low : condition.low == 0;
    if (condition.kind != NodeKind::InRange || varies(condition) || piece.guard != node.operands[0] || !follows)
      return nullptr;
    LValue *yes = placeOf(piece), *no = yes ? chosenPlace(node.operands[2], &condition) : nullptr;
    return no ? b.CreateSelect(value(node.operands[0]), yes, no) : nullptr;
  }
  const Node* guard = node.guard == kNone ? nullptr : &plan.nodes[node.guard];
  bool isLast = before && guard && guard->kind == NodeKind::InRange && guard->index == before->index &&
                guard->low == before->high;
  return isLast ? placeOf(node) : nullptr;
}

/// The first lane of a load of neighbouring elements; null for others.
LValue* KernelEmitter::placeOf(const Node& load) {
  if (load.kind != NodeKind::Load || tiles.count(&load - plan.nodes.data())) return nullptr;
  Address at = address(load.index);
  if (at.laneStep != 1 || at.perLane) return nullptr;
  return b.CreateGEP(vectors().memoryType(load.type), pointer(load.buffer), at.scalar);
}

LValue* KernelEmitter::loadFrom(const Node& node, LValue* where) {
  VectorBuilder v = vectors();
  llvm::Type *scalar = v.memoryType(node.type), *type = v.lanes(scalar);
  llvm::Align align(module.getDataLayout().getTypeAllocSize(scalar));
  LValue* memory = mask ? maskedLoad(type, where, align, mask) : b.CreateAlignedLoad(type, where, align);
  return v.fromMemory(memory, node.type);
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
