// Attributes of `stablehlo`: enumerations and the dimension numbers of structured ops, in the syntax of the StableHLO text format.
#ifndef SGD_FRONTENDS_STABLEHLO_ATTRS_TD
#define SGD_FRONTENDS_STABLEHLO_ATTRS_TD

include "frontends/stablehlo/input/stablehlo_dialect.td"

class SHLO_EnumInfo<string name, list<I32EnumAttrCase> cases> : I32EnumAttr<name, "", cases> {
  let cppNamespace = "::mlir::stablehlo";
  let genSpecializedAttr = 0;
}
class SHLO_EnumAttr<EnumAttrInfo info, string attrMnemonic> : EnumAttr<Stablehlo_Dialect, info, attrMnemonic> {
  let assemblyFormat = "$value";
}

def SHLO_ComparisonDirectionInfo : SHLO_EnumInfo<"ComparisonDirection", [
    I32EnumAttrCase<"EQ", 0>, I32EnumAttrCase<"NE", 1>, I32EnumAttrCase<"GE", 2>, I32EnumAttrCase<"GT", 3>, I32EnumAttrCase<"LE", 4>, I32EnumAttrCase<"LT", 5>]>;
def SHLO_ComparisonDirection : SHLO_EnumAttr<SHLO_ComparisonDirectionInfo, "comparison_direction">;
def SHLO_ComparisonTypeInfo : SHLO_EnumInfo<"ComparisonType", [
    I32EnumAttrCase<"NOTYPE", 0>, I32EnumAttrCase<"FLOAT", 1>, I32EnumAttrCase<"TOTALORDER", 2>, I32EnumAttrCase<"SIGNED", 3>, I32EnumAttrCase<"UNSIGNED", 4>]>;
def SHLO_ComparisonType : SHLO_EnumAttr<SHLO_ComparisonTypeInfo, "comparison_type">;
def SHLO_PrecisionInfo : SHLO_EnumInfo<"Precision", [
    I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>, I32EnumAttrCase<"HIGHEST", 2>]>;
def SHLO_Precision : SHLO_EnumAttr<SHLO_PrecisionInfo, "precision">;
def SHLO_FftTypeInfo : SHLO_EnumInfo<"FftType", [
    I32EnumAttrCase<"FFT", 0>, I32EnumAttrCase<"IFFT", 1>, I32EnumAttrCase<"RFFT", 2>, I32EnumAttrCase<"IRFFT", 3>]>;
def SHLO_FftType : SHLO_EnumAttr<SHLO_FftTypeInfo, "fft_type">;
def SHLO_RngAlgorithmInfo : SHLO_EnumInfo<"RngAlgorithm", [
    I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"THREE_FRY", 1>, I32EnumAttrCase<"PHILOX", 2>]>;
def SHLO_RngAlgorithm : SHLO_EnumAttr<SHLO_RngAlgorithmInfo, "rng_algorithm">;
def SHLO_RngDistributionInfo : SHLO_EnumInfo<"RngDistribution", [I32EnumAttrCase<"UNIFORM", 0>, I32EnumAttrCase<"NORMAL", 1>]>;
def SHLO_RngDistribution : SHLO_EnumAttr<SHLO_RngDistributionInfo, "rng_distribution">;
def SHLO_TransposeInfo : SHLO_EnumInfo<"Transpose", [
    I32EnumAttrCase<"TRANSPOSE_INVALID", 0>, I32EnumAttrCase<"NO_TRANSPOSE", 1>, I32EnumAttrCase<"TRANSPOSE", 2>, I32EnumAttrCase<"ADJOINT", 3>]>;
def SHLO_Transpose : SHLO_EnumAttr<SHLO_TransposeInfo, "transpose">;
def SHLO_ResultAccuracyModeInfo : SHLO_EnumInfo<"ResultAccuracyMode", [
    I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGHEST", 1>, I32EnumAttrCase<"TOLERANCE", 2>]>;
def SHLO_ResultAccuracyMode : SHLO_EnumAttr<SHLO_ResultAccuracyModeInfo, "result_accuracy_mode"> {
  let assemblyFormat = "`<` $value `>`";
}

// `#stablehlo.NAME<field = value, ...>`: fields that are empty are not printed.
class SHLO_Struct<string name, string attrMnemonic, dag fields> : AttrDef<Stablehlo_Dialect, name> {
  let mnemonic = attrMnemonic;
  let parameters = fields;
  let hasCustomAssemblyFormat = 1;
}
def I64s : ArrayRefParameter<"int64_t">;

def SHLO_DotDimensionNumbers : SHLO_Struct<"DotDimensionNumbers", "dot", (ins
    I64s:$lhsBatching, I64s:$rhsBatching, I64s:$lhsContracting, I64s:$rhsContracting)>;

def SHLO_DotAlgorithm : SHLO_Struct<"DotAlgorithm", "dot_algorithm", (ins
    "Type":$lhsPrecisionType, "Type":$rhsPrecisionType, "Type":$accumulationType, "int64_t":$lhsComponentCount,
    "int64_t":$rhsComponentCount, "int64_t":$numPrimitiveOperations, "bool":$allowImpreciseAccumulation)>;

def SHLO_GatherDimensionNumbers : SHLO_Struct<"GatherDimensionNumbers", "gather", (ins
    I64s:$offsetDims, I64s:$collapsedSliceDims, I64s:$operandBatchingDims, I64s:$startIndicesBatchingDims,
    I64s:$startIndexMap, "int64_t":$indexVectorDim)>;

def SHLO_ScatterDimensionNumbers : SHLO_Struct<"ScatterDimensionNumbers", "scatter", (ins
    I64s:$updateWindowDims, I64s:$insertedWindowDims, I64s:$inputBatchingDims, I64s:$scatterIndicesBatchingDims,
    I64s:$scatterDimsToOperandDims, "int64_t":$indexVectorDim)>;

def SHLO_ConvDimensionNumbers : AttrDef<Stablehlo_Dialect, "ConvDimensionNumbers"> {
  let mnemonic = "conv";
  let summary = "`[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`: the meaning of each dimension of input, kernel and output";
  let parameters = (ins
      "int64_t":$inputBatch, "int64_t":$inputFeature, I64s:$inputSpatial,
      "int64_t":$kernelInputFeature, "int64_t":$kernelOutputFeature, I64s:$kernelSpatial,
      "int64_t":$outputBatch, "int64_t":$outputFeature, I64s:$outputSpatial);
  let hasCustomAssemblyFormat = 1;
}

def SHLO_ChannelHandle : SHLO_Struct<"ChannelHandle", "channel_handle", (ins "int64_t":$handle, "int64_t":$type)>;

def SHLO_OutputOperandAlias : SHLO_Struct<"OutputOperandAlias", "output_operand_alias", (ins
    I64s:$outputTupleIndices, "int64_t":$operandIndex, I64s:$operandTupleIndices)>;

def SHLO_ResultAccuracy : SHLO_Struct<"ResultAccuracy", "result_accuracy", (ins
    APFloatParameter<"">:$atol, APFloatParameter<"">:$rtol, "int64_t":$ulps, "ResultAccuracyModeAttr":$mode)>;

def SHLO_Token : TypeDef<Stablehlo_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "Orders side effects";
}

#endif
