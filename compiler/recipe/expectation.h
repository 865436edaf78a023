// The upper bounds of a recipe that the compiled program must keep.
#ifndef SGD_COMPILER_RECIPE_EXPECTATION_H
#define SGD_COMPILER_RECIPE_EXPECTATION_H

#include <cstdint>
#include <string>

namespace mlir::sgd {

/// An upper bound of bytes, per rank and step.
struct Expectation {
  enum class Kind {
    SentBytes,   ///< all that a rank sends
    Peak,        ///< all that the plan allocates in a rank
    Collective,  ///< what collectives of a kind send
    Replicated   ///< tensors that every rank holds whole
  };
  std::string path = {};  ///< the field that it is in messages, "expect[0]"
  Kind kind = Kind::SentBytes;
  std::string collective = {};  ///< of Kind::Collective: "all_gather", ..., "send", or "any"
  std::string tensor = {};      ///< of Kind::Replicated: a glob on names
  std::string axis = {};        ///< over which is sent or replicated; empty: any, for tensors all
  std::string scope = {};       ///< of Kind::Collective: a glob on scopes; empty: anywhere
  uint64_t bytes = 0;           ///< at most
};

}  // namespace mlir::sgd

#endif
