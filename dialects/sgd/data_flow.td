// The interface of ops that hand tensors on as they are: loops and branches, through their regions, and barriers.
#ifndef SGD_DIALECTS_SGD_DATA_FLOW_TD
#define SGD_DIALECTS_SGD_DATA_FLOW_TD

include "mlir/IR/OpBase.td"

def Sgd_DataFlowOpInterface : OpInterface<"DataFlowOpInterface"> {
  let cppNamespace = "::mlir::sgd";
  let description = [{
    Which operands, block arguments, yielded values and results carry one value: the edges of an op, as Shardy's data-flow edges. Whatever
    follows values through loops and branches (propagation, links of state, what differs between ranks) asks for these and names no op.
  }];
  let methods = [InterfaceMethod<"How edges follow from the places of operands, arguments, yielded values and results.",
    "::mlir::sgd::DataFlowForm", "getDataFlowForm">];
  let extraClassDeclaration = [{
    unsigned getNumDataFlowEdges();
    ::mlir::sgd::DataFlowEdge getDataFlowEdge(unsigned index);
    ::llvm::SmallVector<::mlir::sgd::DataFlowEdge> getDataFlowEdges();
    /// The edge of `target`, one of the op's results or an argument of one of its blocks.
    unsigned getDataFlowEdgeInto(::mlir::Value target);
    /// The edge of `source`, an operand of the op or of a terminator in it; none for what the op or its condition reads itself.
    ::std::optional<unsigned> getDataFlowEdgeFrom(::mlir::OpOperand& source);
    /// The value that decides which regions run or how often; null where nothing does.
    ::mlir::Value getDecider();
  }];
}

#endif
