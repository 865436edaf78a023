// Attention by a library. A file of its own: few read it.
#ifndef SGD_DIALECTS_PLAN_ATTENTION_OPS_TD
#define SGD_DIALECTS_PLAN_ATTENTION_OPS_TD

include "dialects/plan/plan_ops.td"

class Plan_AttentionBase<string mnemonic, dag between> : 
    Plan_Instruction<mnemonic, [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let arguments = !con((ins Plan_Buffer:$query, Plan_Buffer:$key, Plan_Buffer:$value),
    between, (ins Optional<Plan_Buffer>:$bias, Optional<Plan_Buffer>:$workspace,
      DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$layouts, OptionalAttr<DenseI64ArrayAttr>:$bias_layout, DenseI64ArrayAttr:$steps,
      F64Attr:$scale, OptionalAttr<I64Attr>:$diagonal));
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    CostClass getCostClass() { return CostClass::Library; }
    /// Multiplications of all scores, those that a mask hides too.
    double getProducts();
    /// Returns the strides of batch, head and row of a tensor, which is numbered in the order of the operands.
    ::llvm::ArrayRef<int64_t> getLayout(unsigned tensor) { return getLayouts().slice(3 * tensor, 3); }
  }];
}

def Plan_AttentionOp : Plan_AttentionBase<"attention", (ins Plan_Buffer:$out, Plan_Buffer:$log_sum)> {
  let summary = "Attention by a library: means of values, and the logarithm of each row's sum of exponentials";
  let description = [{
    `sizes` is [batch, heads, heads of keys, rows, columns, depth, depth of values], `layouts` the strides of batch, head and row, in elements, of
    query, key, value and out, whose depths are contiguous; heads of queries share one of keys in order. `log_sum` is f32 [batch, heads, rows].
    Columns behind the row plus `diagonal` do not count. The bias, of the operands' type or f32, is added to scaled scores; its columns are contiguous.
    `steps` says how many batches and heads are computed at once. A library may write to the workspace.

    ```mlir
    plan.attention ins(%q, %k, %v : memref<64x2x8xbf16, #plan.space<private>>, memref<64x2x8xbf16, #plan.space<private>>,
                       memref<64x2x8xbf16, #plan.space<private>>)
      outs(%o, %l : memref<64x2x8xbf16, #plan.space<private>>, memref<2x64xf32, #plan.space<private>>)
      sizes [1, 2, 2, 64, 64, 8, 8] layouts [1024, 8, 16, 1024, 8, 16, 1024, 8, 16, 1024, 8, 16] steps [1, 2] scale 3.535534e-01 diagonal 0
    ```
  }];
  let assemblyFormat = [{
    `ins` `(` $query `,` $key `,` $value `:` type($query) `,` type($key) `,` type($value) `)`
    `outs` `(` $out `,` $log_sum `:` type($out) `,` type($log_sum) `)` (`bias` `(` $bias^ `:` type($bias) `)` $bias_layout)?
    (`workspace` `(` $workspace^ `:` type($workspace) `)`)? `sizes` $sizes `layouts` $layouts `steps` $steps `scale` $scale
    (`diagonal` $diagonal^)? attr-dict
  }];
}

def Plan_AttentionGradientOp : Plan_AttentionBase<"attention_gradient", (ins Plan_Buffer:$out,
    Plan_Buffer:$out_gradient, Plan_Buffer:$log_sum, Plan_Buffer:$query_gradient,
    Plan_Buffer:$key_gradient, Plan_Buffer:$value_gradient)> {
  let summary = "The gradients of `plan.attention` by query, key and value, by a library";
  let description = [{
    As `plan.attention`, of which `out` and `log_sum` come. `layouts` goes on with those of the out gradient and the three results. Heads of keys
    sum over the heads of queries that share them.
  }];
  let assemblyFormat = [{
    `ins` `(` $query `,` $key `,` $value `,` $out `,` $out_gradient `,` $log_sum `:` type($query) `,` type($key) `,` type($value) `,` type($out) `,`
    type($out_gradient) `,` type($log_sum) `)` `outs` `(` $query_gradient `,` $key_gradient `,` $value_gradient `:` type($query_gradient) `,`
    type($key_gradient) `,` type($value_gradient) `)` (`bias` `(` $bias^ `:` type($bias) `)` $bias_layout)?
    (`workspace` `(` $workspace^ `:` type($workspace) `)`)? `sizes` $sizes `layouts` $layouts `steps` $steps `scale` $scale
    (`diagonal` $diagonal^)? attr-dict
  }];
}

#endif
