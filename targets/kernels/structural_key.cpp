// When two clusters are one kernel.
#include "llvm/Support/raw_ostream.h"
#include "dialects/fusion/fusion_dialect.h"
#include "targets/kernels/kernel_interface.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::kernels;

/// Adds what `block` computes, regions of its ops included.
static void addToKey(Block& block, llvm::DenseMap<Value, unsigned>& numbers, llvm::raw_ostream& stream) {
  for (BlockArgument argument : block.getArguments()) {
    numbers[argument] = numbers.size();
    stream << argument.getType() << ';';
  }
  for (Operation& op : block) {
    stream << op.getName() << '(';
    for (Value operand : op.getOperands()) stream << numbers[operand] << ',';
    stream << ')' << op.getAttrDictionary() << op.getPropertiesAsAttribute();
    for (Region& region : op.getRegions())
      for (Block& inner : region) {
        stream << '{';
        addToKey(inner, numbers, stream);
        stream << '}';
      }
    for (Value result : op.getResults()) {
      numbers[result] = numbers.size();
      stream << result.getType() << ';';
    }
  }
}

std::string mlir::sgd::kernels::structuralKey(fusion::ClusterOp cluster, ArrayRef<InPlacePair> inPlace) {
  std::string key;
  llvm::raw_string_ostream stream(key);
  llvm::DenseMap<Value, unsigned> numbers;
  addToKey(cluster.getBody().front(), numbers, stream);
  for (auto [result, operand] : inPlace) stream << result << '<' << operand << ';';
  return key;
}
