// The attribute is an array of strings, see kExplainAttr.
#include "passes/collectives/explanation.h"

#include "llvm/ADT/SetVector.h"
#include "passes/partition/reshard_emitter.h"

using namespace mlir;
using namespace mlir::sgd;

void mlir::sgd::mergeExplanations(Operation *to, ArrayRef<Operation *> from) {
  llvm::SetVector<Attribute> texts;
  SmallVector<Location> locations;
  auto add = [&](Operation *op) {
    if (auto array = op->getAttrOfType<ArrayAttr>(kExplainAttr)) texts.insert(array.begin(), array.end());
  };
  add(to);
  for (Operation *op : from) {
    add(op);
    locations.push_back(op->getLoc());
  }
  if (!texts.empty()) to->setAttr(kExplainAttr, ArrayAttr::get(to->getContext(), texts.getArrayRef()));
  to->setLoc(FusedLoc::get(to->getContext(), locations));
}
