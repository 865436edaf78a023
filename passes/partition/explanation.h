// The reason of a collective, as data: passes that insert collectives attach it; reports and artifacts show it.
#ifndef SGD_PASSES_PARTITION_EXPLANATION_H
#define SGD_PASSES_PARTITION_EXPLANATION_H

#include <cstdint>
#include <optional>
#include <string>

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace mlir::sgd {

/// Discardable attribute on collectives: an array with an explanation for each movement that the collective is for.
inline constexpr llvm::StringLiteral kExplainAttr = "sgd.explain";

/// The cause of a movement of data between ranks.
enum class MovementCause {
  Producer,  ///< `op` makes a value that is partial
  User,      ///< `op` uses a value under another sharding
  Constant,  ///< a constant is made on all ranks and sharded then
  Moves,     ///< `op` moves elements along a sharded dimension
};

/// The step of a reshard, or of what an op moves between shards, that a collective is for.
struct Explanation {
  MovementCause cause = MovementCause::User;
  std::string op;      ///< "sgd.dot_general"; empty where the cause has none
  std::string tensor;  ///< type of what gets another sharding; empty where elements move between shards
  std::string source;  ///< file:line:column of the user's program, or nothing
  std::string scope;   ///< of the user's program, see getScope; empty where its names are unknown
  std::string from;    ///< `[{"data"}, {}], unreduced={"model"}`, or what moves
  std::string to;
  std::string kind;  ///< of the collective: "all_reduce"
  int64_t step = 1;  ///< which of `steps` of the movement
  int64_t steps = 1;
  uint64_t bytes = 0;       ///< that a rank sends in it
  double seconds = 0;       ///< that it takes, by the cost model
  bool holdsWhole = false;  ///< a rank holds the whole tensor on the way, since the axes have no common part

  /// `{bytes = 384 : i64, cause = "producer", ...}`; what is empty or false is left out.
  DictionaryAttr toAttr(MLIRContext* context) const;
  /// Of an attribute that toAttr gave; nothing for others.
  static std::optional<Explanation> fromAttr(Attribute attribute);
};

/// Attaches `explanation` to `collective`, as its only one.
void setExplanation(Operation* collective, const Explanation& explanation);

/// All that are attached, in order.
SmallVector<Explanation, 1> getExplanations(Operation* collective);

}  // namespace mlir::sgd

#endif
