// The command line of sgdc as plain data.
#ifndef SGD_TOOLS_SGDC_FLAGS_H
#define SGD_TOOLS_SGDC_FLAGS_H

#include <optional>
#include <vector>

#include "compiler/options.h"

namespace mlir::sgd {

/// As given; what a text means is read later.
struct Flags {
  std::vector<std::string> models;
  std::string weights;  // written to this file
  std::string listOps;  // of this frontend
  int64_t micro = 0;    // 0: not given
  std::vector<std::string> recipes, meshes;
  std::string output, batch, bindings, emit, emitRequest, memoryLimit, tileScratch, cache,
      cacheSize = "2GiB", shardUpdates = "auto", constraints = "keep";
  uint64_t cacheBytes = 0;
  std::optional<int64_t> autoRanks;
  unsigned autoEvaluations = 0;  // 0: not given
  std::string autoRecipe, autoTable;
  std::string report, explain;  // "-" prints to standard output
  CompileOptions compile;       // but for mesh and recipe
  bool time = false;
};

/// Fills `flags`. The exit code where the program ends here, and then all is printed: 0 for --help and --version, 2 for
/// wrong usage.
std::optional<int> readFlags(int argc, char** argv, Flags& flags);

}  // namespace mlir::sgd

#endif
