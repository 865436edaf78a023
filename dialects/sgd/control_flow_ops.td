// Loops and branches of the graph and SPMD levels. Their regions see nothing of what is around them, so a pass may work on each block alone.
#ifndef SGD_DIALECTS_SGD_CONTROL_FLOW_OPS_TD
#define SGD_DIALECTS_SGD_CONTROL_FLOW_OPS_TD

include "dialects/sgd/data_flow.td"
include "dialects/sgd/sgd_attrs.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Sgd_YieldOp : Sgd_Op<"yield", [Pure, Terminator, ParentOneOf<["ManualComputationOp", "SortOp", "WhileOp", "CaseOp"]>]> {
  let summary = "Results of the enclosing region";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Sgd_WhileOp : Sgd_Op<"while", [RecursiveMemoryEffects, RecursivelySpeculatable, IsolatedFromAbove, SingleBlock, DeclareOpInterfaceMethods<Sgd_DataFlowOpInterface>]> {
  let summary = "Runs its body on the iter_args again and again: `trips` times, or as long as the condition yields true";
  let description = [{
    Iter_arg i begins as operand i, is block argument i of both regions, becomes what the body yields as value i, and is result i at last. A value
    that the body only reads is a iter_arg that yields its own argument. All types of a iter_arg are equal, shardings included. The condition yields
    one boolean, which must be the same on all ranks; a loop with known trips has no condition.

    The sum of the rows of %x, one by one:

    ```mlir
    %0:3 = sgd.while (%zero, %x, %start) trips 8 do {
    ^bb0(%i: tensor<i32>, %rows: tensor<8x16xf32>, %sum: tensor<1x16xf32>):
      %row = sgd.dynamic_slice %rows, %i, %c0 sizes = [1, 16] : (tensor<8x16xf32>, tensor<i32>, tensor<i32>) -> tensor<1x16xf32>
      %next = arith.addi %i, %c1 : tensor<i32>
      %more = arith.addf %sum, %row : tensor<1x16xf32>
      sgd.yield %next, %rows, %more : tensor<i32>, tensor<8x16xf32>, tensor<1x16xf32>
    } : (tensor<i32>, tensor<8x16xf32>, tensor<1x16xf32>) -> (tensor<i32>, tensor<8x16xf32>, tensor<1x16xf32>)
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inits, OptionalAttr<I64Attr>:$trips);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region AnyRegion:$condition, SizedRegion<1>:$body);
  let builders = [
    // With the inits' types. `body`, called with the iter_args, returns what it yields; without it the regions are empty.
    OpBuilder<(ins "ValueRange":$inits, CArg<"std::optional<int64_t>", "std::nullopt">:$trips,
      CArg<"llvm::function_ref<SmallVector<Value>(OpBuilder&, ValueRange)>", "nullptr">:$body)>,
    // With the trips and discardable attributes of `like` and empty regions.
    OpBuilder<(ins "WhileOp":$like, "ValueRange":$inits)>
  ];
  let assemblyFormat = [{
    `(` $inits `)` (`trips` $trips^)? (`while` $condition^)? `do` $body attr-dict `:` functional-type($inits, $results)
  }];
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// The body's next value of each iter_arg.
    OperandRange getYielded() { return getBody().front().getTerminator()->getOperands(); }
    /// The body leaves the iter_arg as it is.
    bool isInvariant(unsigned iterArg) { return getYielded()[iterArg] == getBody().getArgument(iterArg); }
  }];
}

def Sgd_CaseOp : Sgd_Op<"case", [RecursiveMemoryEffects, RecursivelySpeculatable, IsolatedFromAbove, SingleBlock, DeclareOpInterfaceMethods<Sgd_DataFlowOpInterface>]> {
  let summary = "Runs the branch that `index` names on the inputs; an index without a branch takes the last one";
  let description = [{
    Every branch has the inputs as block arguments and yields the results. The index must be the same on all ranks.

    ```mlir
    %0 = sgd.case %i (%x) {
    ^bb0(%a: tensor<8xf32>):
      %1 = math.exp %a : tensor<8xf32>
      sgd.yield %1 : tensor<8xf32>
    }, {
    ^bb0(%a: tensor<8xf32>):
      sgd.yield %a : tensor<8xf32>
    } : (tensor<i32>, tensor<8xf32>) -> tensor<8xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$index, Variadic<AnyRankedTensor>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let assemblyFormat = "$index `(` $inputs `)` $branches attr-dict `:` functional-type(operands, $results)";
  let hasVerifier = 1;
}

#endif
