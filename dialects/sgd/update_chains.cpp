// Elements of a chain's tensor are numbered so that updates are ranges: dimensions that the first update covers in part
// are the major ones. Ranges that were written by one update are pieces, which later updates cut and replace.
#include "dialects/sgd/update_chains.h"

#include "dialects/sgd/tensor_type.h"

using namespace mlir;
using namespace mlir::sgd;

static Value skipReshards(Value value) {
  while (auto reshard = value.getDefiningOp<ReshardOp>()) value = reshard.getInput();
  return value;
}

/// Strides of a tensor whose dimensions that `region` covers in part are major to all others.
static SmallVector<int64_t> getStrides(const SliceRegion& region, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> sizes = region.getShape(), strides(shape.size());
  int64_t stride = 1;
  for (bool isPart : {false, true})
    for (size_t dim = shape.size(); dim-- > 0;) {
      if ((sizes[dim] != shape[dim]) != isPart) continue;
      strides[dim] = stride;
      stride *= shape[dim];
    }
  return strides;
}

UpdateChains::UpdateChains(Block& block) {
  for (auto update : block.getOps<DynamicUpdateSliceOp>()) add(update);
}

void UpdateChains::add(DynamicUpdateSliceOp update) {
  std::optional<SliceRegion> region = getRegion(update);
  RankedTensorType type = tensorType(update.getInput()), written = tensorType(update.getUpdate());
  if (!region || type.getNumElements() == 0) return;
  Value input = skipReshards(update.getInput());
  auto known = versions.find(input);
  bool isLast = known != versions.end() && chains[known->second.chain].versions == known->second.number;
  unsigned number = isLast ? known->second.chain : chains.size();
  if (!isLast) chains.push_back({input, getStrides(*region, type.getShape()), 0, {}});
  Chain& chain = chains[number];
  versions[update.getResult()] = {number, ++chain.versions};
  if (written.getNumElements() == 0) return;
  ElementRange range = getRange(*region, chain.strides);
  bool isContiguous = range.end - range.begin == written.getNumElements();
  write(chain, range, {chain.versions, isContiguous ? update : DynamicUpdateSliceOp()});
}

/// Makes `position` a border between pieces. What was written earlier is forgotten.
void UpdateChains::cut(Chain& chain, int64_t position) {
  auto next = chain.pieces.lower_bound(position);
  if (next == chain.pieces.begin()) return;
  Piece& piece = std::prev(next)->second;
  if (piece.end <= position) return;
  Write last = piece.writes.back();
  chain.pieces.emplace_hint(next, position, Piece{piece.end, {last}});
  piece.end = position;
  piece.writes.assign({last});
}

void UpdateChains::write(Chain& chain, ElementRange range, Write write) {
  auto same = chain.pieces.find(range.begin);
  if (same != chain.pieces.end() && same->second.end == range.end) {
    same->second.writes.push_back(write);
    return;
  }
  cut(chain, range.begin);
  cut(chain, range.end);
  auto end = chain.pieces.lower_bound(range.end);
  chain.pieces.erase(chain.pieces.lower_bound(range.begin), end);
  chain.pieces.emplace_hint(end, range.begin, Piece{range.end, {write}});
}

std::optional<unsigned> UpdateChains::getChain(Value value) const {
  auto version = versions.find(skipReshards(value));
  return version == versions.end() ? std::nullopt : std::optional(version->second.chain);
}

/// The write that all of `range` comes from, at the time of `version`; null where there is none or it is not known.
const UpdateChains::Write* UpdateChains::findWrite(const Version& version, ElementRange range) const {
  const auto& pieces = chains[version.chain].pieces;
  auto next = pieces.upper_bound(range.begin);
  if (next == pieces.begin() || std::prev(next)->second.end < range.end) return nullptr;
  ArrayRef<Write> writes = std::prev(next)->second.writes;
  auto later = llvm::partition_point(writes, [&](const Write& write) { return write.version <= version.number; });
  return later == writes.begin() || !std::prev(later)->update ? nullptr : std::prev(later);
}

std::optional<ValuePart> UpdateChains::getSource(const ValuePart& part) const {
  auto version = versions.find(skipReshards(part.value));
  if (version == versions.end() || llvm::is_contained(part.region.getShape(), 0)) return std::nullopt;
  const Chain& chain = chains[version->second.chain];
  ElementRange range = getRange(part.region, chain.strides);
  if (const Write* write = findWrite(version->second, range)) {
    DynamicUpdateSliceOp update = write->update;
    return ValuePart{update.getUpdate(), part.region.relativeTo(*getRegion(update))};
  }
  auto next = chain.pieces.upper_bound(range.begin);
  bool isBetween = (next == chain.pieces.begin() || std::prev(next)->second.end <= range.begin) &&
                   (next == chain.pieces.end() || next->first >= range.end);
  return isBetween ? std::optional(ValuePart{chain.base, part.region}) : std::nullopt;
}

Value UpdateChains::getSliced(SliceOp slice) const {
  std::optional<SliceRegion> region = getRegion(slice);
  if (!region) return {};
  ValuePart part{skipReshards(slice.getInput()), *region};
  while (getChain(part.value)) {
    std::optional<ValuePart> source = getSource(part);
    if (!source) return {};
    bool isBase = source->region == part.region && source->value == chains[*getChain(part.value)].base;
    if (!isBase) return source->region == getWhole(tensorType(source->value).getShape()) ? source->value : Value();
    part = *source;
  }
  return part.value.getDefiningOp<DynamicUpdateSliceOp>() ? Value() : part.value;
}

SmallVector<DynamicUpdateSliceOp> mlir::sgd::getUpdates(Value stack) {
  SmallVector<DynamicUpdateSliceOp> updates;
  SmallVector<SliceRegion> regions;
  for (Value value = skipReshards(stack); auto update = value.getDefiningOp<DynamicUpdateSliceOp>();
       value = skipReshards(update.getInput())) {
    std::optional<SliceRegion> region = getRegion(update);
    if (!region) break;
    auto hides = [&](const SliceRegion& later) { return later.overlaps(*region); };
    if (llvm::none_of(regions, hides)) updates.push_back(update);
    regions.push_back(*region);
  }
  return updates;
}
