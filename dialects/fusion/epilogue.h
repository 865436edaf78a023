// The epilogue of calls as an attribute (epilogue.td).
#ifndef SGD_DIALECTS_FUSION_EPILOGUE_H
#define SGD_DIALECTS_FUSION_EPILOGUE_H

#include "llvm/ADT/Hashing.h"
#include "mlir/IR/Attributes.h"
#include "runtime/library/epilogue.h"

namespace sgd::library {

inline llvm::hash_code hash_value(const Epilogue& epilogue) {
  return llvm::hash_combine_range(epilogue.begin(), epilogue.end());
}

}  // namespace sgd::library

namespace mlir::fusion {

using ::sgd::library::Epilogue;
using ::sgd::library::EpilogueStep;

}  // namespace mlir::fusion

#define GET_ATTRDEF_CLASSES
#include "dialects/fusion/epilogue.h.inc"

#endif
