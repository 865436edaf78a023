// The contents of memory over a step, by the lifetimes that offsets were assigned by.
#ifndef SGD_COMPILER_REPORT_BUFFER_RECORDS_H
#define SGD_COMPILER_REPORT_BUFFER_RECORDS_H

#include "compiler/export/export.h"
#include "nlohmann/json.hpp"

namespace mlir::sgd {

/// Of a plan-level function and all that it runs: {"texts": [...], "names", "scopes", "locs": [indices into the texts],
/// "kinds": [names of roles, "output", or "value"], "phases": [names], "spaces": [names], "bytes": [...], "first",
/// "last": [instructions between which it is alive]}, an entry in each list for each lifetime of a buffer. `ops` is
/// where its instructions come from. Buffers of loops stand in the place of the memory that the loops are given for
/// them.
nlohmann::json getBufferRecords(func::FuncOp function, llvm::ArrayRef<Operation*> ops);

}  // namespace mlir::sgd

#endif
