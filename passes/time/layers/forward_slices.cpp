// The pass sgd-forward-slices: finds the source of each slice, then the chains that something else reads, until the
// sources avoid these.
#include "dialects/sgd/tensor_type.h"
#include "dialects/sgd/update_chains.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/time/layers/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_FORWARDSLICESPASS
#include "passes/time/layers/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

/// Chains, reshapes and slices between a slice and its source at most. Stacks of stacks need a few.
static constexpr unsigned kMostHops = 64;

namespace {
class SliceForwarding {
 public:
  explicit SliceForwarding(Block& block) : block(block), chains(block) {}

  /// Returns how many slices read another value now.
  unsigned run();

 private:
  struct Source {
    ValuePart part;
    SmallVector<unsigned, 2> chains;  // on the way, none of them kept
  };

  void findSources();
  std::optional<Source> findSource(SliceOp slice) const;
  bool keepReadChains();
  void markLive();
  void replace(SliceOp slice, const ValuePart& part);

  Block& block;
  UpdateChains chains;
  DenseSet<unsigned> kept;  // chains that something but a slice of a single update reads
  DenseMap<Operation*, Source> sources;
  DenseSet<Value> live;  // what an effect depends on, once slices read their sources
};
}  // namespace

/// The input of a reshape, or of a broadcast that only adds dimensions of size 1; null for other ops.
static Value getReshapedInput(Operation* op) {
  if (auto reshape = dyn_cast_or_null<ReshapeOp>(op)) return reshape.getInput();
  auto broadcast = dyn_cast_or_null<BroadcastInDimOp>(op);
  bool isReshape = broadcast && llvm::is_sorted(broadcast.getDims()) &&
                   tensorType(broadcast.getInput()).getNumElements() == tensorType(broadcast).getNumElements();
  return isReshape ? broadcast.getInput() : Value();
}

/// The part of an operand that `part`, of a reshape or slice, is; nothing for other ops.
static std::optional<ValuePart> getOperandPart(const ValuePart& part) {
  Operation* op = part.value.getDefiningOp();
  if (Value input = getReshapedInput(op)) {
    auto region = getReshaped(part.region, tensorType(part.value).getShape(), tensorType(input).getShape());
    return region ? std::optional(ValuePart{input, *region}) : std::nullopt;
  }
  auto slice = dyn_cast_or_null<SliceOp>(op);
  std::optional<SliceRegion> outer = slice ? getRegion(slice) : std::nullopt;
  return outer ? std::optional(ValuePart{slice.getInput(), part.region.within(*outer)}) : std::nullopt;
}

std::optional<SliceForwarding::Source> SliceForwarding::findSource(SliceOp slice) const {
  std::optional<SliceRegion> region = getRegion(slice);
  if (!region) return std::nullopt;
  Source source{{slice.getInput(), *region}, {}};
  for (unsigned hop = 0; hop < kMostHops; ++hop) {
    std::optional<unsigned> chain = chains.getChain(source.part.value);
    std::optional<ValuePart> next;
    if (!chain) next = getOperandPart(source.part);
    if (chain && !kept.contains(*chain)) next = chains.getSource(source.part);
    if (!next) break;
    if (chain) source.chains.push_back(*chain);
    source.part = *next;
  }
  return source.chains.empty() ? std::nullopt : std::optional(source);
}

void SliceForwarding::findSources() {
  sources.clear();
  for (auto slice : block.getOps<SliceOp>())
    if (std::optional<Source> source = findSource(slice)) sources[slice] = std::move(*source);
}

void SliceForwarding::markLive() {
  live.clear();
  for (Operation& op : llvm::reverse(block)) {
    bool isLive = op.hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(&op) ||
                  llvm::any_of(op.getResults(), [&](Value result) { return live.contains(result); });
    if (!isLive) continue;
    if (auto source = sources.find(&op); source != sources.end())
      live.insert(source->second.part.value);
    else
      op.walk([&](Operation* inner) { live.insert(inner->operand_begin(), inner->operand_end()); });
  }
}

/// Returns whether there are new ones among the chains that sources avoid.
bool SliceForwarding::keepReadChains() {
  DenseSet<unsigned> read;
  for (auto update : block.getOps<DynamicUpdateSliceOp>())
    if (std::optional<unsigned> chain = chains.getChain(update.getResult()); chain && live.contains(update.getResult()))
      read.insert(*chain);
  size_t before = kept.size();
  for (const auto& [slice, source] : sources)
    for (unsigned chain : source.chains)
      if (read.contains(chain)) kept.insert(chain);
  return kept.size() != before;
}

void SliceForwarding::replace(SliceOp slice, const ValuePart& part) {
  OpBuilder builder(slice);
  Value value = part.value;
  SmallVector<int64_t> shape = part.region.getShape();
  auto create = [&](RankedTensorType type) -> Value {
    SmallVector<int64_t> strides(shape.size(), 1);
    return SliceOp::create(builder, slice.getLoc(), type, value, part.region.begins, part.region.ends, strides);
  };
  if (tensorType(value).getShape() != ArrayRef(shape)) value = create(tensorType(value).clone(shape));
  for (Operation* user : llvm::make_early_inc_range(slice->getUsers()))
    if (isa<ReshapeOp>(user) && user->getResult(0).getType() == value.getType())
      user->replaceAllUsesWith(ValueRange(value));
  if (value.getType() != slice.getType()) value = ReshapeOp::create(builder, slice.getLoc(), slice.getType(), value);
  slice.replaceAllUsesWith(value);
}

unsigned SliceForwarding::run() {
  do {
    findSources();
    markLive();
  } while (keepReadChains());
  for (auto slice : llvm::make_early_inc_range(block.getOps<SliceOp>()))
    if (auto source = sources.find(slice); source != sources.end()) replace(slice, source->second.part);
  if (sources.empty()) return 0;
  for (Operation& op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (op.use_empty() && isa<SliceOp, DynamicUpdateSliceOp, ReshapeOp, BroadcastInDimOp, arith::ConstantOp>(op))
      op.erase();
  return sources.size();
}

namespace {
struct ForwardSlicesPass : mlir::sgd::impl::ForwardSlicesPassBase<ForwardSlicesPass> {
  using ForwardSlicesPassBase::ForwardSlicesPassBase;

  void runOnOperation() override {
    getOperation().walk([&](Block* block) { numForwarded += SliceForwarding(*block).run(); });
  }
};
}  // namespace
