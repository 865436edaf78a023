// The interface by which an op of any level reports its cost, independent of the machine.
#ifndef SGD_DIALECTS_COST_COST_OP_TD
#define SGD_DIALECTS_COST_COST_OP_TD

include "mlir/IR/OpBase.td"

def CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::mlir::sgd";
  let description = [{
    The cost of one execution of an op: operations by kind and element type, and bytes (`Work` in work.h, which is free of IR). `passes/cost` turns it
    into seconds on a device. Loops and branches have no work of their own. Ops without the interface cost nothing.

    Graph ops, `arith` and `math` get external models in this folder, a file per family of ops; kernels and library calls, collectives and
    instructions of the plan in the folders of their dialects.
  }];
  let methods = [
    InterfaceMethod<"Operations and bytes of one execution by itself, with all operands and results in memory.", "::mlir::sgd::Work", "getWork">,
    InterfaceMethod<[{
      Whether kernels compute it together with what makes its operands or reads its results, so that these need not be in memory.
    }], "bool", "isFused", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<"What ranks send each other by it: of collectives.", "::std::optional<::mlir::sgd::Exchange>", "getExchange", (ins), [{}],
      [{ return ::std::nullopt; }]>,
  ];
}

#endif
