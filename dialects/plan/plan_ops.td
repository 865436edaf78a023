// The plan level: what a rank executes, instruction by instruction, over buffers in three spaces. One-to-one with the artifact's schema.
#ifndef SGD_DIALECTS_PLAN_OPS_TD
#define SGD_DIALECTS_PLAN_OPS_TD

include "dialects/fusion/epilogue.td"
include "dialects/plan/instruction_interface.td"
include "dialects/plan/plan_attrs.td"
include "dialects/sgd/sgd_attrs.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// Buffers -------------------------------------------------------------------------------------------------------------

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;

def Plan_Buffer : Type<CPred<"::mlir::plan::isBuffer($_self)">,
    "memref of static shape and row-major layout in a #plan.space", "::mlir::MemRefType">;

def Plan_AllocOp : Plan_Op<"alloc", [MemoryEffects<[MemAlloc]>]> {
  let summary = "A buffer that lives from its first to its last use";
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs Plan_Buffer:$result);
  let assemblyFormat = "(`offset` $offset^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Plan_ConstantOp : Plan_Op<"constant", [Pure]> {
  let summary = "A buffer in the artifact's constants section";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Plan_Buffer:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Plan_ViewOp : Plan_Op<"view", [Pure]> {
  let summary = "The bytes of `source` from `byte_offset` on, seen with another shape: a reshape or a contiguous slice without a copy";
  let arguments = (ins Plan_Buffer:$source, I64Attr:$byte_offset);
  let results = (outs Plan_Buffer:$result);
  let assemblyFormat = "$source `at` $byte_offset attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
}

// Instructions --------------------------------------------------------------------------------------------------------

def Plan_ChannelResource : Resource<"::mlir::spmd::ChannelResource">;

class Plan_Instruction<string mnemonic, list<Trait> traits = []> : Plan_Op<mnemonic, traits # [Plan_InstructionOpInterface]>;

def Plan_KernelOp : Plan_Op<"kernel", [Symbol, IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "A kernel to be compiled: a block that holds one `fusion.cluster` of all its arguments";
  let description = [{
    `in_place[i]` is the operand whose buffer result i overwrites, or -1: kernels that differ in it are different kernels. Absent means none.
    A launch passes the operands that are not overwritten, then the results. `candidates` lists what in_place could be: pairs of result and
    operand, flattened.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<DenseI64ArrayAttr>:$in_place, OptionalAttr<DenseI64ArrayAttr>:$candidates);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name (`in_place` $in_place^)? (`candidates` $candidates^)? attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    fusion::ClusterOp getCluster();
    /// The operand that result `result` overwrites, or nullopt.
    std::optional<unsigned> getInPlaceOperand(unsigned result);
    /// Positions of the operands that a launch passes as inputs: those that no result overwrites.
    SmallVector<unsigned> getInputPositions();
  }];
}

