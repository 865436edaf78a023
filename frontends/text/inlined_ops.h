// How many ops a program has once its calls are inlined, known before any is: functions that call each other twice over
// and over would fill the memory.
#ifndef SGD_FRONTENDS_TEXT_INLINED_OPS_H
#define SGD_FRONTENDS_TEXT_INLINED_OPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// Ops that one program may become: some twenty times those of a GPT of 96 layers, unrolled, with its gradients.
inline constexpr int64_t kMaxInlinedOps = int64_t{1} << 21;
/// How deep calls, loops and branches may nest: the importer calls itself for each.
inline constexpr unsigned kMaxImportDepth = 500;

/// Returns the function that an op is replaced by; null for none.
using GetCallee = FlatSymbolRefAttr (*)(Operation*);

/// That of func.call.
FlatSymbolRefAttr getCalledFunction(Operation* op);

class InlinedOps {
 public:
  using Functions = DenseMap<StringAttr, func::FuncOp>;
  /// `functions` must outlive this.
  InlinedOps(const Functions& functions, GetCallee getCallee) : functions(functions), getCallee(getCallee) {}

  /// Counts those of `function`. Fails, with an error at the call, where functions call themselves, where calls nest
  /// deeper than kMaxImportDepth, or where there are more than kMaxInlinedOps. Unknown functions count as nothing.
  LogicalResult check(func::FuncOp function);

 private:
  struct Size {
    int64_t ops = 0;
    unsigned depth = 1;
  };
  FailureOr<Size> measure(func::FuncOp function, Location call);
  FailureOr<Size> measure(Region& region);
  std::string describeCalls();

  const Functions& functions;
  const GetCallee getCallee;
  DenseMap<Operation*, Size> known;         // of functions
  SmallVector<func::FuncOp> openFunctions;  // those being measured
};

}  // namespace mlir::sgd

#endif
