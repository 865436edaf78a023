// The planner's view of a sharding: axes cut into atoms, the digits that no step splits, and the place of every atom.
#ifndef SGD_PASSES_PARTITION_RESHARD_ATOMS_H
#define SGD_PASSES_PARTITION_RESHARD_ATOMS_H

#include <array>
#include <optional>

#include "passes/partition/reshard_planner.h"

namespace mlir::sgd {

constexpr size_t kMaxAtoms = 12;
constexpr size_t kMaxDims = 13;

/// The place of an atom: replicated, partial, or a position (major to minor) of a dimension.
struct Place {
  static constexpr uint8_t kReplicated = 0xF0, kPartial = 0xE0;
  uint8_t code = kReplicated;

  static Place ofDim(size_t dim, size_t position) { return {static_cast<uint8_t>(dim << 4 | position)}; }
  bool isReplicated() const { return code == kReplicated; }
  bool isPartial() const { return code == kPartial; }
  bool isDim() const { return code < kPartial; }
  size_t getDim() const { return code >> 4; }
  size_t getPosition() const { return code & 15; }
  bool operator==(const Place& other) const { return code == other.code; }
};

/// A sharding as the places of all atoms; small and comparable, the node of the search.
struct AtomState {
  std::array<Place, kMaxAtoms> places;

  bool operator==(const AtomState& other) const { return places == other.places; }
};

using AtomList = llvm::SmallVector<uint8_t, kMaxAtoms>;

/// The atoms of a pair of shardings.
class Atoms {
 public:
  /// Cuts the axes that `from` and `to` use so that every part is a run of atoms; with `toPrimes` each atom has a prime
  /// size. Nothing when the parts have no common refinement or there are too many atoms.
  static std::optional<Atoms> create(llvm::ArrayRef<int64_t> mesh, const ShardState& from, const ShardState& to,
                                     bool toPrimes);

  size_t size() const { return parts.size(); }
  const AxisPart& operator[](size_t atom) const { return parts[atom]; }

  AtomState encode(const ShardState& state) const;
  /// The atoms of every dimension, major to minor.
  llvm::SmallVector<AtomList, 4> getDims(const AtomState& state, size_t rank) const;
  /// Their parts in this order, neighbours not joined.
  AxisParts getParts(llvm::ArrayRef<uint8_t> atoms) const;

 private:
  AtomList getAtomsOf(const AxisPart& part) const;

  llvm::SmallVector<AxisPart, kMaxAtoms> parts;  // per axis major to minor
};

}  // namespace mlir::sgd

#endif
