// Elementwise ops of `stablehlo`: one line an op.
#ifndef SGD_FRONTENDS_STABLEHLO_ELEMENTWISE_OPS_TD
#define SGD_FRONTENDS_STABLEHLO_ELEMENTWISE_OPS_TD

include "frontends/stablehlo/input/stablehlo_attrs.td"

// `stablehlo.abs %x : tensor<4xf32>`, or `: (tensor<4xcomplex<f32>>) -> tensor<4xf32>` where types differ.
class SHLO_Unary<string mnemonic, Type type, list<Trait> traits = [SameTypes]> : SHLO_Op<mnemonic, traits> {
  let arguments = (ins type:$operand);
  let results = (outs type:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}
class SHLO_Transcendental<string mnemonic> : SHLO_Unary<mnemonic, SHLO_FloatOrComplex> {
  let arguments = (ins SHLO_FloatOrComplex:$operand, OptionalAttr<SHLO_ResultAccuracy>:$result_accuracy);
}
class SHLO_Conversion<string mnemonic, Type from, Type to, list<Trait> traits = [SameOperandsAndResultShape]> : SHLO_Op<mnemonic, traits> {
  let arguments = (ins from:$operand);
  let results = (outs to:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
}
class SHLO_Binary<string mnemonic, Type type, list<Trait> traits = [SameTypes]> : SHLO_Op<mnemonic, traits> {
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` custom<SameOperandsAndResultType>(type($lhs), type($rhs), type($result))";
}

def SHLO_AbsOp : SHLO_Unary<"abs", SHLO_Number, [SameOperandsAndResultShape]>;
def SHLO_CbrtOp : SHLO_Transcendental<"cbrt">;
def SHLO_CeilOp : SHLO_Unary<"ceil", SHLO_Float>;
def SHLO_ClzOp : SHLO_Unary<"count_leading_zeros", SHLO_Int>;
def SHLO_CosineOp : SHLO_Transcendental<"cosine">;
def SHLO_ExpOp : SHLO_Transcendental<"exponential">;
def SHLO_Expm1Op : SHLO_Transcendental<"exponential_minus_one">;
def SHLO_FloorOp : SHLO_Unary<"floor", SHLO_Float>;
def SHLO_LogOp : SHLO_Transcendental<"log">;
def SHLO_Log1pOp : SHLO_Transcendental<"log_plus_one">;
def SHLO_LogisticOp : SHLO_Transcendental<"logistic">;
def SHLO_NegOp : SHLO_Unary<"negate", SHLO_Number>;
def SHLO_NotOp : SHLO_Unary<"not", SHLO_Int>;
def SHLO_PopulationCountOp : SHLO_Unary<"popcnt", SHLO_Int>;
def SHLO_RoundNearestAfzOp : SHLO_Unary<"round_nearest_afz", SHLO_Float>;
def SHLO_RoundNearestEvenOp : SHLO_Unary<"round_nearest_even", SHLO_Float>;
def SHLO_RsqrtOp : SHLO_Transcendental<"rsqrt">;
def SHLO_SignOp : SHLO_Unary<"sign", SHLO_Number>;
def SHLO_SineOp : SHLO_Transcendental<"sine">;
def SHLO_SqrtOp : SHLO_Transcendental<"sqrt">;
def SHLO_TanOp : SHLO_Transcendental<"tan">;
def SHLO_TanhOp : SHLO_Transcendental<"tanh">;

def SHLO_BitcastConvertOp : SHLO_Conversion<"bitcast_convert", SHLO_Number, SHLO_Number, []> { let hasVerifier = 1; }
def SHLO_ConvertOp : SHLO_Unary<"convert", SHLO_Number, [SameOperandsAndResultShape]>;
class SHLO_Part<string mnemonic> : SHLO_Op<mnemonic, [SameOperandsAndResultShape]> {
  let arguments = (ins SHLO_FloatOrComplex:$operand);
  let results = (outs SHLO_Float:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameOperandsAndResultType>(type($operand), type($result))";
}
def SHLO_ImagOp : SHLO_Part<"imag">;
def SHLO_IsFiniteOp : SHLO_Conversion<"is_finite", SHLO_Float, SHLO_Pred>;
def SHLO_RealOp : SHLO_Part<"real">;

def SHLO_AddOp : SHLO_Binary<"add", SHLO_Number>;
def SHLO_AndOp : SHLO_Binary<"and", SHLO_Int>;
def SHLO_Atan2Op : SHLO_Binary<"atan2", SHLO_FloatOrComplex>;
def SHLO_DivOp : SHLO_Binary<"divide", SHLO_Number>;
def SHLO_MaxOp : SHLO_Binary<"maximum", SHLO_Number>;
def SHLO_MinOp : SHLO_Binary<"minimum", SHLO_Number>;
def SHLO_MulOp : SHLO_Binary<"multiply", SHLO_Number>;
def SHLO_OrOp : SHLO_Binary<"or", SHLO_Int>;
def SHLO_PowOp : SHLO_Binary<"power", SHLO_Number>;
def SHLO_RemOp : SHLO_Binary<"remainder", SHLO_Number>;
def SHLO_ShiftLeftOp : SHLO_Binary<"shift_left", SHLO_Int>;
def SHLO_ShiftRightArithmeticOp : SHLO_Binary<"shift_right_arithmetic", SHLO_Int>;
def SHLO_ShiftRightLogicalOp : SHLO_Binary<"shift_right_logical", SHLO_Int>;
def SHLO_SubtractOp : SHLO_Binary<"subtract", SHLO_Number>;
def SHLO_XorOp : SHLO_Binary<"xor", SHLO_Int>;

def SHLO_ComplexOp : SHLO_Op<"complex", [SameOperandsAndResultShape]> {
  let arguments = (ins SHLO_Float:$lhs, SHLO_Float:$rhs);
  let results = (outs RankedTensorOf<[AnyComplex]>:$result);
  let assemblyFormat = "operands attr-dict `:` custom<ComplexType>(type($lhs), type($rhs), type($result))";
}

def SHLO_CompareOp : SHLO_Op<"compare", [SameOperandsAndResultShape]> {
  let arguments = (ins SHLO_Number:$lhs, SHLO_Number:$rhs, SHLO_ComparisonDirection:$comparison_direction,
                       OptionalAttr<SHLO_ComparisonType>:$compare_type);
  let results = (outs SHLO_Pred:$result);
  let assemblyFormat = "`` $comparison_direction `,` $lhs `,` $rhs (`,` `` $compare_type^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def SHLO_SelectOp : SHLO_Op<"select"> {
  let arguments = (ins SHLO_Pred:$pred, SHLO_Number:$on_true, SHLO_Number:$on_false);
  let results = (outs SHLO_Number:$result);
  let assemblyFormat = "operands attr-dict `:` custom<SelectType>(type($pred), type($on_true), type($on_false), type($result))";
  let hasVerifier = 1;
}

def SHLO_ClampOp : SHLO_Op<"clamp"> {
  let arguments = (ins SHLO_Number:$min, SHLO_Number:$operand, SHLO_Number:$max);
  let results = (outs SHLO_Number:$result);
  let assemblyFormat = [{
    $min `,` $operand `,` $max attr-dict `:` custom<SameOperandsAndResultType>(type($min), type($operand), type($max), type($result))
  }];
  let hasVerifier = 1;
}

def SHLO_ReducePrecisionOp : SHLO_Op<"reduce_precision", [SameTypes]> {
  let arguments = (ins SHLO_Float:$operand, I32Attr:$exponent_bits, I32Attr:$mantissa_bits);
  let results = (outs SHLO_Float:$result);
  let assemblyFormat = [{
    $operand `,` `format` `=` custom<FloatFormat>($exponent_bits, $mantissa_bits) attr-dict `:`
    custom<SameOperandsAndResultType>(type($operand), type($result))
  }];
}

#endif
