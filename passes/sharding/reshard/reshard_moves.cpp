// Enumeration and pricing of single steps. Moves that cannot help (to a position that the target does not want) are
// left out, which keeps the search small; the others reach every target.
#include "passes/sharding/reshard/reshard_moves.h"

#include <algorithm>

using namespace mlir::sgd;
using llvm::ArrayRef;
using llvm::SmallVector;
using Kind = ReshardStep::Kind;

struct ReshardMoves::Position {
  const AtomState& state;
  SmallVector<AtomList, 4> dims;
  uint64_t localBytes;
};

void mlir::sgd::priceStep(const CostModel& cost, ReshardStep& step, uint64_t bytesBefore, uint64_t bytesAfter) {
  step.seconds = cost.getMoveSeconds(static_cast<double>(bytesBefore + bytesAfter));
  if (step.kind == Kind::Slice || step.kind == Kind::Mask || step.kind == Kind::Place || step.kind == Kind::Resize)
    return;
  if (step.kind == Kind::GatherRange) {
    step.seconds += cost.getCollectiveSeconds(CollectiveKind::kGatherRange, step.fromAxes, step.sentBytes);
    return;
  }
  CollectiveKind kind = CollectiveKind::kAllReduce;
  if (step.kind == Kind::AllGather) kind = CollectiveKind::kAllGather;
  if (step.kind == Kind::AllToAll) kind = CollectiveKind::kAllToAll;
  if (step.kind == Kind::Permute) kind = CollectiveKind::kPermute;
  if (step.kind == Kind::ReduceScatter) kind = CollectiveKind::kReduceScatter;
  uint64_t bytes = step.kind == Kind::AllGather ? bytesAfter : bytesBefore;
  step.seconds += cost.getCollectiveSeconds(kind, step.axes, bytes);
  step.sentBytes = CostModel::getSentBytes(kind, step.axes, bytes);
  // Of the reorderings before and behind it, one is the copy that every step makes.
  if (!step.moves.empty()) step.seconds += cost.getMoveSeconds(static_cast<double>(bytesBefore + bytesAfter));
}

ReshardMoves::ReshardMoves(const CostModel& cost, const Atoms& atoms, ArrayRef<int64_t> shape, uint64_t elementBytes,
                           const ShardState& from, const ShardState& to, bool mayMaterialise)
    : cost(cost), atoms(atoms), shape(shape), elementBytes(elementBytes), mayMaterialise(mayMaterialise) {
  for (auto [dim, size] : llvm::enumerate(shape)) {
    wholeElements *= size;
    PaddedSizes& padded = sizes.emplace_back(size);
    padded.add(getGroupSize(from.dims[dim]));
    padded.add(getGroupSize(to.dims[dim]));
    if (!padded.isUneven()) continue;
    // Tiles that nest with what the dimension may be cut into on the way.
    int64_t all = 1;
    for (size_t atom = 0; atom < atoms.size(); ++atom) all *= atoms[atom].size;
    padded.add(all);
    for (const ShardState* state : {&from, &to}) {
      int64_t shards = 1;
      for (const AxisPart& part : state->dims[dim]) padded.add(shards *= part.size);
    }
  }
  start = encode(from);
  target = encode(to);
  targetDims = atoms.getDims(target, shape.size());
}

AtomState ReshardMoves::encode(const ShardState& state) const {
  AtomState encoded = atoms.encode(state);
  for (auto [dim, parts] : llvm::enumerate(state.dims))
    encoded.sizes[dim] = *sizes[dim].find(getPaddedSize(shape[dim], getGroupSize(parts)));
  return encoded;
}

ReshardMoves::LocalSizes ReshardMoves::getLocalSizes(const AtomState& state) const {
  SmallVector<int64_t, 4> shards(shape.size(), 1);
  for (size_t atom = 0; atom < atoms.size(); ++atom)
    if (state.places[atom].isDim()) shards[state.places[atom].getDim()] *= atoms[atom].size;
  LocalSizes local;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    int64_t tile = getSize(state, dim) / shards[dim];
    local.padded *= tile;
    local.real *= std::min(tile, shape[dim]);
  }
  return local;
}

