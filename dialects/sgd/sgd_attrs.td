// Attributes of the graph level: mesh, axis references, shardings (Shardy's grammar), axis lists of collectives, reduction kinds.
#ifndef SGD_DIALECTS_SGD_ATTRS_TD
#define SGD_DIALECTS_SGD_ATTRS_TD

include "dialects/sgd/sgd_dialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"

class Sgd_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<Sgd_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Sgd_MeshAxis : Sgd_Attr<"MeshAxis", "axis"> {
  let summary = "A named mesh axis and its size, `\"data\"=4`";
  let parameters = (ins StringRefParameter<"name of the axis">:$name, "int64_t":$size);
  let hasCustomAssemblyFormat = 1;
}

def Sgd_Mesh : Sgd_Attr<"Mesh", "mesh"> {
  let summary = "Named axes over ranks, `<[\"data\"=4, \"model\"=2]>`; ranks are numbered row-major, the first axis slowest";
  let parameters = (ins OptionalArrayRefParameter<"::mlir::sgd::MeshAxisAttr">:$axes);
  let assemblyFormat = "`<` `[` (`]`) : ($axes^ `]`)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Size of the axis called `name`, or nullopt.
    std::optional<int64_t> getAxisSize(StringRef name) const;
    /// Position of the axis called `name`, or nullopt.
    std::optional<unsigned> getAxisIndex(StringRef name) const;
    /// Product of all sizes: the number of ranks.
    int64_t getNumRanks() const;
  }];
}

def Sgd_AxisRef : Sgd_Attr<"AxisRef", "axis_ref"> {
  let summary = "A whole axis `\"x\"`, or the part of it `\"x\":(2)4`: after a factor 2, a factor 4 of its size";
  let description = [{
    A sub-axis `"x":(p)s` of an axis of size n splits the axis' index as [p, s, n / (p * s)] and is the middle coordinate.
    A whole axis has `preSize` = 0 and `size` = 0.
  }];
  let parameters = (ins StringRefParameter<"name of the axis">:$name, "int64_t":$preSize, "int64_t":$size);
  let builders = [AttrBuilder<(ins "::llvm::StringRef":$name), [{ return $_get($_ctxt, name, 0, 0); }]>];
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    bool isWholeAxis() const { return getSize() == 0; }
    /// Number of shards it makes on `mesh`, whose axis it must name.
    int64_t getNumShards(MeshAttr mesh) const;
  }];
}

def Sgd_AxisList : Sgd_Attr<"AxisList", "axes"> {
  let summary = "The group of a collective: ranks that differ only on these axes of the mesh, ordered by linear index over them, first axis slowest";
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$mesh, OptionalArrayRefParameter<"::mlir::sgd::AxisRefAttr">:$axes);
  let assemblyFormat = "`<` $mesh `,` `{` (`}`) : ($axes^ `}`)? `>`";
}

def Sgd_Range : Sgd_Attr<"Range", "range"> {
  let summary = "Which elements of dimension `dim` of a tensor of which every rank holds a tile a rank gathers";
  let description = [{
    The dimension has `size` elements. Element e of result j is element floor((scale * j + offset) / divisor) + e * step, or zero where that
    is not in [0, size). A halo of one element on both sides of tiles of 4: `<dim = 0, size = 16, scale = 4, offset = -1>`.
  }];
  let parameters = (ins "int64_t":$dim, "int64_t":$size, "int64_t":$scale, "int64_t":$offset,
                        DefaultValuedParameter<"int64_t", "1">:$divisor, DefaultValuedParameter<"int64_t", "1">:$step);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Sgd_DimSharding : Sgd_Attr<"DimSharding", "dim"> {
  let summary = "Axes that shard one dimension, major to minor: `{\"x\", \"y\":(1)2}`; `{\"x\", ?}` is open: propagation may add axes";
  let parameters = (ins OptionalArrayRefParameter<"::mlir::sgd::AxisRefAttr">:$axes, "bool":$isOpen, "std::optional<int64_t>":$priority);
  let hasCustomAssemblyFormat = 1;
}

def Sgd_ReduceKindEnum : I32EnumAttr<"ReduceKind", "how values are combined", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Mul", 1, "mul">,
    I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">,
    I32EnumAttrCase<"UMax", 4, "umax">, I32EnumAttrCase<"UMin", 5, "umin">,
    I32EnumAttrCase<"And", 6, "and">, I32EnumAttrCase<"Or", 7, "or">, I32EnumAttrCase<"Xor", 8, "xor">]> {
  let cppNamespace = "::mlir::sgd";
  let genSpecializedAttr = 0;
}
def Sgd_ReduceKind : EnumAttr<Sgd_Dialect, Sgd_ReduceKindEnum, "reduce_kind"> { let assemblyFormat = "$value"; }

def Sgd_ScatterKindEnum : I32EnumAttr<"ScatterKind", "how an update meets the value it is scattered onto", [
    I32EnumAttrCase<"Set", 0, "set">, I32EnumAttrCase<"Add", 1, "add">, I32EnumAttrCase<"Mul", 2, "mul">,
    I32EnumAttrCase<"Max", 3, "max">, I32EnumAttrCase<"Min", 4, "min">,
    I32EnumAttrCase<"UMax", 5, "umax">, I32EnumAttrCase<"UMin", 6, "umin">,
    I32EnumAttrCase<"And", 7, "and">, I32EnumAttrCase<"Or", 8, "or">, I32EnumAttrCase<"Xor", 9, "xor">]> {
  let cppNamespace = "::mlir::sgd";
  let genSpecializedAttr = 0;
}
def Sgd_ScatterKind : EnumAttr<Sgd_Dialect, Sgd_ScatterKindEnum, "scatter_kind"> { let assemblyFormat = "$value"; }

