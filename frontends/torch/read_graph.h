// The graph of an exported program in the archive's JSON. Every access of the JSON may throw, as fields may be missing.
#ifndef SGD_FRONTENDS_TORCH_READ_GRAPH_H
#define SGD_FRONTENDS_TORCH_READ_GRAPH_H

#include "frontends/torch/exported_program.h"
#include "llvm/ADT/Twine.h"
#include "nlohmann/json.hpp"

namespace mlir::sgd::torch {

using Json = nlohmann::json;

/// Thrown for damage and unsupported features, and caught in parseExportedProgram.
struct Fault {
  std::string message;
};

[[noreturn]] void refuse(const llvm::Twine& message);

/// Numbers that may be expressions of open sizes.
class Numbers {
 public:
  SymbolValues symbols;

  /// With the values that `graph`, the program's or one inside of another, computes of sizes.
  Numbers withNamed(const Json& graph) const;

  /// Nothing for a number, or a boolean, that is not known before the model runs.
  std::optional<int64_t> readKnown(const Json& value) const;
  /// {"as_int": 3}, {"as_name": "sym_size"}, {"as_expr": {..}} or 3.
  double read(const Json& value, const std::string& what) const;
  int64_t readWhole(const Json& value, const std::string& what) const;

 private:
  std::optional<double> evaluate(const Json& value) const;

  std::map<std::string, double> named;  // values that the graph computes of sizes
};

/// Adds the values and nodes of the program's graph, and of graphs in it.
void readGraph(const Json& graph, const Numbers& known, ExportedProgram& program);

}  // namespace mlir::sgd::torch

#endif