void ReshardMoves::forEach(const AtomState& state, Visit visit) const {
  Position at{state, atoms.getDims(state, shape.size()), getLocalSizes(state).padded * elementBytes};
  forEachLocal(at, visit);
  forEachReduction(at, visit);
  forEachMovedSuffix(at, visit);
  visitAllMoves(at, visit);
  forEachPermute(at, visit);
  forEachRetiling(at, visit);
}

int64_t ReshardMoves::getShards(ArrayRef<uint8_t> list) const {
  int64_t shards = 1;
  for (uint8_t atom : list) shards *= atoms[atom].size;
  return shards;
}

bool ReshardMoves::canAppend(const Position& at, size_t dim, ArrayRef<uint8_t> added) const {
  return getSize(at.state, dim) % (getShards(at.dims[dim]) * getShards(added)) == 0;
}

/// Atoms whose place is `code` now and another one in the target.
AtomList ReshardMoves::withTarget(const Position& at, uint8_t code) const {
  AtomList result;
  for (size_t atom = 0; atom < atoms.size(); ++atom)
    if (at.state.places[atom].code == code && target.places[atom].code != code) result.push_back(atom);
  return result;
}

void ReshardMoves::visitStep(const Position& at, const AtomState& next, ReshardStep step, Visit visit) const {
  LocalSizes after = getLocalSizes(next);
  if (after.real >= wholeElements && !mayMaterialise) return;
  priceStep(cost, step, at.localBytes, after.padded * elementBytes);
  visit(next, step);
}

/// Slices, masks and places, which need no communication. Slices of one atom, or of all that belong to one dimension.
void ReshardMoves::forEachLocal(const Position& at, Visit visit) const {
  AtomList masked;
  for (uint8_t atom : withTarget(at, Place::kReplicated))
    if (target.places[atom].isPartial()) masked.push_back(atom);
  if (!masked.empty()) {
    AtomState next = at.state;
    for (uint8_t atom : masked) next.places[atom] = {Place::kPartial};
    visitStep(at, next, {Kind::Mask, 0, 0, atoms.getParts(masked), {}}, visit);
  }
  for (size_t dim = 0; dim < at.dims.size(); ++dim) {
    auto slice = [&](ArrayRef<uint8_t> list) {
      if (!canAppend(at, dim, list)) return;
      AtomState next = at.state;
      for (auto [position, atom] : llvm::enumerate(list))
        next.places[atom] = Place::ofDim(dim, at.dims[dim].size() + position);
      visitStep(at, next, {Kind::Slice, static_cast<int64_t>(dim), 0, atoms.getParts(list), {}}, visit);
    };
    AtomList run;
    for (uint8_t atom : targetDims[dim])
      if (at.state.places[atom].isReplicated()) run.push_back(atom);
    if (run.size() > 1) slice(run);
    for (uint8_t atom : run) slice(atom);
    forEachPlace(at, dim, visit);
  }
}

/// The minor-most atoms of a dimension become partial, if that is what the target wants of them.
void ReshardMoves::forEachPlace(const Position& at, size_t dim, Visit visit) const {
  ArrayRef<uint8_t> list = at.dims[dim];
  AtomState next = at.state;
  for (size_t length = 1; length <= list.size(); ++length) {
    ArrayRef<uint8_t> suffix = list.take_back(length);
    if (!target.places[suffix.front()].isPartial()) return;
    next.places[suffix.front()] = {Place::kPartial};
    visitStep(at, next, {Kind::Place, static_cast<int64_t>(dim), 0, atoms.getParts(suffix), {}}, visit);
  }
}

