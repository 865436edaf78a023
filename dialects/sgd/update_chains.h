// Chains of updates at fixed positions, as unrolled loops leave them of stacked values: which update a slice reads, and
// which updates are left of a stack.
#ifndef SGD_DIALECTS_SGD_UPDATE_CHAINS_H
#define SGD_DIALECTS_SGD_UPDATE_CHAINS_H

#include <map>

#include "dialects/sgd/slice_region.h"

namespace mlir::sgd {

/// Part of a value.
struct ValuePart {
  Value value;
  SliceRegion region;
};

/// All chains of a block. A stack of n updates takes O(n log n) time, each lookup O(log n).
class UpdateChains {
 public:
  explicit UpdateChains(Block& block);

  /// The number of the chain that `value` is in; nothing for what no update at a fixed position has made.
  std::optional<unsigned> getChain(Value value) const;
  /// Where all of `part`, of a chain's value, comes from: part of one update, or of the value before all updates.
  /// Nothing where several updates have written it, or that is not known.
  std::optional<ValuePart> getSource(const ValuePart& part) const;
  /// The value that `slice` reads: an update at exactly its position, or the value before all updates, where these have
  /// other positions. Null where an update overlaps it in part, or one's position is not known.
  Value getSliced(SliceOp slice) const;

 private:
  struct Write {
    unsigned version;
    DynamicUpdateSliceOp update;  // null where its elements are not all that is in the range
  };
  /// Elements that were written together, by the last write and earlier ones of all of them.
  struct Piece {
    int64_t end;
    SmallVector<Write, 1> writes;
  };
  struct Chain {
    Value base;
    SmallVector<int64_t> strides;  // those in which the first update is contiguous, if any are
    unsigned versions = 0;
    std::map<int64_t, Piece> pieces;  // by begin
  };
  struct Version {
    unsigned chain, number;
  };

  void add(DynamicUpdateSliceOp update);
  static void cut(Chain& chain, int64_t position);
  static void write(Chain& chain, ElementRange range, Write write);
  const Write* findWrite(const Version& version, ElementRange range) const;

  std::vector<Chain> chains;
  DenseMap<Value, Version> versions;
};

/// The updates that `stack`, the result of one, consists of; the later of two at one position hides the other. Ends
/// where a position is not known.
SmallVector<DynamicUpdateSliceOp> getUpdates(Value stack);

}  // namespace mlir::sgd

#endif
