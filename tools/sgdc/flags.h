// The command line of sgdc as plain data.
#ifndef SGD_TOOLS_SGDC_FLAGS_H
#define SGD_TOOLS_SGDC_FLAGS_H

#include <optional>
#include <vector>

#include "compiler/options.h"
#include "tools/command_line/leave.h"

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
  std::string html;
  CompileOptions compile;  // but for mesh and recipe
  bool time = false;
  bool isDoctor = false;
};

/// Fills `flags`. Returns the text and exit code of --help, --version and wrong usage, which compile nothing.
std::optional<::sgd::tools::Leave> readFlags(int argc, const char* const* argv, Flags& flags);

}  // namespace mlir::sgd

#endif
