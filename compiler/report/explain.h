// Why each collective is there: the source line that caused it, what it does and what it costs; as text and as JSON.
#ifndef SGD_COMPILER_EXPLAIN_H
#define SGD_COMPILER_EXPLAIN_H

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/cost/topology.h"

namespace mlir::sgd {

/// One reshard or collective.
struct ExplainRecord {
  std::string program;
  std::string location;  ///< file:line:col of the user's source
  std::string op;        ///< "all_reduce", "all_gather", ...
  std::string from;      ///< sharding before, empty when the op has none
  std::string to;        ///< sharding after
  std::string steps;     ///< "all_reduce add over {\"data\"}"
  uint64_t bytes = 0;    ///< sent per rank and step
  double seconds = 0;    ///< of a step, by the cost model
  std::string why;
};

struct Explanation {
  std::vector<ExplainRecord> records;

  llvm::json::Value toJson() const;
  void print(llvm::raw_ostream& os) const;
};

/// Reads what toJson() gives. False when something is missing or of another type.
bool fromJson(const llvm::json::Value& json, Explanation& explanation);

/// One record per reshard that caused a collective of a plan-level module, in program order. Times are for `topology`.
Explanation computeExplanation(ModuleOp plan, const Topology& topology);

}  // namespace mlir::sgd

#endif