def Plan_LaunchOp : Plan_Instruction<"launch", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a kernel over [0, range), cut in parts that begin at multiples of the grain";
  let description = [{
    `coordinates` are passed to the kernel: the rank's linear index over each list of axes. Launches that follow one another with the same
    `group` need nothing of each other and are one instruction. `work` is that of the kernel's cluster; without it, all buffers are moved.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Arg<Variadic<Plan_Buffer>, "", [MemRead]>:$inputs,
    Arg<Variadic<Plan_Buffer>, "", [MemRead, Plan_Overwrite]>:$outputs,
    OptionalAttr<TypedArrayAttrBase<Sgd_AxisList, "axis lists">>:$coordinates, I64Attr:$range, I64Attr:$grain,
    OptionalAttr<Plan_Work>:$work, OptionalAttr<I64Attr>:$group);
  let assemblyFormat = [{
    $kernel `ins` `(` ($inputs^ `:` type($inputs))? `)` `outs` `(` $outputs `:` type($outputs) `)` (`coordinates` $coordinates^)?
    `range` $range `grain` $grain (`work` $work^)? (`group` $group^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    CostClass getCostClass() { return CostClass::Kernel; }
    /// Outputs are read where the kernel updates them in place.
    void refineAccesses(MutableArrayRef<BufferAccess> accesses, const SymbolTable& kernels);
  }];
}

def Plan_MatmulOp : Plan_Instruction<"matmul", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "c[b.., m, n] = sum over k of a[b.., m, k] * b[b.., k, n], then the epilogue";
  let description = [{
    `sizes` is [batch.., m, n, k]. Strides count elements: `a_strides` of [batch.., m, k], `b_strides` of [batch.., k, n], `c_strides` of
    [batch.., m, n]; a batch stride of 0 shares an operand. c and the operands of the epilogue are of the operands' element type or of the
    accumulator type, f32 for bf16 and f16 (i32 for narrower integers). Operands of f8 may be of two kinds; c is f32, bf16 or f16 then.

    The epilogue is a list of steps, as of fusion.library_matmul: `residual` adds what c holds; `bias` has n elements; `gelu` writes its
    operand to `aux`, if there is one, and `gelu_gradient` reads it there, of the size and strides of c; `lhs_reduction` and
    `rhs_reduction` write the reduction of a (m elements) or b (n) over k to `reduction`, and such a matmul has no batch. `workspace` is the
    library's while the matmul is computed. `tf32`: the library may round f32 operands to 10 bits of mantissa first.

    A 4x8 matrix times its own transpose, which the strides [1, 8] of [k, n] express:

    ```mlir
    plan.matmul ins(%a, %a : memref<4x8xf32, #plan.space<private>>, memref<4x8xf32, #plan.space<private>>)
      outs(%c : memref<4x4xf32, #plan.space<private>>) sizes [4, 4, 8] strides [8, 1], [1, 8], [4, 1]
    ```
  }];
  let arguments = (ins Plan_Buffer:$a, Plan_Buffer:$b, Plan_Buffer:$c, Optional<Plan_Buffer>:$bias, Optional<Plan_Buffer>:$aux,
    Optional<Plan_Buffer>:$reduction, Optional<Plan_Buffer>:$workspace, DenseI64ArrayAttr:$sizes,
    DenseI64ArrayAttr:$a_strides, DenseI64ArrayAttr:$b_strides, DenseI64ArrayAttr:$c_strides,
    DefaultValuedAttr<Fusion_Epilogue, "::mlir::fusion::Epilogue()">:$epilogue, UnitAttr:$tf32);
  let assemblyFormat = [{
    `ins` `(` $a `,` $b `:` type($a) `,` type($b) `)` `outs` `(` $c `:` type($c) `)` (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`aux` `(` $aux^ `:` type($aux) `)`)? (`reduction` `(` $reduction^ `:` type($reduction) `)`)? (`workspace` `(` $workspace^ `:` type($workspace) `)`)?
    `sizes` $sizes `strides` $a_strides `,` $b_strides `,` $c_strides (`epilogue` $epilogue^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getNumBatchDims() { return getSizes().size() - 3; }
    CostClass getCostClass() { return CostClass::Library; }
  }];
}

def Plan_ConvolutionOp : Plan_Instruction<"convolution", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Convolution: windows times the kernel, contracted over window elements and input features, then the epilogue";
  let description = [{
        result[n, o.., g, f] = sum over k.., c of lhs[n, window(o, k).., g, c] * rhs[k.., g, c, f]

    `sizes` is [n, g, c, f]. `inputs`, `outputs` and `kernels` are the sizes of the spatial dimensions of lhs, result and rhs; element k of
    window o is at (o * stride + k * dilation - low) / lhs_dilation, zero outside of [0, input) and where that does not divide; a negative
    dilation reads the kernel backwards. Strides of operands count elements: of [n, g, c, spatial..] for the lhs, [g, c, f, spatial..] for the
    rhs, [n, g, f, spatial..] for the result, whose element type is the accumulator type, or of f16 and bf16 the operands', to which
    each element is rounded once. Of the epilogue, `residual` adds what the result holds; `bias` has g * f elements. A library may write to the
    workspace. `tf32` as for a matmul.

    ```mlir
    plan.convolution ins(%x, %w : memref<8x16x4xf32, #plan.space<private>>, memref<3x4x6xf32, #plan.space<private>>)
      outs(%y : memref<8x16x6xf32, #plan.space<private>>) sizes [8, 1, 4, 6] windows [16] to [16] of [3] strides [1] dilations [1] low [1]
      layouts [64, 0, 1, 4], [0, 6, 1, 24], [96, 0, 1, 6]
    ```
  }];
  let arguments = (ins Plan_Buffer:$lhs, Plan_Buffer:$rhs, Plan_Buffer:$result, Optional<Plan_Buffer>:$bias,
    Optional<Plan_Buffer>:$workspace, DenseI64ArrayAttr:$sizes,
    DenseI64ArrayAttr:$inputs, DenseI64ArrayAttr:$outputs, DenseI64ArrayAttr:$kernels, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$dilations, DenseI64ArrayAttr:$low,
    OptionalAttr<DenseI64ArrayAttr>:$lhs_dilations, DenseI64ArrayAttr:$lhs_strides, DenseI64ArrayAttr:$rhs_strides,
    DenseI64ArrayAttr:$result_strides, DefaultValuedAttr<Fusion_Epilogue, "::mlir::fusion::Epilogue()">:$epilogue, UnitAttr:$tf32);
  let assemblyFormat = [{
    `ins` `(` $lhs `,` $rhs `:` type($lhs) `,` type($rhs) `)` `outs` `(` $result `:` type($result) `)` (`bias` `(` $bias^ `:` type($bias) `)`)?
    (`workspace` `(` $workspace^ `:` type($workspace) `)`)? `sizes` $sizes `windows` $inputs `to` $outputs `of` $kernels `strides` $strides
    `dilations` $dilations (`of_lhs` $lhs_dilations^)? `low` $low `layouts` $lhs_strides `,` $rhs_strides `,` $result_strides (`epilogue` $epilogue^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getNumSpatialDims() { return getInputs().size(); }
    CostClass getCostClass() { return CostClass::Library; }
  }];
}

def Plan_TiledOp : Plan_Instruction<"tiled", [AttrSizedOperandSegments, IsolatedFromAbove, SingleBlock, NoTerminator,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Runs its launches and matmuls for each combination of indices of `loops`, in any order, several at a time";
  let description = [{
    Block argument i is operand i, inputs first, from its first byte plus the sum of index times byte stride on, as far as one run reaches;
    `strides` lists, for each operand, one stride per loop. Different runs write to different bytes of the outputs. `plan.alloc` in scratch
    space is memory of the run's thread: nothing stays there from one run to the next.

    A row of y = x w per run:

    ```mlir
    plan.tiled ins(%x, %w : memref<4x8xf32, #plan.space<private>>, memref<8x8xf32, #plan.space<private>>)
      outs(%y : memref<4x8xf32, #plan.space<private>>) loops [4] strides [32, 0, 32] scratch 0 {
    ^bb0(%a: memref<8xf32, #plan.space<private>>, %b: memref<64xf32, #plan.space<private>>, %c: memref<8xf32, #plan.space<private>>):
      plan.matmul ins(%a, %b : memref<8xf32, #plan.space<private>>, memref<64xf32, #plan.space<private>>)
        outs(%c : memref<8xf32, #plan.space<private>>) sizes [1, 8, 8] strides [8, 1], [8, 1], [8, 1]
    }
    ```
  }];
  let arguments = (ins Variadic<Plan_Buffer>:$inputs, Variadic<Plan_Buffer>:$outputs, DenseI64ArrayAttr:$loops, DenseI64ArrayAttr:$strides, I64Attr:$scratch_bytes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `ins` `(` ($inputs^ `:` type($inputs))? `)` `outs` `(` $outputs `:` type($outputs) `)` `loops` $loops `strides` $strides
    `scratch` $scratch_bytes $body attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Byte strides of operand `operand`, one per loop.
    ArrayRef<int64_t> getOperandStrides(unsigned operand);
    int64_t getNumTiles();
    CostClass getCostClass() { return CostClass::Kernel; }
    void refineAccesses(MutableArrayRef<BufferAccess> accesses, const SymbolTable& kernels);
  }];
}

