// Why each collective is there, and what runs again to keep the memory limit: the source line that caused it, what it
// does and what it costs; as text and as JSON.
#ifndef SGD_COMPILER_EXPLAIN_H
#define SGD_COMPILER_EXPLAIN_H

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/bound/lower_bound.h"
#include "dialects/sgd/decision.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/BuiltinOps.h"
#include "nlohmann/json.hpp"
#include "passes/cost/topology.h"

namespace mlir::sgd {

/// One decision, collective or message.
struct ExplainRecord {
  std::string program;
  std::string location;  ///< file:line:col of the user's source
  std::string op;        ///< "all_reduce", "all_gather", ..., "send", "offload", or the kind of the decision
  std::string subject;   ///< parameter, argument, result or type of a tensor that it is about
  std::string scope;     ///< of the user's program
  std::string chosen;    ///< "sharded", "bf16", "ring", ...
  std::vector<Alternative> alternatives;
  std::string from;  ///< sharding before, or what moves; empty when the collective is the program's own
  std::string to;
  std::string steps;   ///< "step 1 of 1: all_reduce, 6144 bytes sent, 13.0 us"
  uint64_t bytes = 0;  ///< sent per rank and step; of a collective of several tensors, all of it in its first record
  double seconds = 0;  ///< of a step, by the cost model; likewise
  uint64_t collective = 0;   ///< of the program, from 1; 0 where the record is about none
  uint64_t tensorBytes = 0;  ///< what this tensor alone would send, of a collective
  uint64_t neededBytes = 0;  ///< of these, what the lower bound has for it; known of the reported program alone
  double hiddenSeconds = 0;  ///< of a collective that runs beside compute
  std::string why;
  uint64_t freedBytes = 0;  ///< by running again: of buffers that need not be kept
  uint64_t flops = 0;       ///< of running again

  /// Whether it says how much of a collective is hidden, and moves nothing.
  bool isOverlap() const { return hiddenSeconds > 0; }
};

struct ExplanationReport {
  std::vector<ExplainRecord> records;

  nlohmann::json toJson() const;
  /// For people; see printSummary().
  void print(llvm::raw_ostream& os) const;
  /// Each record in two lines, in program order.
  void printAll(llvm::raw_ostream& os) const;
};

/// Reads what toJson() gives. False when something is missing or of another type.
bool fromJson(const nlohmann::json& json, ExplanationReport& explanation);

/// One record per movement that a collective of a plan-level module is for, per message to another stage, and per
/// instruction that runs again, in program order; behind those of a program, one for each decision about it as a whole,
/// and for each tensor on the host. Times are for `topology`; `bound` is that of the report.
ExplanationReport computeExplanation(ModuleOp plan, const Topology& topology, const LowerBound& bound);

}  // namespace mlir::sgd

#endif
