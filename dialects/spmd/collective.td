// The interface of the ops through which ranks exchange data.
#ifndef SGD_DIALECTS_SPMD_COLLECTIVE_TD
#define SGD_DIALECTS_SPMD_COLLECTIVE_TD

include "mlir/IR/OpBase.td"

def Spmd_CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::mlir::spmd";
  let description = [{
    The semantics of a collective, whatever its op: passes that handle collectives alike (proof of lockstep, buckets, the plan) use this and name
    no op. One operand gives one result; an op that takes several is a bucket.
  }];
  let methods = [
    InterfaceMethod<"Kind, group and what else tells this collective from others.", "::mlir::spmd::CollectiveForm", "getForm">,
    InterfaceMethod<[{
      The same over other operands, with the dimensions and ranges of all of them; null for ops of one operand.
    }], "::mlir::Operation*", "createBucket",
      (ins "::mlir::OpBuilder&":$builder, "::mlir::Location":$loc, "::mlir::TypeRange":$results, "::mlir::ValueRange":$inputs,
           "::llvm::ArrayRef<int64_t>":$dims, "::llvm::ArrayRef<::mlir::Attribute>":$ranges)>];
  let extraSharedClassDeclaration = [{
    /// Ranks that exchange data, in the order of their positions; of a permute the order in which they receive.
    ::mlir::sgd::AxisListAttr getGroup() { return $_op.getForm().group; }
    ::mlir::spmd::CollectiveKind getCollectiveKind() { return $_op.getForm().kind; }
  }];
}

#endif
