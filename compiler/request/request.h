// A compilation as data: all that decides what becomes of its programs.
#ifndef SGD_COMPILER_REQUEST_REQUEST_H
#define SGD_COMPILER_REQUEST_REQUEST_H

#include <string>
#include <vector>

#include "compiler/options.h"
#include "dialects/sgd/sgd_dialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::sgd {

/// A program of the artifact.
struct RequestedProgram {
  std::string name;  ///< "train"
  std::string file;  ///< as messages call it
};

/// The fields of `#sgd.request`, see dialects/sgd/sgd_attrs.td. Of the options, it holds those that change the
/// artifact; a topology is always named.
struct Request {
  CompileOptions options;
  std::vector<RequestedProgram> programs;  ///< in the order of the modules
  std::optional<EmitLevel> level;          ///< that all programs have reached; nothing: they are as imported

  RequestAttr toAttr(MLIRContext* context) const;

  /// The request of `compilation`. Fails with an error where it has none, or one that this compiler cannot read.
  static FailureOr<Request> read(ModuleOp compilation);

  /// Fields with their names, each behind its length: equal for equal requests, different for different ones. Needs no
  /// context.
  std::string getKey() const;
};

/// The version of the fields that are written and read.
inline constexpr int64_t kRequestVersion = 2;

/// `graph`, `sharded`, ...: the inverse of parseEmitLevel.
llvm::StringRef getName(EmitLevel level);

}  // namespace mlir::sgd

#endif