def Plan_CollectiveOp : Plan_Instruction<"collective", [AttrSizedOperandSegments]> {
  let summary = "A collective over the ranks that differ only on `axes`; sources and targets are in the window, target i belongs to source i";
  let description = [{
    `dims[i]` is the dimension that all_gather joins and reduce_scatter cuts; all_to_all has dims = [split, concat]. An all_reduce's target
    may be its source. A permute sends from the rank whose linear index over `from` is i to the one whose linear index over `axes` is i.
    A gather_range has one of `ranges` for each source, which are tiles in the order of `axes`; results are in the order of `to`.
    In `staging`, of the window too, a target packs data that is not contiguous while the collective runs.
    With a token it only begins, and runs beside what follows until the token's one `plan.done`; meanwhile no instruction touches its
    targets or writes its sources.

    ```mlir
    plan.collective reduce_scatter combining add (%sum : memref<8x16xf32, #plan.space<window>>)
      to (%part : memref<2x16xf32, #plan.space<window>>) dims [0] <@mesh, {"data"}>
    ```
  }];
  let arguments = (ins Plan_CollectiveKind:$kind, OptionalAttr<Sgd_ReduceKind>:$reduce,
    Arg<Variadic<Plan_Buffer>, "", [MemRead]>:$sources, Arg<Variadic<Plan_Buffer>, "", [Plan_Overwrite]>:$targets,
    Arg<Optional<Plan_Buffer>, "", [Plan_Overwrite]>:$staging, DenseI64ArrayAttr:$dims, Sgd_AxisList:$axes, OptionalAttr<Sgd_AxisList>:$from,
    OptionalAttr<TypedArrayAttrBase<Sgd_Range, "ranges">>:$ranges, OptionalAttr<Sgd_AxisList>:$to);
  let results = (outs Optional<Plan_Token>:$token);
  let assemblyFormat = [{
    $kind (`combining` $reduce^)? `(` $sources `:` type($sources) `)` `to` `(` $targets `:` type($targets) `)`
    (`staging` `(` $staging^ `:` type($staging) `)`)? `dims` $dims $axes (`from` $from^)? (`ranges` $ranges^)? (`to` `axes` $to^)? attr-dict (`:` type($token)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    CostClass getCostClass() { return CostClass::Collective; }
  }];
}

def Plan_DoneOp : Plan_Instruction<"done"> {
  let summary = "Waits until a collective in flight is complete: its targets may be read, its sources written";
  let description = [{
    ```mlir
    %0 = plan.collective all_reduce combining add (%sum : memref<8xf32, #plan.space<window>>)
      to (%sum : memref<8xf32, #plan.space<window>>) dims [] <@mesh, {"data"}> : !plan.token
    plan.done %0
    ```
  }];
  let arguments = (ins Plan_Token:$token);
  let assemblyFormat = "$token attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The collective that this ends.
    CollectiveOp getCollective() { return getToken().getDefiningOp<CollectiveOp>(); }
    CostClass getCostClass() { return CostClass::Wait; }
  }];
}

