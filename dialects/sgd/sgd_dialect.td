// The dialect and the base classes of its ops: nothing else, so that attribute and op files stay independent.
#ifndef SGD_DIALECTS_SGD_DIALECT_TD
#define SGD_DIALECTS_SGD_DIALECT_TD

include "mlir/IR/OpBase.td"

def Sgd_Dialect : Dialect {
  let name = "sgd";
  let cppNamespace = "::mlir::sgd";
  let summary = "The graph level: tensor programs on global shapes, with shardings over a named mesh";
  let description = [{
    A program at this level is `func` + `arith`/`math` on tensors for every elementwise op that is defined on all inputs, plus this
    dialect for the rest. Shapes are static and global; integers are signless. A sharding is part of a tensor's type (its encoding)
    from the end of propagation until localisation; before that it stands on arguments, results and `sgd.sharding_constraint`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{ void registerAttributes(); }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::math::MathDialect"];
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

class Sgd_Op<string mnemonic, list<Trait> traits = []> : Op<Sgd_Dialect, mnemonic, traits>;

#endif
