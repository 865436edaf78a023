// Names of arguments and results, as artifacts, recipes and messages call them.
#ifndef SGD_DIALECTS_SGD_TENSOR_NAMES_H
#define SGD_DIALECTS_SGD_TENSOR_NAMES_H

#include <string>

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::sgd {

/// The model's name of argument `index`, else `argN`.
std::string getInputName(FunctionOpInterface function, unsigned index);

/// The model's name of result `index`, else `resultN`.
std::string getOutputName(FunctionOpInterface function, unsigned index);

}  // namespace mlir::sgd

#endif