class Plan_ChannelInstruction<string mnemonic> : Plan_Instruction<mnemonic,
    [MemoryEffects<[MemRead<Plan_ChannelResource>, MemWrite<Plan_ChannelResource>]>]> {
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    CostClass getCostClass() { return CostClass::Transfer; }
  }];
}

def Plan_SendOp : Plan_ChannelInstruction<"send"> {
  let summary = "Copies the source into the next free place of a channel; waits for one";
  let description = [{
    ```mlir
    plan.send %x to stage 1 channel 3 depth 2 : memref<8xf32, #plan.space<private>>
    ```
  }];
  let arguments = (ins Arg<Plan_Buffer, "", [MemRead]>:$source, I64Attr:$stage, I64Attr:$channel, DefaultValuedAttr<I64Attr, "1">:$depth);
  let assemblyFormat = "$source `to` `stage` $stage `channel` $channel (`depth` $depth^)? attr-dict `:` type($source)";
}

def Plan_ReceiveOp : Plan_ChannelInstruction<"receive"> {
  let summary = "Copies the next message of a channel to the target and frees its place; waits for it";
  let description = [{
    `mailbox` is where the channel's places are in the window of the rank that receives, once offsets are assigned.

    ```mlir
    plan.receive channel 3 from stage 0 to %x : memref<8xf32, #plan.space<private>>
    ```
  }];
  let arguments = (ins I64Attr:$channel, I64Attr:$stage, Arg<Plan_Buffer, "", [Plan_Overwrite]>:$target, OptionalAttr<I64Attr>:$mailbox);
  let assemblyFormat = "`channel` $channel `from` `stage` $stage `to` $target (`mailbox` $mailbox^)? attr-dict `:` type($target)";
}