/// All-reduce of one atom or of all; reduce-scatter of one atom or of all that belong to one dimension, in its order.
void ReshardMoves::forEachReduction(const Position& at, Visit visit) const {
  AtomList reduced = withTarget(at, Place::kPartial);
  auto allReduce = [&](ArrayRef<uint8_t> list) {
    AtomState next = at.state;
    for (uint8_t atom : list) next.places[atom] = {Place::kReplicated};
    visitStep(at, next, {Kind::AllReduce, 0, 0, atoms.getParts(list), {}}, visit);
  };
  auto reduceScatter = [&](size_t dim, ArrayRef<uint8_t> list) {
    if (!canAppend(at, dim, list)) return;
    AtomState next = at.state;
    for (auto [position, atom] : llvm::enumerate(list))
      next.places[atom] = Place::ofDim(dim, at.dims[dim].size() + position);
    visitStep(at, next, {Kind::ReduceScatter, static_cast<int64_t>(dim), 0, atoms.getParts(list), {}}, visit);
  };
  if (reduced.empty()) return;
  allReduce(reduced);
  if (reduced.size() > 1)
    for (uint8_t atom : reduced) allReduce(atom);
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    AtomList run;
    for (uint8_t atom : targetDims[dim])
      if (llvm::is_contained(reduced, atom)) run.push_back(atom);
    if (run.size() > 1) reduceScatter(dim, run);
    for (uint8_t atom : run) reduceScatter(dim, atom);
  }
}

/// All-gathers and all-to-alls: only the minor-most atoms of a dimension can leave it, since a rank's part must stay
/// contiguous.
void ReshardMoves::forEachMovedSuffix(const Position& at, Visit visit) const {
  for (size_t dim = 0; dim < at.dims.size(); ++dim) {
    ArrayRef<uint8_t> list = at.dims[dim], wanted = targetDims[dim];
    size_t settled = 0;
    while (settled < list.size() && settled < wanted.size() && list[settled] == wanted[settled]) ++settled;
    if (settled == list.size()) continue;
    for (size_t length = 1; length <= list.size(); ++length) {
      ArrayRef<uint8_t> suffix = list.take_back(length);
      AtomState next = at.state;
      for (uint8_t atom : suffix) next.places[atom] = {Place::kReplicated};
      visitStep(at, next, {Kind::AllGather, static_cast<int64_t>(dim), 0, atoms.getParts(suffix), {}}, visit);
      for (size_t other = 0; other < at.dims.size(); ++other) {
        bool isWanted = llvm::any_of(
            suffix, [&](uint8_t atom) { return target.places[atom].isDim() && target.places[atom].getDim() == other; });
        if (other == dim || !isWanted || !canAppend(at, other, suffix)) continue;
        for (auto [position, atom] : llvm::enumerate(suffix))
          next.places[atom] = Place::ofDim(other, at.dims[other].size() + position);
        visitStep(at, next,
                  {Kind::AllToAll, static_cast<int64_t>(other), static_cast<int64_t>(dim), atoms.getParts(suffix), {}},
                  visit);
      }
    }
  }
}

/// By dimension: the atoms at its minor end that belong to other dimensions.
SmallVector<AtomList, 4> ReshardMoves::getLeaving(const Position& at) const {
  SmallVector<AtomList, 4> leaving;
  for (auto [dim, list] : llvm::enumerate(at.dims)) {
    size_t kept = list.size();
    auto leaves = [&](Place place) { return place.isDim() && place.getDim() != dim; };
    while (kept > 0 && leaves(target.places[list[kept - 1]])) --kept;
    leaving.push_back(AtomList(llvm::drop_begin(list, kept)));
  }
  return leaving;
}

