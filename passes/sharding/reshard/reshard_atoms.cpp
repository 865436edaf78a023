// Cutting axes into atoms and translating shardings to and from them.
#include "passes/sharding/reshard/reshard_atoms.h"

#include <algorithm>

using namespace mlir::sgd;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Adds cuts between `begin` and `end` so that every quotient is prime.
static void cutToPrimes(int64_t begin, int64_t end, llvm::SmallVectorImpl<int64_t>& cuts) {
  for (int64_t factor = 2; begin < end; ++factor)
    while (end / begin % factor == 0 && begin < end) cuts.push_back(begin *= factor);
}

/// Calls `visit` for every part of both states.
static void forEachPart(const ShardState& from, const ShardState& to, llvm::function_ref<void(const AxisPart&)> visit) {
  for (const ShardState* state : {&from, &to}) {
    for (const AxisParts& dim : state->dims) llvm::for_each(dim, visit);
    llvm::for_each(state->partial, visit);
  }
}

using Cuts = SmallVector<int64_t, 4>;

/// Where the parts of both states begin and end, per axis, in order.
static SmallVector<Cuts> getCuts(ArrayRef<int64_t> mesh, const ShardState& from, const ShardState& to) {
  SmallVector<Cuts> cuts(mesh.size());
  forEachPart(from, to, [&](const AxisPart& part) {
    cuts[part.axis].push_back(part.begin);
    cuts[part.axis].push_back(part.end());
  });
  for (Cuts& axisCuts : cuts) {
    llvm::sort(axisCuts);
    axisCuts.erase(std::unique(axisCuts.begin(), axisCuts.end()), axisCuts.end());
  }
  return cuts;
}

static bool haveRefinement(ArrayRef<int64_t> cuts) {
  for (size_t i = 1; i < cuts.size(); ++i)
    if (cuts[i] % cuts[i - 1] != 0) return false;
  return true;
}

SmallVector<unsigned, 2> Atoms::getAxesWithoutRefinement(ArrayRef<int64_t> mesh, const ShardState& from,
                                                         const ShardState& to) {
  SmallVector<unsigned, 2> axes;
  for (auto [axis, cuts] : llvm::enumerate(getCuts(mesh, from, to)))
    if (!haveRefinement(cuts)) axes.push_back(axis);
  return axes;
}

std::optional<Atoms> Atoms::create(ArrayRef<int64_t> mesh, const ShardState& from, const ShardState& to,
                                   bool toPrimes) {
  Atoms atoms;
  for (auto [axis, axisCuts] : llvm::enumerate(getCuts(mesh, from, to))) {
    if (!haveRefinement(axisCuts)) return std::nullopt;
    if (toPrimes)
      for (size_t i = 1, coarse = axisCuts.size(); i < coarse; ++i) cutToPrimes(axisCuts[i - 1], axisCuts[i], axisCuts);
    llvm::sort(axisCuts);
    axisCuts.erase(std::unique(axisCuts.begin(), axisCuts.end()), axisCuts.end());
    for (size_t i = 1; i < axisCuts.size(); ++i)
      atoms.parts.push_back({static_cast<unsigned>(axis), axisCuts[i - 1], axisCuts[i] / axisCuts[i - 1]});
  }
  if (atoms.size() > kMaxAtoms || from.dims.size() > kMaxDims) return std::nullopt;
  return atoms;
}

void PaddedSizes::add(int64_t shards) {
  int64_t padded = getPaddedSize(sizes.front(), shards);
  if (!find(padded) && sizes.size() < kMax) sizes.push_back(padded);
}

std::optional<uint8_t> PaddedSizes::find(int64_t size) const {
  const auto* found = llvm::find(sizes, size);
  if (found == sizes.end()) return std::nullopt;
  return static_cast<uint8_t>(found - sizes.begin());
}

AtomList Atoms::getAtomsOf(const AxisPart& part) const {
  AtomList result;
  for (auto [index, atom] : llvm::enumerate(parts))
    if (atom.axis == part.axis && atom.begin >= part.begin && atom.begin < part.end()) result.push_back(index);
  return result;
}

AtomState Atoms::encode(const ShardState& state) const {
  AtomState result;
  for (auto [dim, parts] : llvm::enumerate(state.dims)) {
    size_t position = 0;
    for (const AxisPart& part : parts)
      for (uint8_t atom : getAtomsOf(part)) result.places[atom] = Place::ofDim(dim, position++);
  }
  for (const AxisPart& part : state.partial)
    for (uint8_t atom : getAtomsOf(part)) result.places[atom] = {Place::kPartial};
  return result;
}

SmallVector<AtomList, 4> Atoms::getDims(const AtomState& state, size_t rank) const {
  SmallVector<AtomList, 4> dims(rank);
  for (size_t atom = 0; atom < size(); ++atom)
    if (state.places[atom].isDim()) dims[state.places[atom].getDim()].push_back(atom);
  for (AtomList& dim : dims)
    llvm::sort(dim,
               [&](uint8_t a, uint8_t b) { return state.places[a].getPosition() < state.places[b].getPosition(); });
  return dims;
}

AxisParts Atoms::getParts(ArrayRef<uint8_t> atoms) const {
  AxisParts result;
  for (uint8_t atom : atoms) result.push_back(parts[atom]);
  return result;
}