def Plan_CopyOp : Plan_Instruction<"copy"> {
  let summary = "Copies all bytes of the source to the target";
  let arguments = (ins Arg<Plan_Buffer, "", [MemRead]>:$source, Arg<Plan_Buffer, "", [Plan_Overwrite]>:$target);
  let assemblyFormat = "$source `to` $target attr-dict `:` type($source) `->` type($target)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    CostClass getCostClass() { return CostClass::Transfer; }
  }];
}

def Plan_FillOp : Plan_Instruction<"fill"> {
  let summary = "Sets every element of the target to `value`";
  let arguments = (ins TypedAttrInterface:$value, Arg<Plan_Buffer, "", [Plan_Overwrite]>:$target);
  let assemblyFormat = "$value `to` $target attr-dict `:` type($target)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    CostClass getCostClass() { return CostClass::Transfer; }
  }];
}

// Control flow --------------------------------------------------------------------------------------------------------
// Bodies are private functions, each called from one place; their arguments are the operands, in order. Their allocations are in the
// scratch of the op that calls them, which is there when offsets are assigned.

def Plan_LoopOp : Plan_Instruction<"loop", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs `body` `trips` times, or as long as `condition` returns true";
  let description = [{
    Both functions take the inputs, which stay as they are, then the iter_args. The body returns the iter_args, each in its own argument's buffer
    (`plan.alias`); the condition returns one boolean.

    ```mlir
    func.func private @next(%x: memref<8xf32, #plan.space<private>>) -> (memref<8xf32, #plan.space<private>> {plan.alias = 0 : i64}) {
      plan.launch @double ins() outs(%x : memref<8xf32, #plan.space<private>>) range 8 grain 8
      return %x : memref<8xf32, #plan.space<private>>
    }
    plan.loop @next ins() iter_args(%x : memref<8xf32, #plan.space<private>>) trips 10
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$body, OptionalAttr<FlatSymbolRefAttr>:$condition,
    Arg<Variadic<Plan_Buffer>, "", [MemRead]>:$inputs, Arg<Variadic<Plan_Buffer>, "", [MemRead, MemWrite]>:$iter_args,
    OptionalAttr<I64Attr>:$trips, Arg<Optional<Plan_Buffer>, "", [Plan_Overwrite]>:$private_scratch,
    Arg<Optional<Plan_Buffer>, "", [Plan_Overwrite]>:$window_scratch);
  let assemblyFormat = [{
    $body `ins` `(` ($inputs^ `:` type($inputs))? `)` `iter_args` `(` ($iter_args^ `:` type($iter_args))? `)` (`trips` $trips^)? (`while` $condition^)?
    (`private` `(` $private_scratch^ `:` type($private_scratch) `)`)? (`window` `(` $window_scratch^ `:` type($window_scratch) `)`)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    CostClass getCostClass() { return CostClass::Control; }
  }];
}

def Plan_CaseOp : Plan_Instruction<"case", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs the branch whose number is in `index`; a number without a branch runs the last one";
  let description = [{
    The functions take the inputs, which stay as they are, then the outputs, which they return (`plan.alias`) and write without reading.

    ```mlir
    plan.case %i : memref<i32, #plan.space<private>> of [@first, @second] ins(%x : memref<8xf32, #plan.space<private>>)
      outs(%y : memref<8xf32, #plan.space<private>>)
    ```
  }];
  let arguments = (ins Arg<Plan_Buffer, "", [MemRead]>:$index, TypedArrayAttrBase<FlatSymbolRefAttr, "functions">:$branches,
    Arg<Variadic<Plan_Buffer>, "", [MemRead]>:$inputs, Arg<Variadic<Plan_Buffer>, "", [Plan_Overwrite]>:$outputs,
    Arg<Optional<Plan_Buffer>, "", [Plan_Overwrite]>:$private_scratch, Arg<Optional<Plan_Buffer>, "", [Plan_Overwrite]>:$window_scratch);
  let assemblyFormat = [{
    $index `:` type($index) `of` $branches `ins` `(` ($inputs^ `:` type($inputs))? `)` `outs` `(` ($outputs^ `:` type($outputs))? `)`
    (`private` `(` $private_scratch^ `:` type($private_scratch) `)`)? (`window` `(` $window_scratch^ `:` type($window_scratch) `)`)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    CostClass getCostClass() { return CostClass::Control; }
  }];
}

#endif
