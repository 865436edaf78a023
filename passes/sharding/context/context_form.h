// The ways to compute attention whose positions are sharded.
#ifndef SGD_PASSES_SHARDING_CONTEXT_CONTEXT_FORM_H
#define SGD_PASSES_SHARDING_CONTEXT_CONTEXT_FORM_H

#include <optional>

#include "llvm/ADT/StringRef.h"

namespace mlir::sgd {

enum class ContextForm : uint8_t {
  Gathered,  ///< as propagation leaves it: keys and values, or queries, are gathered
  Ring,      ///< blocks of keys and values go from rank to rank
  Striped,   ///< a ring in which each rank has every nth position, so that a causal mask hides as much on all ranks
  AllToAll,  ///< heads, or batch entries, are sharded instead of positions
};
inline constexpr ContextForm kContextForms[] = {ContextForm::Gathered, ContextForm::Ring, ContextForm::Striped,
                                                ContextForm::AllToAll};

/// `gathered`, `ring`, `striped_ring` or `all_to_all`: in recipes, options and explanations.
llvm::StringRef getName(ContextForm form);
std::optional<ContextForm> parseContextForm(llvm::StringRef name);

}  // namespace mlir::sgd

#endif
