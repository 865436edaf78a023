// Linear algebra by a library. A file of its own: few read it.
#ifndef SGD_DIALECTS_PLAN_LINEAR_ALGEBRA_OPS_TD
#define SGD_DIALECTS_PLAN_LINEAR_ALGEBRA_OPS_TD

include "dialects/plan/plan_ops.td"
include "dialects/sgd/linear_algebra_kind.td"

def Plan_LinearAlgebraOp : Plan_Instruction<"linear_algebra", [AttrSizedOperandSegments]> {
  let summary = "A decomposition or solver by a library, for each matrix of a batch";
  let description = [{
    As `sgd.linear_algebra` of `batch` matrices, whose tensors are contiguous. `sizes` is [m, n, k] of `runtime/linear_algebra/form.h`. `lanes`
    calls may run at a time, each in its share of the workspace.

    ```mlir
    plan.linear_algebra cholesky lower ins(%a : memref<8x4x4xf32, #plan.space<private>>)
      outs(%l, %info : memref<8x4x4xf32, #plan.space<private>>, memref<8xi32, #plan.space<private>>) batch 8 sizes [4, 4, 0] lanes 8
    ```
  }];
  let arguments = !con((ins Arg<Variadic<Plan_Buffer>, "", [MemRead]>:$inputs, Arg<Variadic<Plan_Buffer>, "", [Plan_Overwrite]>:$outputs,
    Arg<Optional<Plan_Buffer>, "", [Plan_Overwrite]>:$workspace, Sgd_LinearAlgebraKind:$kind, I64Attr:$batch, DenseI64ArrayAttr:$sizes, I64Attr:$lanes),
    SgdLinearAlgebraOptions);
  let assemblyFormat = !strconcat("$kind", SgdLinearAlgebraOptionsFormat, [{
    `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outputs `:` type($outputs) `)` (`workspace` `(` $workspace^ `:` type($workspace) `)`)?
    `batch` $batch `sizes` $sizes `lanes` $lanes attr-dict
  }]);
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::sgd::linear_algebra::Form getForm();
    CostClass getCostClass() { return CostClass::Library; }
  }];
}

#endif
