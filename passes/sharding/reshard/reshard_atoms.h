// The planner's view of a sharding: axes cut into atoms, the sub-axes that no step splits, and the position of every
// atom.
#ifndef SGD_PASSES_SHARDING_RESHARD_RESHARD_ATOMS_H
#define SGD_PASSES_SHARDING_RESHARD_RESHARD_ATOMS_H

#include <array>
#include <optional>

#include "passes/sharding/reshard/reshard_planner.h"

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

/// A sharding as the places of all atoms and the padded size of every dimension; small and comparable, the node of the
/// search.
struct AtomState {
  std::array<Place, kMaxAtoms> places;
  std::array<uint8_t, kMaxDims> sizes = {};  // by dimension: index into its PaddedSizes

  bool operator==(const AtomState& other) const { return places == other.places && sizes == other.sizes; }
};

/// `shards` tiles of a dimension of `size` elements, padding included.
inline int64_t getPaddedSize(int64_t size, int64_t shards) { return (size + shards - 1) / shards * shards; }

/// The padded sizes that a dimension of a search may take; the first is its own. Dimensions that divide have no other.
class PaddedSizes {
 public:
  static constexpr size_t kMax = 24;

  explicit PaddedSizes(int64_t size) : sizes{size} {}

  /// Makes room for `shards` shards; nothing happens beyond kMax sizes.
  void add(int64_t shards);
  bool isUneven() const { return sizes.size() > 1; }
  size_t count() const { return sizes.size(); }
  int64_t operator[](size_t index) const { return sizes[index]; }
  /// Where `size` is in the list, or nothing.
  std::optional<uint8_t> find(int64_t size) const;

 private:
  llvm::SmallVector<int64_t, 4> sizes;
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

  /// Axes of which `from` and `to` use parts without a common refinement.
  static llvm::SmallVector<unsigned, 2> getAxesWithoutRefinement(llvm::ArrayRef<int64_t> mesh, const ShardState& from,
                                                                 const ShardState& to);

 private:
  AtomList getAtomsOf(const AxisPart& part) const;

  llvm::SmallVector<AxisPart, kMaxAtoms> parts;  // per axis major to minor
};

}  // namespace mlir::sgd

#endif
