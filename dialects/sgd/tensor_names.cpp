// From the attribute `sgd.name`.
#include "dialects/sgd/tensor_names.h"

#include "dialects/sgd/sgd_dialect.h"

using namespace mlir;
using namespace mlir::sgd;

std::string mlir::sgd::getInputName(FunctionOpInterface function, unsigned index) {
  auto name = function.getArgAttrOfType<StringAttr>(index, kNameAttr);
  return name ? name.str() : "arg" + std::to_string(index);
}

std::string mlir::sgd::getOutputName(FunctionOpInterface function, unsigned index) {
  auto name = function.getResultAttrOfType<StringAttr>(index, kNameAttr);
  return name ? name.str() : "result" + std::to_string(index);
}
