// The plan keeps the sharding of arguments and results in their attributes.
#include "compiler/expectations/replicated_tensors.h"

#include "dialects/sgd/tensor_parts.h"
#include "passes/graph/carry/carry_attrs.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class TensorVisitor {
 public:
  TensorVisitor(const TensorGlob& glob, MeshAttr mesh, StringRef axis) : glob(glob), mesh(mesh), axis(axis) {}

  void visit(DictionaryAttr attributes, std::string name, Type type) {
    if (auto given = attributes ? attributes.getAs<StringAttr>(kNameAttr) : StringAttr()) name = given.str();
    auto tensor = attributes ? attributes.getAs<plan::TensorAttr>(plan::kTensorAttr) : plan::TensorAttr();
    bool isWhole = isReplicated(tensor ? tensor.getSharding() : ShardingAttr());
    uint64_t bytes = getByteSize(cast<MemRefType>(type));
    if (auto parts = attributes ? attributes.getAs<ArrayAttr>(kPartNamesAttr) : ArrayAttr()) {
      for (auto part : parts.getAsRange<StringAttr>())
        visit(part.str(), isWhole, bytes / cast<MemRefType>(type).getDimSize(0));
      return;
    }
    visit(std::move(name), isWhole, bytes);
  }

  ReplicatedTensors tensors;

 private:
  void visit(std::string name, bool isWhole, uint64_t bytes) {
    tensors.names.push_back(name);
    if (!glob.matches(name)) return;
    tensors.hasMatch = true;
    if (isWhole) tensors.measured.add(std::move(name), bytes);
  }

  bool isReplicated(ShardingAttr sharding) const {
    if (axis.empty() ? mesh.getNumRanks() == 1 : *mesh.getAxisSize(axis) == 1) return false;
    if (!sharding) return true;
    auto shards = [&](AxisRefAttr used) {
      return axis.empty() ? *mesh.getAxisSize(used.getName()) > 1 : used.getName() == axis;
    };
    return llvm::none_of(sharding.getDims(), [&](DimShardingAttr dim) { return llvm::any_of(dim.getAxes(), shards); });
  }

  const TensorGlob& glob;
  MeshAttr mesh;
  StringRef axis;
};

}  // namespace

ReplicatedTensors mlir::sgd::findReplicatedTensors(func::FuncOp function, const TensorGlob& glob, MeshAttr mesh,
                                                   StringRef axis) {
  TensorVisitor visitor(glob, mesh, axis);
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    visitor.visit(function.getArgAttrDict(i), "arg" + std::to_string(i), function.getArgumentTypes()[i]);
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (!getCarriedArgument(function, i))
      visitor.visit(function.getResultAttrDict(i), "result" + std::to_string(i), function.getResultTypes()[i]);
  return std::move(visitor.tensors);
}
