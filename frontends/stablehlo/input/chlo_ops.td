// The input dialect `chlo`: the ops of OpenXLA's CHLO that JAX prints.
#ifndef SGD_FRONTENDS_STABLEHLO_CHLO_OPS_TD
#define SGD_FRONTENDS_STABLEHLO_CHLO_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributes.td"

def Chlo_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::mlir::chlo";
  let summary = "Client ops beside `stablehlo`";
  let useDefaultAttributePrinterParser = 1;
}

def Chlo_Number : RankedTensorOf<[AnyInteger, AnyFloat, AnyComplex]>;

class Chlo_Op<string mnemonic, list<Trait> traits = []> : Op<Chlo_Dialect, mnemonic, traits>;
class Chlo_Unary<string mnemonic> : Chlo_Op<mnemonic, [SameOperandsAndResultShape]> {
  let arguments = (ins Chlo_Number:$operand);
  let results = (outs Chlo_Number:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
}
class Chlo_Binary<string mnemonic> : Chlo_Op<mnemonic, [SameOperandsAndResultShape]> {
  let arguments = (ins Chlo_Number:$lhs, Chlo_Number:$rhs);
  let results = (outs Chlo_Number:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)";
}

def Chlo_AcosOp : Chlo_Unary<"acos">;
def Chlo_AcoshOp : Chlo_Unary<"acosh">;
def Chlo_AsinOp : Chlo_Unary<"asin">;
def Chlo_AsinhOp : Chlo_Unary<"asinh">;
def Chlo_AtanOp : Chlo_Unary<"atan">;
def Chlo_AtanhOp : Chlo_Unary<"atanh">;
def Chlo_BesselI1eOp : Chlo_Unary<"bessel_i1e">;
def Chlo_ConjOp : Chlo_Unary<"conj">;
def Chlo_CoshOp : Chlo_Unary<"cosh">;
def Chlo_DigammaOp : Chlo_Unary<"digamma">;
def Chlo_ErfOp : Chlo_Unary<"erf">;
def Chlo_ErfInvOp : Chlo_Unary<"erf_inv">;
def Chlo_ErfcOp : Chlo_Unary<"erfc">;
def Chlo_IsInfOp : Chlo_Unary<"is_inf">;
def Chlo_IsNegInfOp : Chlo_Unary<"is_neg_inf">;
def Chlo_IsPosInfOp : Chlo_Unary<"is_pos_inf">;
def Chlo_LgammaOp : Chlo_Unary<"lgamma">;
def Chlo_SinhOp : Chlo_Unary<"sinh">;
def Chlo_SquareOp : Chlo_Unary<"square">;
def Chlo_TanOp : Chlo_Unary<"tan">;
def Chlo_MulhiOp : Chlo_Binary<"mulhi">;
def Chlo_NextAfterOp : Chlo_Binary<"next_after">;
def Chlo_PolygammaOp : Chlo_Binary<"polygamma">;
def Chlo_ZetaOp : Chlo_Binary<"zeta">;

def Chlo_TopKOp : Chlo_Op<"top_k"> {
  let arguments = (ins Chlo_Number:$operand, I64Attr:$k);
  let results = (outs Chlo_Number:$values, Chlo_Number:$indices);
  let assemblyFormat = "`(` $operand `,` `k` `=` $k `)` attr-dict `:` type($operand) `->` `(` type($values) `,` type($indices) `)`";
}

def Chlo_PrecisionInfo : I32EnumAttr<"Precision", "", [I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>, I32EnumAttrCase<"HIGHEST", 2>]> {
  let cppNamespace = "::mlir::chlo";
  let genSpecializedAttr = 0;
}
def Chlo_Precision : EnumAttr<Chlo_Dialect, Chlo_PrecisionInfo, "precision"> { let assemblyFormat = "$value"; }

def Chlo_RaggedDotDimensionNumbers : AttrDef<Chlo_Dialect, "RaggedDotDimensionNumbers"> {
  let mnemonic = "ragged_dot";
  let parameters = (ins ArrayRefParameter<"int64_t">:$lhsBatching, ArrayRefParameter<"int64_t">:$rhsBatching,
      ArrayRefParameter<"int64_t">:$lhsContracting, ArrayRefParameter<"int64_t">:$rhsContracting,
      ArrayRefParameter<"int64_t">:$lhsRagged, ArrayRefParameter<"int64_t">:$rhsGroup);
  let hasCustomAssemblyFormat = 1;
}

def Chlo_RaggedDotOp : Chlo_Op<"ragged_dot"> {
  let arguments = (ins Chlo_Number:$lhs, Chlo_Number:$rhs, Chlo_Number:$group_sizes,
                       Chlo_RaggedDotDimensionNumbers:$ragged_dot_dimension_numbers, OptionalAttr<ArrayAttr>:$precision_config);
  let results = (outs Chlo_Number:$result);
}

#endif
