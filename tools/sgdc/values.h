// Checks the values of flags, and turns them into options of the compiler.
#ifndef SGD_TOOLS_SGDC_VALUES_H
#define SGD_TOOLS_SGDC_VALUES_H

#include <string>
#include <vector>

#include "compiler/driver/plans.h"
#include "tools/sgdc/flags.h"

namespace mlir::sgd {

/// Takes the value out of `expected` or puts its message into `error`.
template <typename T, typename U>
bool take(llvm::Expected<T> expected, U& value, std::string& error) {
  if (!expected) {
    error = llvm::toString(expected.takeError());
    return false;
  }
  value = std::move(*expected);
  return true;
}

/// Parses the texts of `flags` and sets `plans`, whose recipes are named, not read. Puts a message about wrong usage
/// into `error` where it returns false.
bool readValues(Flags& flags, std::vector<PlanRequest>& plans, std::string& error);

}  // namespace mlir::sgd

#endif
