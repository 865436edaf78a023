// Rows are found by computing the index of each trip from the counters: however a frontend writes it.
#include "passes/graph/loops/layer_loop.h"

#include "dialects/sgd/tensor_type.h"
#include "passes/graph/loops/trip_numbers.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class LoopAnalysis {
 public:
  explicit LoopAnalysis(WhileOp loop) : loop(loop), trips(*loop.getTrips()) {
    result.op = loop;
    result.trips = trips;
    for (unsigned i = 0; i < loop.getInits().size(); ++i) result.roles.push_back(getPlainRole(i));
  }

  std::optional<LayerLoop> run();

 private:
  enum class Order { None, Ascending, Descending };

  LayerLoop::Role getPlainRole(unsigned iterArg);
  Order getOrder(Value index);
  /// The order in which all accesses of an iter_arg visit its rows; none if they differ.
  Order getRowOrder(unsigned iterArg, bool& isWritten);

  WhileOp loop;
  int64_t trips;
  LayerLoop result;
  DenseMap<Value, Order> orders;
};

}  // namespace

LayerLoop::Role LoopAnalysis::getPlainRole(unsigned iterArg) {
  if (loop.isInvariant(iterArg)) return LayerLoop::Role::Invariant;
  return getCounter(loop, iterArg) ? LayerLoop::Role::Counter : LayerLoop::Role::Carried;
}

LoopAnalysis::Order LoopAnalysis::getOrder(Value index) {
  auto [place, isNew] = orders.try_emplace(index, Order::None);
  if (!isNew) return place->second;
  std::optional<SmallVector<int64_t>> rows = getTripValues(loop, index);
  if (!rows) return Order::None;
  auto ascending = llvm::seq<int64_t>(trips);
  if (llvm::equal(*rows, ascending)) return place->second = Order::Ascending;
  return place->second = llvm::equal(*rows, llvm::reverse(ascending)) ? Order::Descending : Order::None;
}

LoopAnalysis::Order LoopAnalysis::getRowOrder(unsigned iterArg, bool& isWritten) {
  BlockArgument argument = loop.getBody().getArgument(iterArg);
  RankedTensorType type = tensorType(argument);
  if (type.getRank() == 0 || type.getDimSize(0) != trips) return Order::None;
  std::optional<Order> order;
  auto isSame = [&](Value index) {
    Order own = getOrder(index);
    bool same = own != Order::None && (!order || *order == own);
    order = own;
    return same;
  };
  isWritten = !loop.isInvariant(iterArg);
  auto update = loop.getYielded()[iterArg].getDefiningOp<DynamicUpdateSliceOp>();
  if (isWritten) {
    if (!update || update.getInput() != argument || !update.getResult().hasOneUse()) return Order::None;
    if (tensorType(update.getUpdate()).getDimSize(0) != 1 || !isSame(update.getStarts()[0])) return Order::None;
  }
  for (OpOperand& use : argument.getUses()) {
    if (isWritten ? use.getOwner() == update : isa<YieldOp>(use.getOwner())) {
      if (use.getOperandNumber() == (isWritten ? 0 : iterArg)) continue;
      return Order::None;
    }
    auto slice = dyn_cast<DynamicSliceOp>(use.getOwner());
    if (!slice || use.getOperandNumber() != 0 || slice.getSizes()[0] != 1 || !isSame(slice.getStarts()[0]))
      return Order::None;
  }
  return order.value_or(Order::None);
}

std::optional<LayerLoop> LoopAnalysis::run() {
  // The first value that is read decides the order; what has the other one is carried as a whole.
  SmallVector<std::pair<Order, bool>> accesses;
  std::optional<Order> first;
  for (unsigned i = 0; i < result.roles.size(); ++i) {
    bool isWritten = false;
    Order order = result.roles[i] == LayerLoop::Role::Counter ? Order::None : getRowOrder(i, isWritten);
    accesses.push_back({order, isWritten});
    if (order != Order::None && !isWritten && !first) first = order;
  }
  if (!first) return std::nullopt;
  for (auto [role, access] : llvm::zip(result.roles, accesses))
    if (access.first == *first) role = access.second ? LayerLoop::Role::Written : LayerLoop::Role::Read;
  result.isReversed = *first == Order::Descending;
  return result;
}

std::optional<LayerLoop> LayerLoop::find(WhileOp loop) {
  constexpr int64_t kMostTrips = 4096;
  if (!loop.getTrips() || *loop.getTrips() < 2 || *loop.getTrips() > kMostTrips) return std::nullopt;
  return LoopAnalysis(loop).run();
}

TypedAttr LayerLoop::getCount(unsigned counter, int64_t trip) const {
  return getCounterValue(op, *getCounter(op, counter), trip);
}
