// The dialect, its enums and attributes. Includes nothing of other dialects: TableGen would generate their enums again.
#ifndef SGD_DIALECTS_PLAN_ATTRS_TD
#define SGD_DIALECTS_PLAN_ATTRS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::mlir::plan";
  let summary = "The plan level: a flat list of instructions over private, window, constant and host memory";
  let description = [{
    A program is a `func.func` of one block whose arguments and results are memrefs with a `#plan.space`. Buffers come from arguments,
    `plan.alloc` and `plan.constant`; `plan.view` looks at a part of one. Every other op is one instruction of the artifact and runs to its end
    before the next one begins, except a collective with a token, which a `plan.done` ends, and a `plan.host_copy`, which a `plan.host_copied` ends. Offsets are absent until they are assigned: on `plan.alloc` as `offset`, on arguments as `plan.offset`.
    Arguments and results carry `plan.tensor`: the tensor that the user sees.

    ```mlir
    plan.kernel @relu {
    ^bb0(%x: tensor<8xf32>):
      %0 = fusion.cluster(%x) { ... } : (tensor<8xf32>) -> tensor<8xf32>
    }
    func.func @main(%x: memref<8xf32, #plan.space<private>> {plan.offset = 0 : i64}) -> memref<8xf32, #plan.space<private>> {
      %y = plan.alloc offset 64 : memref<8xf32, #plan.space<private>>
      plan.launch @relu ins(%x : memref<8xf32, #plan.space<private>>) outs(%y : memref<8xf32, #plan.space<private>>) range 8 grain 8
      return %y : memref<8xf32, #plan.space<private>>
    }
    ```
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::mlir::fusion::FusionDialect", "::mlir::memref::MemRefDialect"];
}

def Plan_SpaceEnum : I32EnumAttr<"Space", "the memory space of a buffer", [
    I32EnumAttrCase<"Private", 0, "private">, I32EnumAttrCase<"Window", 1, "window">, I32EnumAttrCase<"Constant", 2, "constant">,
    I32EnumAttrCase<"Scratch", 3, "scratch">, I32EnumAttrCase<"Host", 4, "host">]> {
  let cppNamespace = "::mlir::plan";
  let genSpecializedAttr = 0;
}
def Plan_Space : EnumAttr<Plan_Dialect, Plan_SpaceEnum, "space"> {
  let summary = "`private`: the rank's own; `window`: peers read or write it; `constant`: read-only, in the artifact; `scratch`: a thread's own, inside plan.tiled; `host`: of the host beside a device, which plan.host_copy alone reads and writes";
  let assemblyFormat = "`<` $value `>`";
}

def Plan_CollectiveKind : AttrDef<Plan_Dialect, "CollectiveKind"> {
  let mnemonic = "collective_kind";
  let summary = "What a collective does: a kind of runtime/comm/collectives/collective_kind.h, by its name there";
  let parameters = (ins AttrParameter<"::mlir::plan::CollectiveKind", "a kind of collective">:$value);
  let assemblyFormat = "$value";
  // As attributes of enums have it.
  let returnType = "::mlir::plan::CollectiveKind";
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall = "::mlir::plan::CollectiveKindAttr::get($_builder.getContext(), $0)";
}

def Plan_Work : AttrDef<Plan_Dialect, "Work"> {
  let mnemonic = "work";
  let summary = "The cost of an instruction (dialects/cost/work.h): `<vector single 128, transcendental single 16, read 512, written 512>`";
  let parameters = (ins AttrParameter<"::mlir::sgd::Work", "operations and bytes">:$value);
  let assemblyFormat = "`<` $value `>`";
}

def Plan_Token : TypeDef<Plan_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "A collective or a host copy in flight";
}

def Plan_Tensor : AttrDef<Plan_Dialect, "Tensor"> {
  let mnemonic = "tensor";
  let summary = "The global tensor of an argument or result: `<[128, 64], #sgd.sharding<@mesh, [{\"data\"}, {}]>>`";
  let description = [{ The global shape, the sharding (absent: replicated) and whether integers are unsigned. }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$globalShape, OptionalParameter<"::mlir::sgd::ShardingAttr">:$sharding,
                        DefaultValuedParameter<"bool", "false">:$isUnsigned);
  let hasCustomAssemblyFormat = 1;
}

#endif
