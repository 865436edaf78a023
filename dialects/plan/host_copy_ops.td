// Copies between a device and pinned memory of its host. A file of its own: few read it.
#ifndef SGD_DIALECTS_PLAN_HOST_COPY_OPS_TD
#define SGD_DIALECTS_PLAN_HOST_COPY_OPS_TD

include "dialects/plan/plan_ops.td"

def Plan_HostCopyOp : Plan_Instruction<"host_copy"> {
  let summary = "Begins to copy all bytes of the source to the target, one of which is in host memory";
  let description = [{
    Runs beside what follows, after the host copies before it in the same direction, until the token's one `plan.host_copied`. Meanwhile no
    instruction writes the source or touches the target.

    ```mlir
    %h = plan.alloc : memref<8xf32, #plan.space<host>>
    %0 = plan.host_copy %x to %h : memref<8xf32, #plan.space<private>> -> memref<8xf32, #plan.space<host>>
    plan.host_copied %0
    ```
  }];
  let arguments = (ins Arg<Plan_Buffer, "", [MemRead]>:$source, Arg<Plan_Buffer, "", [Plan_Overwrite]>:$target);
  let results = (outs Plan_Token:$token);
  let assemblyFormat = "$source `to` $target attr-dict `:` type($source) `->` type($target)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    CostClass getCostClass() { return CostClass::HostCopy; }
    /// Out of the device; else into it.
    bool isToHost() { return getSpace(getTarget().getType()) == Space::Host; }
    int64_t getCopiedBytes() { return getByteSize(getSource().getType()); }
  }];
}

def Plan_HostCopiedOp : Plan_Instruction<"host_copied"> {
  let summary = "Ends a host copy: its target may be read, its source written";
  let description = [{
    Memory of the source and of the target is theirs until here. No instruction of the artifact: there, whoever touches the bytes waits for the copy.
  }];
  let arguments = (ins Plan_Token:$token);
  let assemblyFormat = "$token attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The copy that this ends.
    HostCopyOp getCopy();
    CostClass getCostClass() { return CostClass::Wait; }
  }];
}

#endif
