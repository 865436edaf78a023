// The input dialect `stablehlo` and the classes its ops share. It exists to be lowered: no pass works on it.
#ifndef SGD_FRONTENDS_STABLEHLO_DIALECT_TD
#define SGD_FRONTENDS_STABLEHLO_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributes.td"

def Stablehlo_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::mlir::stablehlo";
  let summary = "The ops that JAX prints, with the same names, attributes and syntax as OpenXLA's StableHLO";
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerElementwiseOps();
    void registerShapeOps();
    void registerRegionOps();
    void registerLibraryOps();
  }];
}

// Every operand and result has one type. (The trait of the core dialects would also generate type inference for each op.)
def SameTypes : NativeOpTrait<"SameTypes"> { let cppNamespace = "::mlir::stablehlo"; }

def SHLO_Int : RankedTensorOf<[AnyInteger]>;
def SHLO_Pred : RankedTensorOf<[I1]>;
def SHLO_Float : RankedTensorOf<[AnyFloat]>;
def SHLO_FloatOrComplex : RankedTensorOf<[AnyFloat, AnyComplex]>;
def SHLO_Number : RankedTensorOf<[AnyInteger, AnyFloat, AnyComplex]>;

class SHLO_Op<string mnemonic, list<Trait> traits = []> : Op<Stablehlo_Dialect, mnemonic, traits>;

#endif
