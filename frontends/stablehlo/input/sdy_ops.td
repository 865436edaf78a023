// The input dialect `sdy`: meshes, shardings and the ops of OpenXLA's Shardy that JAX prints.
#ifndef SGD_FRONTENDS_STABLEHLO_SDY_OPS_TD
#define SGD_FRONTENDS_STABLEHLO_SDY_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"

def Sdy_Dialect : Dialect {
  let name = "sdy";
  let cppNamespace = "::mlir::sdy";
  let summary = "Shardy's meshes and shardings as JAX prints them";
  let useDefaultAttributePrinterParser = 1;
}

class Sdy_Attr<string name, string attrMnemonic> : AttrDef<Sdy_Dialect, name> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}

def Sdy_Mesh : Sdy_Attr<"Mesh", "mesh"> {
  let summary = "`<[\"data\"=4, \"model\"=2], device_ids=[...]>`";
  let parameters = (ins ArrayRefParameter<"StringAttr">:$names, ArrayRefParameter<"int64_t">:$sizes, ArrayRefParameter<"int64_t">:$deviceIds);
}

def Sdy_AxisRef : Sdy_Attr<"AxisRef", "axis_ref"> {
  let summary = "`\"x\"`, or the sub-axis `\"x\":(2)4`; a whole axis has size 0";
  let parameters = (ins StringRefParameter<"">:$name, "int64_t":$preSize, "int64_t":$size);
}

def Sdy_DimSharding : Sdy_Attr<"DimSharding", "dimension_sharding"> {
  let summary = "`{\"x\", ?}p1`";
  let parameters = (ins ArrayRefParameter<"AxisRefAttr">:$axes, "bool":$isOpen, "std::optional<int64_t>":$priority);
}

def Sdy_Sharding : Sdy_Attr<"Sharding", "sharding"> {
  let summary = "`<@mesh, [{\"x\"}, {?}], replicated={\"y\"}, unreduced={\"z\"}>`";
  let description = [{ `mesh` is a FlatSymbolRefAttr or an inlined MeshAttr. }];
  let parameters = (ins "Attribute":$mesh, ArrayRefParameter<"DimShardingAttr">:$dims, ArrayRefParameter<"AxisRefAttr">:$replicated,
                        ArrayRefParameter<"AxisRefAttr">:$unreduced);
}

def Sdy_ShardingPerValue : Sdy_Attr<"ShardingPerValue", "sharding_per_value"> {
  let summary = "`<[<@mesh, [{}]>, <@mesh, [{\"x\"}]>]>`";
  let parameters = (ins ArrayRefParameter<"ShardingAttr">:$shardings);
}

def Sdy_ManualAxes : Sdy_Attr<"ManualAxes", "manual_axes"> {
  let summary = "`{\"data\", \"model\"}`";
  let parameters = (ins ArrayRefParameter<"StringAttr">:$names);
}

def Sdy_OpShardingRule : Sdy_Attr<"OpShardingRule", "op_sharding_rule"> {
  let summary = "The rule of a custom call, kept as text";
  let parameters = (ins StringRefParameter<"">:$text);
}

class Sdy_Op<string mnemonic, list<Trait> traits = []> : Op<Sdy_Dialect, mnemonic, traits>;

def Sdy_MeshOp : Sdy_Op<"mesh", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let arguments = (ins SymbolNameAttr:$sym_name, Sdy_Mesh:$mesh);
  let assemblyFormat = "$sym_name `=` $mesh attr-dict";
  let hasVerifier = 1;
}

class Sdy_Annotation<string mnemonic> : Sdy_Op<mnemonic> {
  let arguments = (ins AnyRankedTensor:$input, Sdy_Sharding:$sharding);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` custom<OneType>(type($input), type($result))";
}
def Sdy_ShardingConstraintOp : Sdy_Annotation<"sharding_constraint">;
def Sdy_ReshardOp : Sdy_Annotation<"reshard">;

def Sdy_ReturnOp : Sdy_Op<"return", [Terminator]> {
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

def Sdy_ManualComputationOp : Sdy_Op<"manual_computation"> {
  let summary = "A body written for one rank's shards along the manual axes";
  let arguments = (ins Variadic<AnyRankedTensor>:$tensors, Sdy_ShardingPerValue:$in_shardings, Sdy_ShardingPerValue:$out_shardings,
                       Sdy_ManualAxes:$manual_axes);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` operands `)` `in_shardings` `` `=` `` custom<Shardings>($in_shardings) `out_shardings` `` `=` `` custom<Shardings>($out_shardings)
    `manual_axes` `` `=` `` $manual_axes custom<ManualBody>($body) attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif
