// How a plan's op becomes an instruction of the artifact. Models of it live beside the export, since dialects know no artifact.
#ifndef SGD_COMPILER_EXPORT_INTERFACE_TD
#define SGD_COMPILER_EXPORT_INTERFACE_TD

include "mlir/IR/OpBase.td"

def ExportOpInterface : OpInterface<"ExportOpInterface"> {
  let cppNamespace = "::mlir::sgd";
  let methods = [
    InterfaceMethod<"Fills the operation of `instruction`; an error on the op for what artifacts do not have.", "::llvm::LogicalResult",
      "exportTo", (ins "::mlir::sgd::OperandExporter&":$operands, "::sgd::artifact::InstructionT&":$instruction)>,
  ];
}

#endif
