// Memory for packing as buffers of the plan, so that the peak that is reported holds it.
#include "dialects/spmd/spmd_dialect.h"
#include "passes/plan/memory/passes.h"
#include "passes/sharding/reshard/sharding_state.h"
#include "passes/spmd/partition/ranges.h"
#include "runtime/comm/collectives/staged_bytes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_ASSIGNSTAGINGPASS
#include "passes/plan/memory/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;
using ::sgd::comm::TargetForm;
using ::sgd::comm::TraitsOf;

namespace {

MemRefType getType(Value buffer) { return cast<MemRefType>(buffer.getType()); }

uint64_t getRows(MemRefType type, int64_t dim) {
  uint64_t rows = 1;
  for (int64_t size : type.getShape().take_front(dim)) rows *= size;
  return rows;
}

uint64_t computeStagedByRanges(plan::CollectiveOp collective) {
  MeshAttr mesh = lookupMesh(collective, collective.getAxes().getMesh());
  SmallVector<int64_t> sizes = getMeshSizes(mesh);
  auto tiles = CostModel::getSubAxes(sizes, getParts(mesh, collective.getAxes().getAxes()));
  auto results = CostModel::getSubAxes(sizes, getParts(mesh, collective.getTo()->getAxes()));
  std::vector<uint64_t> staged(ShapedType::getNumElements(sizes));
  for (auto [range, source, target] :
       llvm::zip(collective.getRanges()->getAsRange<RangeAttr>(), collective.getSources(), collective.getTargets())) {
    MemRefType from = getType(source);
    int64_t dim = range.getDim();
    uint64_t outer = getRows(from, dim), bytes = getByteSize(from);
    uint64_t elements = outer * from.getDimSize(dim);
    if (elements == 0) continue;
    ::sgd::comm::AddStagedBytes(tiles, results,
                                getTileRange(range, from.getDimSize(dim), getType(target).getDimSize(dim)), outer,
                                bytes / elements, staged);
  }
  return *llvm::max_element(staged);
}

/// The arguments of computeStagedByRanges: layers gather alike.
Attribute getKey(plan::CollectiveOp collective) {
  SmallVector<Attribute> parts = {collective.getAxes(), *collective.getTo(), *collective.getRanges()};
  for (Value buffer :
       llvm::concat<Value>(SmallVector<Value>(collective.getSources()), SmallVector<Value>(collective.getTargets())))
    parts.push_back(TypeAttr::get(buffer.getType()));
  return ArrayAttr::get(collective.getContext(), parts);
}

/// Of one source.
uint64_t getStagedBytes(plan::CollectiveOp collective, unsigned index, uint64_t ranks) {
  MemRefType from = getType(collective.getSources()[index]), to = getType(collective.getTargets()[index]);
  ArrayRef<int64_t> dims = collective.getDims();
  switch (TraitsOf(collective.getKind()).target) {
    case TargetForm::kGathered:
      return ::sgd::comm::StagedWhole(getRows(from, dims[index]), getByteSize(to));
    case TargetForm::kScattered:
      return ::sgd::comm::StagedWhole(getRows(to, dims[index]), getByteSize(from));
    case TargetForm::kExchanged: {
      SmallVector<uint64_t> sizes(from.getShape());
      uint64_t elements = from.getNumElements();
      return elements == 0 ? 0 : ::sgd::comm::StagedParts(sizes, dims[0], dims[1], getByteSize(from) / elements, ranks);
    }
    case TargetForm::kSame:
    case TargetForm::kRange:
      return 0;
  }
}

/// `known` by key.
uint64_t getStagedBytes(plan::CollectiveOp collective, DenseMap<Attribute, uint64_t>& known) {
  uint64_t ranks = spmd::getGroupSize(collective, collective.getAxes()).value_or(1);
  if (ranks == 1) return 0;
  if (TraitsOf(collective.getKind()).target == TargetForm::kRange) {
    auto [found, isNew] = known.try_emplace(getKey(collective));
    if (isNew) found->second = computeStagedByRanges(collective);
    return found->second;
  }
  uint64_t bytes = 0;
  for (unsigned index = 0; index < collective.getSources().size(); ++index)
    bytes += getStagedBytes(collective, index, ranks);
  return bytes;
}

struct AssignStagingPass : mlir::sgd::impl::AssignStagingPassBase<AssignStagingPass> {
  using AssignStagingPassBase::AssignStagingPassBase;

  void runOnOperation() final {
    DenseMap<Attribute, uint64_t> known;
    getOperation().walk([&](plan::CollectiveOp collective) {
      uint64_t bytes = getStagedBytes(collective, known);
      if (bytes == 0 || collective.getStaging()) return;
      OpBuilder builder(collective);
      auto type = MemRefType::get({static_cast<int64_t>(bytes)}, builder.getI8Type(), MemRefLayoutAttrInterface(),
                                  plan::SpaceAttr::get(&getContext(), plan::Space::Window));
      collective.getStagingMutable().assign(plan::AllocOp::create(builder, collective.getLoc(), type, IntegerAttr()));
    });
  }
};

}  // namespace