/// One all-to-all for everything that can move between dimensions, when that is more than one list of axes.
void ReshardMoves::visitAllMoves(const Position& at, Visit visit) const {
  SmallVector<AtomList, 4> leaving = getLeaving(at);
  AtomState next = at.state;
  ReshardStep step{Kind::AllToAll, 0, 0, {}, {}};
  AtomList group;
  SmallVector<size_t, 4> lastLeft(at.dims.size(), 0);
  for (size_t to = 0; to < at.dims.size(); ++to) {
    AtomList arriving;
    for (uint8_t atom :
         ArrayRef<uint8_t>(targetDims[to]).drop_front(std::min(at.dims[to].size(), targetDims[to].size()))) {
      Place now = at.state.places[atom];
      if (!now.isDim() || !llvm::is_contained(leaving[now.getDim()], atom)) break;
      bool continues = !arriving.empty() && step.moves.back().from == static_cast<int64_t>(now.getDim()) &&
                       at.state.places[arriving.back()].getPosition() + 1 == now.getPosition();
      if (!continues) step.moves.push_back({static_cast<int64_t>(now.getDim()), static_cast<int64_t>(to), {}});
      // One order serves both sides.
      if (lastLeft[now.getDim()] > now.getPosition()) return;
      lastLeft[now.getDim()] = now.getPosition();
      step.moves.back().axes.push_back(atoms[atom]);
      next.places[atom] = Place::ofDim(to, at.dims[to].size() + arriving.size());
      arriving.push_back(atom);
      llvm::erase(leaving[now.getDim()], atom);
    }
    if (!arriving.empty() && (!canAppend(at, to, arriving) || !getLeaving(at)[to].empty())) return;
    llvm::append_range(group, arriving);
  }
  // The rest behind an atom that leaves would not be contiguous.
  if (step.moves.size() < 2 || llvm::any_of(leaving, [](const AtomList& rest) { return !rest.empty(); })) return;
  step.axes = atoms.getParts(group);
  visitStep(at, next, step, visit);
}

/// Steps that keep every local shape and change which rank holds which part.
void ReshardMoves::forEachPermute(const Position& at, Visit visit) const {
  for (size_t dim = 0; dim < at.dims.size(); ++dim) visitReordered(at, dim, visit);
  visitSwaps(at, visit);
  // Straight to the target.
  for (size_t dim = 0; dim < at.dims.size(); ++dim)
    if (getShards(at.dims[dim]) != getShards(targetDims[dim]) || at.state.sizes[dim] != target.sizes[dim]) return;
  for (size_t atom = 0; atom < atoms.size(); ++atom)
    if (at.state.places[atom].isPartial() != target.places[atom].isPartial()) return;
  visitPermuteTo(at, target, visit);
}

/// Other orders of one dimension's atoms.
void ReshardMoves::visitReordered(const Position& at, size_t dim, Visit visit) const {
  AtomList order = at.dims[dim];
  if (order.size() < 2 || order.size() > 4) return;
  llvm::sort(order);
  do {
    AtomState next = at.state;
    for (auto [position, atom] : llvm::enumerate(order)) next.places[atom] = Place::ofDim(dim, position);
    visitPermuteTo(at, next, visit);
  } while (std::next_permutation(order.begin(), order.end()));
}

/// Two atoms of one size change places, in different dimensions, or one of them replicated and wanted.
void ReshardMoves::visitSwaps(const Position& at, Visit visit) const {
  for (size_t a = 0; a < atoms.size(); ++a) {
    for (size_t b = 0; b < atoms.size(); ++b) {
      Place first = at.state.places[a], second = at.state.places[b];
      if (a == b || atoms[a].size != atoms[b].size || !first.isDim() || second.isPartial()) continue;
      if (second.isDim() ? (b < a || first.getDim() == second.getDim()) : !target.places[b].isDim()) continue;
      AtomState next = at.state;
      std::swap(next.places[a], next.places[b]);
      visitPermuteTo(at, next, visit);
    }
  }
}

void ReshardMoves::visitPermuteTo(const Position& at, const AtomState& next, Visit visit) const {
  if (next == at.state) return;
  SmallVector<AtomList, 4> nextDims = atoms.getDims(next, at.dims.size());
  AtomList before, after;
  // A dimension whose list does not change keeps its atoms' strides, so it can stay out of the group.
  for (size_t dim = 0; dim < at.dims.size(); ++dim) {
    if (at.dims[dim] == nextDims[dim]) continue;
    ArrayRef<uint8_t> from = at.dims[dim], to = nextDims[dim];
    while (!from.empty() && !to.empty() && from.front() == to.front()) from = from.drop_front(), to = to.drop_front();
    while (!from.empty() && !to.empty() && from.back() == to.back()) from = from.drop_back(), to = to.drop_back();
    llvm::append_range(before, from);
    llvm::append_range(after, to);
  }
  // Both orders must number the same ranks: atoms that only one of them has were, or become, replicated.
  AtomList onlyBefore, onlyAfter;
  for (uint8_t atom : before)
    if (!llvm::is_contained(after, atom)) onlyBefore.push_back(atom);
  for (uint8_t atom : after)
    if (!llvm::is_contained(before, atom)) onlyAfter.push_back(atom);
  llvm::append_range(before, onlyAfter);
  llvm::append_range(after, onlyBefore);
  visitStep(at, next, {Kind::Permute, 0, 0, atoms.getParts(after), atoms.getParts(before)}, visit);
}

