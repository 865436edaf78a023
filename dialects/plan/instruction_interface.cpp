// Memory effects by operand.
#include "dialects/plan/plan_dialect.h"

using namespace mlir;
using namespace mlir::plan;

#include "dialects/plan/instruction_interface.cpp.inc"

int64_t mlir::plan::getOperandBytes(Operation* op) {
  int64_t bytes = 0;
  for (Type type : op->getOperandTypes())
    if (auto buffer = dyn_cast<MemRefType>(type)) bytes += getByteSize(buffer);
  return bytes;
}

SmallVector<BufferAccess> mlir::plan::getAccesses(Operation* op) {
  SmallVector<BufferAccess> accesses(op->getNumOperands());
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface) return accesses;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  for (const MemoryEffects::EffectInstance& effect : effects) {
    auto* operand = effect.getEffectValue<OpOperand*>();
    if (!operand) continue;
    BufferAccess& access = accesses[operand->getOperandNumber()];
    access.reads |= isa<MemoryEffects::Read>(effect.getEffect());
    bool isWrite = isa<MemoryEffects::Write>(effect.getEffect());
    access.writes |= isWrite;
    access.isWhole |= isWrite && effect.getEffectOnFullRegion();
  }
  return accesses;
}

SmallVector<BufferAccess> mlir::plan::getAccesses(InstructionOpInterface instruction, const SymbolTable& kernels) {
  SmallVector<BufferAccess> accesses = getAccesses(instruction.getOperation());
  instruction.refineAccesses(accesses, kernels);
  return accesses;
}

void EffectBuilder::read(MutableArrayRef<OpOperand> operands) {
  for (OpOperand& operand : operands) effects.emplace_back(MemoryEffects::Read::get(), &operand);
}

void EffectBuilder::write(MutableArrayRef<OpOperand> operands, bool isWhole) {
  for (OpOperand& operand : operands)
    effects.emplace_back(MemoryEffects::Write::get(), &operand, /*stage=*/0, /*effectOnFullRegion=*/isWhole);
}
