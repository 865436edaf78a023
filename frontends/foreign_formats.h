// Formats that are no program for this compiler, but that people hand to it: each with the way to what it reads.
#ifndef SGD_FRONTENDS_FOREIGN_FORMATS_H
#define SGD_FRONTENDS_FOREIGN_FORMATS_H

#include <optional>

#include "mlir/Support/LLVM.h"

namespace mlir::sgd {

struct ForeignFormat {
  StringRef name;    ///< "MLIR bytecode"
  StringRef advice;  ///< how to get a program that is read
};

/// Recognizes a format by the first bytes of a file. Nothing for text of MLIR and for what is unknown.
std::optional<ForeignFormat> findForeignFormat(StringRef bytes);

}  // namespace mlir::sgd

#endif
