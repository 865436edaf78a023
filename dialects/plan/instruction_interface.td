// The interface by which an instruction of the plan describes itself; see instruction_interface.h for the queries derived from it.
#ifndef SGD_DIALECTS_PLAN_INSTRUCTION_INTERFACE_TD
#define SGD_DIALECTS_PLAN_INSTRUCTION_INTERFACE_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Plan_InstructionOpInterface : OpInterface<"InstructionOpInterface"> {
  let cppNamespace = "::mlir::plan";
  let description = [{
    An op that is an instruction of the artifact. Its memory effects, and nothing else, say what it does to its buffers: a full write
    (`Plan_Overwrite`) leaves nothing of what was there. An op whose effects depend on its attributes computes them in `getEffects`.
  }];
  let methods = [
    InterfaceMethod<"Who executes it, and what its time depends on.", "::mlir::plan::CostClass", "getCostClass">,
    InterfaceMethod<[{
      Corrects what the memory effects say, by operand, where the kernel that it runs decides. `kernels` are those of the module.
    }], "void", "refineAccesses", (ins "::llvm::MutableArrayRef<::mlir::plan::BufferAccess>":$accesses, "const ::mlir::SymbolTable&":$kernels),
      [{}], [{ return; }]>,
  ];
}

// A write of a whole buffer: nothing that was there can be read after it.
def Plan_Overwrite : MemWriteAt<0, FullEffect>;

#endif
