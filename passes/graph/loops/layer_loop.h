// Loops over the rows of stacked values, as a scan over layers is: which iter_args are stacked, and which row a trip
// reads or writes. The IR is only read.
//
//   %w    parameters of all layers, [L, ..]   read: trip t reads row t, or row L - 1 - t
//   %ys   results of all layers, [L, ..]      written: trip t writes row t, or row L - 1 - t, and reads no other one
//   %i    number of the trip                  counter
//   %x    hidden state                        carried
//   %mask the same for all layers             invariant
#ifndef SGD_PASSES_GRAPH_LOOPS_LAYER_LOOP_H
#define SGD_PASSES_GRAPH_LOOPS_LAYER_LOOP_H

#include "dialects/sgd/sgd_dialect.h"

namespace mlir::sgd {

struct LayerLoop {
  enum class Role { Invariant, Counter, Carried, Read, Written };

  WhileOp op;
  int64_t trips = 0;
  SmallVector<Role> roles;  ///< by iter_arg
  bool isReversed = false;  ///< trip t has row trips - 1 - t

  bool isStacked(unsigned iterArg) const { return roles[iterArg] == Role::Read || roles[iterArg] == Role::Written; }
  /// Returns the value of a counter at the beginning of `trip`.
  TypedAttr getCount(unsigned counter, int64_t trip) const;
  /// The first trip that has one of the rows [first, first + count).
  int64_t getFirstTrip(int64_t first, int64_t count) const { return isReversed ? trips - first - count : first; }

  /// Nothing for a loop without a known number of trips, of one trip, or that reads no stacked value.
  static std::optional<LayerLoop> find(WhileOp loop);
};

}  // namespace mlir::sgd

#endif