def Sgd_Sharding : Sgd_Attr<"Sharding", "sharding", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding, ["verifyEncoding"]>]> {
  let summary = "The sharding of a tensor over a mesh: axes per dimension, replicated axes, and axes over which it is unreduced (partial)";
  let description = [{
    `#sgd.sharding<@mesh, [{"data"}, {?}, {"x":(1)2, "y"}p1], replicated={"z"}, unreduced={"w"}>`. Dimensions not divided evenly
    are padded at the end of the last shard. `unreduced=max{"w"}` names the reduction when it is not a sum: each rank along "w" holds a
    summand (a *partial* value).
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$mesh,
                        OptionalArrayRefParameter<"::mlir::sgd::DimShardingAttr">:$dims,
                        OptionalArrayRefParameter<"::mlir::sgd::AxisRefAttr">:$replicated,
                        OptionalArrayRefParameter<"::mlir::sgd::AxisRefAttr">:$unreduced,
                        "::mlir::sgd::ReduceKind":$unreducedKind);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    int64_t getRank() const { return getDims().size(); }
    /// True when no axis shards a dimension and nothing is unreduced.
    bool isFullyReplicated() const;
    bool isPartial() const { return !getUnreduced().empty(); }
    /// Every dimension closed and empty.
    static ShardingAttr getReplicated(MLIRContext *context, FlatSymbolRefAttr mesh, int64_t rank);
    /// Number of shards of dimension `dim` on `mesh`.
    int64_t getNumShards(int64_t dim, MeshAttr mesh) const;
    /// The shape of one shard of `globalShape`: each dimension divided, rounded up.
    SmallVector<int64_t> getLocalShape(ArrayRef<int64_t> globalShape, MeshAttr mesh) const;
    /// Checks axis names, sizes, overlaps and the number of dimensions against `mesh` and `shape`; says what is wrong through `emitError`.
    LogicalResult verifyAgainst(MeshAttr mesh, ArrayRef<int64_t> shape, function_ref<InFlightDiagnostic()> emitError) const;
  }];
}

def Sgd_DecisionKindEnum : I32EnumAttr<"DecisionKind", "what a pass decided about", [
    I32EnumAttrCase<"Choice", 0, "choice">,            // the annotations of a whole program
    I32EnumAttrCase<"Attention", 1, "attention">,      // how attention is computed whose positions are sharded
    I32EnumAttrCase<"Update", 2, "update">,            // whether ranks share the update of replicated state
    I32EnumAttrCase<"Compression", 3, "compression">,  // how a reduction of a gradient is compressed
    I32EnumAttrCase<"Movement", 4, "movement">,        // which collective moves data between ranks
    I32EnumAttrCase<"Message", 5, "message">,          // whether ranks send parts of what they have alike
    I32EnumAttrCase<"Hoist", 6, "hoist">,              // which matmuls are computed outside of their loop
    I32EnumAttrCase<"Prefetch", 7, "prefetch">,        // which gathers start an iteration ahead
    I32EnumAttrCase<"Ring", 8, "ring">,                // which matmuls hide their collective in a ring
    I32EnumAttrCase<"Overlap", 9, "overlap">,          // which collectives run beside compute
    I32EnumAttrCase<"Recompute", 10, "recompute">,      // what is computed again for the memory limit
    I32EnumAttrCase<"Pack", 11, "pack">]> {            // which weights are packed in front of their loop
  let cppNamespace = "::mlir::sgd";
  let genSpecializedAttr = 0;
}
def Sgd_DecisionKind : EnumAttr<Sgd_Dialect, Sgd_DecisionKindEnum, "decision_kind"> { let assemblyFormat = "$value"; }

def Sgd_Decision : Sgd_Attr<"Decision", "decision"> {
  let summary = "What a pass decided, and what else was possible, `#sgd.decision<update, {chosen = \"sharded\", ...}>`";
  let description = [{
    Stands in the array `sgd.decisions` of the function or op that it is about. Reports and explanations read it; no pass needs it. Its fields are those of `Decision` (dialects/sgd/decision.h); what is
    left out is empty. Nothing else has to know a new kind.
  }];
  let parameters = (ins EnumParameter<Sgd_DecisionKindEnum>:$kind, "::mlir::DictionaryAttr":$fields);
  let assemblyFormat = "`<` $kind `,` $fields `>`";
}

def Sgd_Request : Sgd_Attr<"Request", "request"> {
  let summary = "What a compilation is: what the user asked for, and what passes have added"
                ", `#sgd.request<version = 2, {level = \"graph\", recipe = \"...\", ...}>`";
  let description = [{
    The attribute `sgd.request` of the module of a compilation. Passes that need the recipe or a flag read it there; compiler/request names the fields. What is left out has its default.

    `programs` names the programs of the artifact (train, eval, init) and their files. They are the modules inside of the module that has the request, in this order, until `sgd-join-programs`
    moves their functions into that module. They run on one mesh; arguments of equal names are one tensor, in one sharding and one buffer.

    `level` is the last level that all programs have reached. From there `sgd-opt --replay` goes on.
  }];
  let parameters = (ins "int64_t":$version, "::mlir::DictionaryAttr":$fields);
  let assemblyFormat = "`<` `version` `=` $version `,` $fields `>`";
}

#endif
