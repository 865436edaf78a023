// Orders the instructions of a plan-level function so that collectives run beside compute: a list schedule over two
// clocks, one of compute and one of communication. Nothing is changed here.
#ifndef SGD_PASSES_PLAN_OVERLAP_OVERLAP_SCHEDULE_H
#define SGD_PASSES_PLAN_OVERLAP_OVERLAP_SCHEDULE_H

#include <vector>

#include "dialects/plan/plan_dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::sgd {

/// Hiding less is not worth a start and a done: on the host, handing a collective to another thread and waiting for it
/// takes 0.5 us while that thread still spins, 5 us on the same core and 30 us out of its sleep (Zen 5, virtual
/// machine).
inline constexpr double kLeastHiddenSeconds = 20e-6;

/// Where a collective may be split.
struct Overlap {
  plan::CollectiveOp collective;
  Operation* firstUser = nullptr;  ///< the first instruction that needs it done, at last the return
  double seconds = 0;              ///< from its start to its end, those before it on the link included
  double hiddenSeconds = 0;        ///< how much of that passes while others compute
};

struct OverlapOrder {
  SmallVector<Operation*, 0> instructions;  ///< without the return
  SmallVector<Overlap, 0> overlaps;         ///< every collective, as ordered
};

/// Dependences, sizes and times of the instructions of one function.
class OverlapScheduler {
 public:
  OverlapScheduler(func::FuncOp function, llvm::function_ref<double(Operation*)> getSeconds);

  /// The given order.
  OverlapOrder keepOrder() const;

  /// Every collective as soon as its operands are there; of the rest the first, in the given order, that waits for
  /// none in flight and keeps the bytes alive below `aliveLimit`; when there is none, the first.
  OverlapOrder reorder(int64_t aliveLimit) const;

  /// Bytes of allocs alive at the same time in the given order, at most, when every collective runs to its end.
  int64_t getPeakAlive() const;

 private:
  friend class OverlapSimulation;

  struct Node {
    Operation* op = nullptr;
    double seconds = 0;
    bool isCollective = false;
    SmallVector<unsigned, 4> successors;
    SmallVector<unsigned, 2> collectives;  ///< that must be done before
    unsigned numPredecessors = 0;
    SmallVector<unsigned, 4> buffers;  ///< allocs it uses
  };

  void addNode(Operation* op);
  void addAccess(unsigned node, Value root, bool isWrite);
  void addEdge(unsigned from, unsigned to);

  struct Buffer {
    int64_t bytes = 0;
    unsigned numUses = 0;  ///< one more when it is returned
    std::optional<unsigned> writer;
    SmallVector<unsigned, 4> readers;  ///< since then
  };

  std::vector<Node> nodes;
  std::vector<Buffer> buffers;
  llvm::DenseMap<Value, unsigned> bufferOf;
  std::optional<unsigned> lastOrdered;  // so far: messages and host calls keep their order
  Operation* terminator = nullptr;
};

}  // namespace mlir::sgd

#endif
