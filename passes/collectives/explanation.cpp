// The attribute is an array, see kExplainAttr.
#include "passes/collectives/explanation.h"

#include "passes/partition/explanation.h"

using namespace mlir;
using namespace mlir::sgd;

void mlir::sgd::mergeExplanations(Operation* to, ArrayRef<Operation*> from) {
  SmallVector<Attribute> texts;
  SmallVector<Location> locations;
  for (Operation* op : from) {
    if (auto array = op->getAttrOfType<ArrayAttr>(kExplainAttr)) llvm::append_range(texts, array);
    locations.push_back(op->getLoc());
  }
  if (!texts.empty()) to->setAttr(kExplainAttr, ArrayAttr::get(to->getContext(), texts));
  to->setLoc(FusedLoc::get(to->getContext(), locations));
}
