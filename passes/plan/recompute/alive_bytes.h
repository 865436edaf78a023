// Bytes that are alive at each position of an order of executions, kept up to date while lifetimes and the order
// change. Plain C++, no IR.
#ifndef SGD_PASSES_PLAN_RECOMPUTE_ALIVE_BYTES_H
#define SGD_PASSES_PLAN_RECOMPUTE_ALIVE_BYTES_H

#include <cstdint>
#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace mlir::sgd::remat {

/// Lifetimes are kept by execution, so inserting executions moves none of them. add(), setOwn() and addEverywhere()
/// take constant time; update() adds up the positions behind the first change. Other members may be called after
/// update().
class AliveBytes {
 public:
  /// Executions are numbered below `count`.
  void resize(size_t count) { executions.resize(count); }

  /// Changes the bytes that are alive from execution `first` to `last`, both included.
  void add(unsigned first, unsigned last, int64_t bytes) {
    executions[first].begun += bytes;
    executions[last].ended += bytes;
  }
  /// Sets the bytes that only `execution` needs; negative where results take the memory of operands.
  void setOwn(unsigned execution, int64_t bytes) { executions[execution].own = bytes; }
  /// Changes the bytes that are alive throughout.
  void addEverywhere(int64_t bytes) { everywhere += bytes; }

  /// Recomputes positions from `first` on; `order` has the execution of each position.
  void update(llvm::ArrayRef<unsigned> order, int first);

  int64_t operator[](int position) const { return alive[position]; }
  int64_t getPeak() const { return peak; }

 private:
  /// Changes of bytes alive before and after an execution, and bytes during it.
  struct Bytes {
    int64_t begun = 0, ended = 0, own = 0;
  };

  std::vector<Bytes> executions;  // by number
  std::vector<int64_t> alive;     // by position
  std::vector<int64_t> before;    // by position: bytes alive between the previous execution and this one
  int64_t everywhere = 0, peak = 0;
};

}  // namespace mlir::sgd::remat

#endif