/// Other paddings of dimensions that do not divide: a dimension that a rank holds whole is padded or cut on the spot;
/// of another one the ranks fetch what their new tiles lack, for the same axes, fewer, or those that the target wants.
void ReshardMoves::forEachRetiling(const Position& at, Visit visit) const {
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (!sizes[dim].isUneven()) continue;
    if (at.dims[dim].empty()) {
      for (uint8_t size = 0; size < sizes[dim].count(); ++size) {
        AtomState next = at.state;
        next.sizes[dim] = size;
        ReshardStep step{Kind::Resize, static_cast<int64_t>(dim), 0, {}, {}, sizes[dim][size]};
        if (!(next == at.state)) visitStep(at, next, step, visit);
      }
      continue;
    }
    ArrayRef<uint8_t> list = at.dims[dim], wanted = targetDims[dim];
    for (size_t length = 0; length <= list.size(); ++length) visitRetiled(at, dim, list.take_front(length), visit);
    for (size_t length = 1; length <= wanted.size(); ++length) visitRetiled(at, dim, wanted.take_front(length), visit);
  }
}

/// Dimension `dim` on `list`, with every padding.
void ReshardMoves::visitRetiled(const Position& at, size_t dim, ArrayRef<uint8_t> list, Visit visit) const {
  AtomState next = at.state;
  for (uint8_t atom : at.dims[dim]) next.places[atom] = {Place::kReplicated};
  for (auto [position, atom] : llvm::enumerate(list)) {
    if (!next.places[atom].isReplicated()) return;
    next.places[atom] = Place::ofDim(dim, position);
  }
  int64_t tile = getSize(at.state, dim) / getShards(at.dims[dim]);
  uint64_t otherBytes = tile == 0 ? 0 : at.localBytes / tile;
  for (uint8_t size = 0; size < sizes[dim].count(); ++size) {
    next.sizes[dim] = size;
    if (sizes[dim][size] % getShards(list) != 0 || next == at.state || (list.empty() && size != 0)) continue;
    ReshardStep step{Kind::GatherRange,    static_cast<int64_t>(dim),    0,
                     atoms.getParts(list), atoms.getParts(at.dims[dim]), sizes[dim][size] / getShards(list)};
    step.sentBytes = getFetchedElements(shape[dim], at.dims[dim], tile, list, step.size) * otherBytes;
    visitStep(at, next, step, visit);
  }
}

/// Elements of a dimension of `size` that the busiest rank sends when tiles of `fromTile` over `from` become tiles of
/// `toTile` over `to`.
uint64_t ReshardMoves::getFetchedElements(int64_t size, ArrayRef<uint8_t> from, int64_t fromTile, ArrayRef<uint8_t> to,
                                          int64_t toTile) const {
  // Ranks that agree on all other axes, on a mesh whose axes are the atoms of both lists.
  MeshSizes ranks;
  AxisParts tiles, results;
  auto number = [&](uint8_t atom) {
    ranks.push_back(atoms[atom].size);
    return AxisPart{static_cast<unsigned>(ranks.size() - 1), 1, atoms[atom].size};
  };
  for (uint8_t atom : from) tiles.push_back(number(atom));
  for (uint8_t atom : to) {
    const auto* known = llvm::find(from, atom);
    results.push_back(known == from.end() ? number(atom) : tiles[known - from.begin()]);
  }
  TileRange range{.size = static_cast<uint64_t>(size),
                  .tile = static_cast<uint64_t>(fromTile),
                  .length = static_cast<uint64_t>(toTile),
                  .scale = toTile};
  return CostModel::getMostSentBytes(ranks, tiles, results, RangeLoad{range, /*element_bytes=*/1});
}
