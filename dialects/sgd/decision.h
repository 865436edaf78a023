// Decisions of passes as data: one record for all kinds.
#ifndef SGD_DIALECTS_SGD_DECISION_H
#define SGD_DIALECTS_SGD_DECISION_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

/// Discardable attribute of functions and ops: an array of DecisionAttr, in the order in which passes decided.
inline constexpr llvm::StringLiteral kDecisionsAttr = "sgd.decisions";

/// Another choice that the pass had.
struct Alternative {
  std::string name = {};
  uint64_t bytes = 0;    ///< that a rank would send in a step; 0: not known
  double seconds = 0;    ///< by the cost model; 0: not known
  std::string why = {};  ///< it cannot be; empty where it can
};

/// The cause of a movement of data between ranks.
enum class MovementCause {
  Producer,  ///< `op` makes a value that is partial
  User,      ///< `op` uses a value under another sharding
  Constant,  ///< a constant is made on all ranks and sharded then
  Moves,     ///< `op` moves elements along a sharded dimension
};

/// Details of DecisionKind::Movement: the step of a reshard, or of an op's exchange, that a collective implements.
struct Movement {
  MovementCause cause = MovementCause::User;
  std::string op = {};    ///< "sgd.dot_general"; empty where the cause has none
  std::string from = {};  ///< `[{"data"}, {}], unreduced={"model"}`, or what moves
  std::string to = {};
  int64_t step = 1;  ///< which of `steps` of the movement
  int64_t steps = 1;
  bool holdsWhole = false;  ///< a rank holds the whole tensor on the way, since the axes have no common part
};

struct Decision {
  DecisionKind kind = DecisionKind::Choice;
  std::string subject = {};            ///< parameter, argument, result or type of a tensor; empty: the op or function
  std::string scope = {};              ///< of the user's program, see getScope
  std::string source = {};             ///< file:line:column of the user's program, or nothing
  std::string chosen = {};             ///< "sharded", "bf16", "ring", "all_reduce", ...
  std::string why = {};                ///< a sentence for people; empty where the fields say all
  std::vector<std::string> axes = {};  ///< of the mesh that it is about
  uint64_t bytes = 0;                  ///< that a rank sends in a step
  double seconds = 0;                  ///< that it takes, by the cost model
  double hiddenSeconds = 0;            ///< how much of them passes while others compute
  uint64_t freedBytes = 0;             ///< of memory that is not held
  uint64_t flops = 0;                  ///< more than without it
  std::vector<Alternative> alternatives = {};
  std::optional<Movement> movement = {};

  /// About something in the user's program.
  static Decision at(DecisionKind kind, Location location);

  DecisionAttr toAttr(MLIRContext* context) const;
  static Decision fromAttr(DecisionAttr attribute);
};

/// Appends to the decisions of `op`, or replaces them all.
void addDecision(Operation* op, const Decision& decision);
void setDecisions(Operation* op, ArrayRef<Decision> decisions);

/// All of `op`, or those of a kind, in order.
SmallVector<Decision, 1> getDecisions(Operation* op);
SmallVector<Decision, 1> getDecisions(Operation* op, DecisionKind kind);
std::optional<Decision> findDecision(Operation* op, DecisionKind kind);
bool hasDecision(Operation* op, DecisionKind kind);

/// `op` takes the place of all `from`: gives it their decisions, in order, and their fused location.
void mergeDecisions(Operation* op, ArrayRef<Operation*> from);

}  // namespace mlir::sgd

#endif
