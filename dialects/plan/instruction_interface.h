// Costs and effects that instructions declare, and queries derived from them. Passes, reports and the export
// use these and need not list instructions.
#ifndef SGD_DIALECTS_PLAN_INSTRUCTION_INTERFACE_H
#define SGD_DIALECTS_PLAN_INSTRUCTION_INTERFACE_H

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::plan {

/// The unit that executes an instruction, and the quantity that its time depends on.
enum class CostClass {
  Kernel,      ///< code that is compiled with the program: its flops or its bytes
  Library,     ///< a library's code: likewise
  Transfer,    ///< copies: bytes alone
  HostCopy,    ///< copies between a device and its host: bytes over their link, beside what follows
  Collective,  ///< what ranks send each other
  Wait,        ///< none of its own: it ends what another one has begun
  Control,     ///< what it runs
};

/// The access of an instruction to the buffer of one operand.
struct BufferAccess {
  bool reads = false;
  bool writes = false;
  /// It writes every byte of the operand. What it reads as well it reads before.
  bool isWhole = false;
};

/// Bytes of all operands that are buffers.
int64_t getOperandBytes(Operation* op);

/// The accesses of `op` to its operands that are buffers, by its memory effects.
SmallVector<BufferAccess> getAccesses(Operation* op);

/// Builds the memory effects of an op whose attributes decide them.
class EffectBuilder {
 public:
  explicit EffectBuilder(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>& effects)
      : effects(effects) {}

  /// For absent optional operands, which are empty, nothing.
  void read(MutableArrayRef<OpOperand> operands);
  /// Writes all of them if `isWhole`, else parts.
  void write(MutableArrayRef<OpOperand> operands, bool isWhole = true);
  /// Reads, then writes all.
  void update(MutableArrayRef<OpOperand> operands) { read(operands), write(operands); }

 private:
  SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>& effects;
};

}  // namespace mlir::plan

#include "dialects/plan/instruction_interface.h.inc"

namespace mlir::plan {

/// As getAccesses, with what `kernels`, those of the module, say of launches.
SmallVector<BufferAccess> getAccesses(InstructionOpInterface instruction, const SymbolTable& kernels);

}  // namespace mlir::plan

#endif
