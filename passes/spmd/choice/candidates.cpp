// Which axes are free is read off the annotations alone: nothing has been propagated yet.
#include "passes/spmd/choice/candidates.h"

#include "dialects/sgd/sequential.h"
#include "dialects/sgd/tensor_type.h"
#include "passes/sharding/propagation/annotations.h"
#include "passes/spmd/partition/reshard_emitter.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {
/// A dimension of an argument along which its annotation cuts a batch.
struct BatchDim {
  BlockArgument argument;
  unsigned dim;
};

class CandidateSearch {
 public:
  CandidateSearch(func::FuncOp function, MeshOp mesh)
      : function(function), mesh(FlatSymbolRefAttr::get(mesh.getSymNameAttr()), mesh.getMesh()) {
    if (MeshAxisAttr sequential = getSequentialAxis(mesh)) trips = sequential.getSize();
    findBatch();
    findAxes();
  }

  SmallVector<Candidate> run(bool mayDropConstraints) const;

 private:
  void findBatch();
  void findAxes();
  void addAll(ArrayRef<unsigned> axes, bool dropsConstraints, SmallVectorImpl<Candidate>& candidates) const;
  std::optional<ShardingAttr> extend(const BatchDim& batch, ArrayRef<unsigned> axes) const;
  static ShardingAttr getAnnotation(BlockArgument argument) {
    auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
    return function.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(), kShardingAttr);
  }

  func::FuncOp function;
  MeshAxes mesh;
  int64_t trips = 1;  // of the sequential axis, along which a batch is cut too
  SmallVector<BatchDim> batch;
  SmallVector<unsigned> axes;         // that arguments name, and no dimension of the batch's arguments
  llvm::DenseSet<unsigned> reserved;  // of those the ones that constraints name
};
}  // namespace

/// Calls `visit` with the number of each axis that `sharding` names.
template <typename Visit>
static void forEachAxis(const MeshAxes& mesh, ShardingAttr sharding, Visit visit) {
  TensorAxes tensor = mesh.toTensorAxes(sharding);
  for (const DimAxes& dim : tensor.dims)
    for (const AxisPart& part : dim.axes) visit(part.axis);
  for (const AxisPart& part : tensor.replicated) visit(part.axis);
  for (const AxisPart& part : tensor.unreduced) visit(part.axis);
}

/// Inputs that are not carried and are sharded along one dimension are batches. A function that carries
/// nothing might as well have parameters there.
void CandidateSearch::findBatch() {
  llvm::DenseSet<Value> carried;
  for (BlockArgument next : getNextArguments(function))
    if (next) carried.insert(next);
  if (carried.empty()) return;
  for (BlockArgument argument : function.getArguments()) {
    ShardingAttr annotation = getAnnotation(argument);
    if (!annotation || carried.contains(argument)) continue;
    TensorAxes tensor = mesh.toTensorAxes(annotation);
    auto isCut = [](const DimAxes& dim) { return !dim.axes.empty(); };
    if (llvm::count_if(tensor.dims, isCut) != 1) continue;
    batch.push_back({argument, static_cast<unsigned>(llvm::find_if(tensor.dims, isCut) - tensor.dims.begin())});
  }
}

void CandidateSearch::findAxes() {
  llvm::DenseSet<unsigned> named, ofBatch;
  for (BlockArgument argument : function.getArguments())
    if (ShardingAttr annotation = getAnnotation(argument))
      forEachAxis(mesh, annotation, [&](unsigned axis) { named.insert(axis); });
  for (const BatchDim& one : batch)
    forEachAxis(mesh, getAnnotation(one.argument), [&](unsigned axis) { ofBatch.insert(axis); });
  for (unsigned axis = 0; axis < mesh.getMesh().getAxes().size(); ++axis)
    if (named.contains(axis) && !ofBatch.contains(axis)) axes.push_back(axis);
  function.walk([&](ShardingConstraintOp constraint) {
    // A parameter that is gathered where it is read: it says nothing about what is computed.
    if (isa<BlockArgument>(constraint.getInput())) return;
    forEachAxis(mesh, constraint.getSharding(), [&](unsigned axis) { reserved.insert(axis); });
  });
}

/// The annotation with `axes` behind those of the batch dimension; nothing where shards would not be equal.
std::optional<ShardingAttr> CandidateSearch::extend(const BatchDim& batch, ArrayRef<unsigned> axes) const {
  TensorAxes tensor = mesh.toTensorAxes(getAnnotation(batch.argument));
  AxisParts& parts = tensor.dims[batch.dim].axes;
  for (unsigned axis : axes) parts.push_back({axis, 1, mesh.getMesh().getAxes()[axis].getSize()});
  if (tensorType(batch.argument).getDimSize(batch.dim) % (getGroupSize(parts) * trips) != 0) return std::nullopt;
  return mesh.toAttr(tensor);
}

void CandidateSearch::addAll(ArrayRef<unsigned> axes, bool dropsConstraints,
                             SmallVectorImpl<Candidate>& candidates) const {
  auto add = [&](ArrayRef<unsigned> more) {
    Candidate candidate;
    candidate.dropsConstraints = dropsConstraints;
    for (const BatchDim& one : batch)
      if (std::optional<ShardingAttr> sharding = extend(one, more))
        candidate.inputs.push_back({one.argument.getArgNumber(), *sharding});
    if (!candidate.inputs.empty()) candidates.push_back(std::move(candidate));
  };
  for (unsigned axis : axes) add(axis);
  if (axes.size() > 1) add(axes);
}

SmallVector<Candidate> CandidateSearch::run(bool mayDropConstraints) const {
  SmallVector<Candidate> candidates;
  SmallVector<unsigned> free;
  llvm::copy_if(axes, std::back_inserter(free), [&](unsigned axis) { return !reserved.contains(axis); });
  addAll(free, /*dropsConstraints=*/false, candidates);
  if (!mayDropConstraints || reserved.empty()) return candidates;
  candidates.push_back({{}, /*dropsConstraints=*/true});
  addAll(axes, /*dropsConstraints=*/true, candidates);
  return candidates;
}

void Candidate::apply(func::FuncOp function) const {
  if (dropsConstraints)
    function.walk([](ShardingConstraintOp constraint) {
      if (constraint.getSharding().isPartial()) return;
      constraint.getResult().replaceAllUsesWith(constraint.getInput());
      constraint.erase();
    });
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  for (auto [index, sharding] : inputs) {
    BlockArgument argument = function.getArgument(index);
    auto constraint = ShardingConstraintOp::create(builder, argument.getLoc(), argument, sharding);
    argument.replaceAllUsesExcept(constraint, constraint);
  }
}

std::string Candidate::getText(func::FuncOp function) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (dropsConstraints) os << "without its constraints on values inside it";
  for (auto [index, sharding] : inputs) {
    auto name = function.getArgAttrOfType<StringAttr>(index, kNameAttr);
    os << (text.empty() ? "with " : ", ");
    os << (name ? name.getValue().str() : "argument " + std::to_string(index)) << " sharded inside it as ";
    os << describeSharding(sharding);
  }
  return text;
}

SmallVector<Candidate> mlir::sgd::findCandidates(func::FuncOp function, MeshOp mesh, bool mayDropConstraints) {
  return CandidateSearch(function, mesh).run(mayDropConstraints);
}
