// The epilogue of a call as an attribute, of this dialect's calls and of the plan's.
#ifndef SGD_DIALECTS_FUSION_EPILOGUE_TD
#define SGD_DIALECTS_FUSION_EPILOGUE_TD

include "dialects/fusion/fusion_dialect.td"
include "mlir/IR/AttrTypeBase.td"

def Fusion_Epilogue : AttrDef<Fusion_Dialect, "Epilogue"> {
  let mnemonic = "epilogue";
  let summary = "What a call does to its accumulators before it writes them: a list of steps, such as `[bias, relu]`";
  let description = [{
    The steps of runtime/library/epilogue.h, in the order in which they are done: `residual`, `bias`, `relu`, `gelu`, `gelu_gradient`,
    `lhs_reduction`, `rhs_reduction`. The result is rounded once, after the last one.
  }];
  let parameters = (ins AttrParameter<"::mlir::fusion::Epilogue", "the steps">:$value);
  let hasCustomAssemblyFormat = 1;
  // As attributes of enums have it.
  let returnType = "::mlir::fusion::Epilogue";
  let convertFromStorage = "$_self.getValue()";
  let constBuilderCall = "::mlir::fusion::EpilogueAttr::get($_builder.getContext(), $0)";
}

#endif
