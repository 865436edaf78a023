// A buffer is its root's place and an offset; roots are constants, allocations, and arguments of functions and tiles.
#include "compiler/export/export_slices.h"

#include "compiler/export/export_enums.h"

using namespace mlir;
using namespace mlir::sgd;

int64_t mlir::sgd::getBufferBytes(Value buffer) { return getByteSize(cast<MemRefType>(buffer.getType())); }

plan::TiledOp mlir::sgd::getTiledOf(Value root) {
  auto argument = dyn_cast<BlockArgument>(root);
  return argument ? dyn_cast<plan::TiledOp>(argument.getOwner()->getParentOp()) : plan::TiledOp();
}

artifact::Slice SliceExporter::get(Value buffer) {
  plan::BufferRoot root = plan::getRoot(buffer);
  uint64_t size = getBufferBytes(buffer);
  if (auto constant = root.root.getDefiningOp<plan::ConstantOp>()) {
    auto [it, isNew] = constants.try_emplace(root.root);
    if (isNew) it->second = writer.AddConstant(getConstantBytes(cast<DenseElementsAttr>(constant.getValue())));
    return {artifact::Space::Constant, it->second.offset() + root.byteOffset, size};
  }
  auto space = getArtifactSpace(plan::getSpace(root.root.getType()));
  uint64_t offset = 0;
  if (plan::TiledOp tiled = getTiledOf(root.root)) {
    // In a loop's body the operand may be what the caller passes, in another space than its type says.
    artifact::Slice operand = get(tiled.getOperand(cast<BlockArgument>(root.root).getArgNumber()));
    std::tie(space, offset) = std::pair(operand.space(), operand.offset());
  } else if (auto alloc = root.root.getDefiningOp<plan::AllocOp>())
    std::tie(space, offset) = getPlace(alloc);
  else if (Operation* caller = getCaller(root.root)) {
    artifact::Slice passed = get(plan::getPassedBuffers(caller)[cast<BlockArgument>(root.root).getArgNumber()]);
    std::tie(space, offset) = std::pair(passed.space(), passed.offset());
  } else if (auto at = function.getArgAttrOfType<IntegerAttr>(cast<BlockArgument>(root.root).getArgNumber(),
                                                              plan::kOffsetAttr))
    offset = at.getInt();
  return {space, offset + root.byteOffset, size};
}

// A callee's buffers are in its caller's scratch, wherever that is.
std::pair<artifact::Space, uint64_t> SliceExporter::getPlace(plan::AllocOp alloc) {
  plan::Space space = plan::getSpace(alloc.getType());
  uint64_t offset = alloc.getOffset().value_or(0);
  Operation* caller = space == plan::Space::Scratch ? nullptr : getCaller(alloc);
  if (!caller) return {getArtifactSpace(space), offset};
  MutableOperandRange scratch = plan::getScratch(caller, space);
  // Callees whose buffers are all empty have no scratch.
  if (scratch.empty()) return {getArtifactSpace(space), 0};
  artifact::Slice place = get(scratch[0].get());
  return {place.space(), place.offset() + offset};
}
