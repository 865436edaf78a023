// Topologies that extend others: files whose fields replace those of a built-in topology or of another file.
#ifndef SGD_PASSES_COST_EXTENDED_TOPOLOGY_H
#define SGD_PASSES_COST_EXTENDED_TOPOLOGY_H

#include <string>

#include "passes/cost/topology.h"

namespace mlir::sgd {

/// As loadTopology and parseTopology (topology.h), for what the files of `chain`, the first one first, extend.
llvm::Expected<Topology> loadTopology(llvm::StringRef nameOrPath, llvm::ArrayRef<std::string> chain);
llvm::Expected<Topology> parseTopology(llvm::StringRef json, llvm::StringRef name, llvm::ArrayRef<std::string> chain);

}  // namespace mlir::sgd

#endif
