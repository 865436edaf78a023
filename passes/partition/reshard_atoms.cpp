// Cutting axes into atoms and translating shardings to and from them.
#include "passes/partition/reshard_atoms.h"

#include <algorithm>

using namespace mlir::sgd;
using llvm::ArrayRef;
using llvm::SmallVector;

/// Adds cuts between `begin` and `end` so that every quotient is prime.
static void cutToPrimes(int64_t begin, int64_t end, llvm::SmallVectorImpl<int64_t> &cuts) {
  for (int64_t factor = 2; begin < end; ++factor)
    while (end / begin % factor == 0 && begin < end) cuts.push_back(begin *= factor);
}

/// Calls `visit` for every piece of both states.
static void forEachPiece(const ShardState &from, const ShardState &to, llvm::function_ref<void(const AxisPiece &)> visit) {
  for (const ShardState *state : {&from, &to}) {
    for (const AxisPieces &dim : state->dims) llvm::for_each(dim, visit);
    llvm::for_each(state->partial, visit);
  }
}

std::optional<Atoms> Atoms::create(ArrayRef<int64_t> mesh, const ShardState &from, const ShardState &to, bool toPrimes) {
  SmallVector<SmallVector<int64_t>> cuts(mesh.size());
  forEachPiece(from, to, [&](const AxisPiece &piece) {
    cuts[piece.axis].push_back(piece.preSize);
    cuts[piece.axis].push_back(piece.preSize * piece.size);
  });
  Atoms atoms;
  for (auto [axis, axisCuts] : llvm::enumerate(cuts)) {
    llvm::sort(axisCuts);
    axisCuts.erase(std::unique(axisCuts.begin(), axisCuts.end()), axisCuts.end());
    for (size_t i = 1; i < axisCuts.size(); ++i)
      if (axisCuts[i] % axisCuts[i - 1] != 0) return std::nullopt;
    if (toPrimes)
      for (size_t i = 1, coarse = axisCuts.size(); i < coarse; ++i) cutToPrimes(axisCuts[i - 1], axisCuts[i], axisCuts);
    llvm::sort(axisCuts);
    axisCuts.erase(std::unique(axisCuts.begin(), axisCuts.end()), axisCuts.end());
    for (size_t i = 1; i < axisCuts.size(); ++i)
      atoms.pieces.push_back({static_cast<unsigned>(axis), axisCuts[i - 1], axisCuts[i] / axisCuts[i - 1]});
  }
  if (atoms.size() > kMaxAtoms || from.dims.size() > kMaxDims) return std::nullopt;
  return atoms;
}

AtomList Atoms::getAtomsOf(const AxisPiece &piece) const {
  AtomList result;
  for (auto [index, atom] : llvm::enumerate(pieces))
    if (atom.axis == piece.axis && atom.preSize >= piece.preSize && atom.preSize < piece.preSize * piece.size) result.push_back(index);
  return result;
}

AtomState Atoms::encode(const ShardState &state) const {
  AtomState result;
  for (auto [dim, pieces] : llvm::enumerate(state.dims)) {
    size_t position = 0;
    for (const AxisPiece &piece : pieces)
      for (uint8_t atom : getAtomsOf(piece)) result.places[atom] = Place::ofDim(dim, position++);
  }
  for (const AxisPiece &piece : state.partial)
    for (uint8_t atom : getAtomsOf(piece)) result.places[atom] = {Place::kPartial};
  return result;
}

SmallVector<AtomList, 4> Atoms::getDims(const AtomState &state, size_t rank) const {
  SmallVector<AtomList, 4> dims(rank);
  for (size_t atom = 0; atom < size(); ++atom)
    if (state.places[atom].isDim()) dims[state.places[atom].getDim()].push_back(atom);
  for (AtomList &dim : dims)
    llvm::sort(dim, [&](uint8_t a, uint8_t b) { return state.places[a].getPosition() < state.places[b].getPosition(); });
  return dims;
}

AxisPieces Atoms::getPieces(ArrayRef<uint8_t> atoms) const {
  AxisPieces result;
  for (uint8_t atom : atoms) result.push_back(pieces[atom]);
  return result;
}
