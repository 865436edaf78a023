// Chooses block sizes and what threads share.
#include "targets/gpu/codegen/schedule.h"

#include "dialects/sgd/tensor_layout.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::sgd;
using namespace mlir::sgd::gpu;

namespace {

/// Widest access of a thread.
constexpr int64_t kVectorBytes = 16;
/// With fewer threads than that a GPU is not full: narrower accesses give more of them.
constexpr int64_t kFullGpu = 16384;
/// Points of a row that a thread should have before more threads share the row.
constexpr int64_t kPointsPerThread = 8;
constexpr int64_t kMostRowThreads = 512;
/// Values of a row that a thread may keep in registers between walks.
constexpr int64_t kMostHeld = 32;
/// Threads of all parts of a scatter together.
constexpr int64_t kScatterThreads = 65536;

/// Most lanes whose accesses take at most kVectorBytes; 1 when nothing is contiguous.
unsigned mostLanes(const KernelPlan& plan) {
  if (plan.laneVar == kNone) return 1;
  int64_t widest = 0;
  for (const Node& node : plan.nodes)
    if (node.kind == NodeKind::Load && node.index.coefficient(plan.laneVar) == 1)
      widest = std::max(widest, getElementBytes(node.type));
  for (const Store& store : plan.stores)
    if (store.index.coefficient(plan.laneVar) == 1)
      widest = std::max(widest, getElementBytes(plan.nodes[store.value].type));
  if (widest == 0) return 1;
  unsigned lanes = std::min<int64_t>(kVectorBytes / widest, 8);
  while (lanes > 1 && plan.space.extent(plan.laneVar) % lanes != 0) lanes /= 2;
  return lanes;
}

/// Of the 48 KiB that every GPU gives a block without being asked.
constexpr int64_t kMostSharedBytes = 40 << 10;

/// Bytes of `perNode` elements for each node that `isCounted`.
template <typename Predicate>
int64_t sharedBytes(const KernelPlan& plan, int64_t perNode, Predicate isCounted) {
  int64_t bytes = 0;
  for (const Node& node : plan.nodes)
    if (isCounted(node)) bytes += perNode * std::max<int64_t>(getElementBytes(node.type), 4);
  return bytes;
}

void deal(Schedule& schedule, int64_t items) {
  schedule.items = items;
  schedule.blocks = llvm::divideCeil(items, schedule.itemsPerBlock());
}

Schedule schedulePoints(const KernelPlan& plan) {
  Schedule schedule;
  int64_t points = plan.product(plan.parallelVars) * plan.product(plan.rowVars);
  schedule.lanes = mostLanes(plan);
  while (schedule.lanes > 1 && points / schedule.lanes < kFullGpu) schedule.lanes /= 2;
  int64_t chunks = points / schedule.lanes;
  schedule.threads = std::clamp<int64_t>(llvm::PowerOf2Ceil(std::max<int64_t>(chunks, 1)), kWarp, 256);
  deal(schedule, chunks);
  return schedule;
}

bool hasTiles(const KernelPlan& plan) {
  if (plan.tileVar == kNone) return false;
  auto isTile = [&](const Node& node) { return plan.isTransposed(node) && node.index.coefficient(plan.tileVar) == 1; };
  return sharedBytes(plan, kTile * (kTile + 1), isTile) <= kMostSharedBytes;
}

/// A tile has kTile points of the tile variable and as many of the lane variable.
Schedule scheduleTiles(const KernelPlan& plan) {
  Schedule schedule;
  schedule.kind = Schedule::Kind::Tiles;
  schedule.threads = kTile * kTileRows;
  schedule.slices = schedule.threads;
  int64_t tile = plan.space.extent(plan.tileVar), lane = plan.space.extent(plan.laneVar);
  deal(schedule,
       plan.product(plan.parallelVars) / (tile * lane) * llvm::divideCeil(tile, kTile) * llvm::divideCeil(lane, kTile));
  return schedule;
}

/// Loads of the row that more than one walk needs.
int64_t countHeld(const KernelPlan& plan) {
  uint64_t row = plan.mask(plan.rowVars);
  return std::max<int64_t>(1, llvm::count_if(plan.nodes, [&](const Node& node) {
                             return node.kind == NodeKind::Load && (node.vars & row) != 0;
                           }));
}

Schedule scheduleRows(const KernelPlan& plan) {
  Schedule schedule;
  schedule.kind = Schedule::Kind::Rows;
  schedule.lanes = plan.laneInRow ? mostLanes(plan) : 1;
  int64_t chunks = plan.product(plan.rowVars) / schedule.lanes;
  int64_t chunksPerThread = std::max<int64_t>(1, kPointsPerThread / schedule.lanes);
  int64_t wanted = llvm::PowerOf2Ceil(std::max<int64_t>(1, llvm::divideCeil(chunks, chunksPerThread)));
  schedule.slices = std::min(wanted, kMostRowThreads);
  schedule.threads = std::max<unsigned>(schedule.slices, 256);
  int64_t held = llvm::divideCeil(chunks, schedule.slices);
  if (held * schedule.lanes * countHeld(plan) <= kMostHeld) schedule.held = held;
  int64_t points = plan.product(plan.parallelVars);
  while (schedule.threads > std::max<unsigned>(schedule.slices, kWarp) &&
         schedule.threads / 2 / schedule.slices >= std::max<int64_t>(points, 1))
    schedule.threads /= 2;
  deal(schedule, points);
  return schedule;
}

Schedule scheduleColumns(const KernelPlan& plan) {
  Schedule schedule;
  schedule.kind = Schedule::Kind::Columns;
  int64_t points = plan.product(plan.parallelVars), rows = plan.product(plan.rowVars);
  int64_t wanted = llvm::PowerOf2Ceil(std::max<int64_t>(1, llvm::divideCeil(rows, kPointsPerThread)));
  schedule.slices = std::min<int64_t>(wanted, 8);
  // Without slices, sums stay in registers.
  auto isReduction = [](const Node& node) { return node.kind == NodeKind::Reduce; };
  if (sharedBytes(plan, kWarp * schedule.slices, isReduction) > kMostSharedBytes) schedule.slices = 1;
  schedule.threads = kWarp * schedule.slices;
  deal(schedule, points);
  return schedule;
}

/// Whether it is the same updates that fall into a part at all parallel points.
bool hasCommonUpdates(const KernelPlan& plan) {
  uint64_t parallel = plan.mask(plan.parallelVars);
  const ScatterLoops& loops = *plan.scatter;
  if (loops.inside != kNone && (plan.nodes[loops.inside].vars & parallel) != 0) return false;
  IndexExpr moved = loops.target + loops.fallback * -1;
  return llvm::all_of(moved.getTerms(), [&](const IndexExpr::Term& term) {
    auto computed = plan.opaqueVars.find(term.var);
    uint64_t vars = computed == plan.opaqueVars.end() ? uint64_t{1} << term.var : plan.nodes[computed->second].vars;
    return (vars & parallel) == 0;
  });
}

/// Blocks have whole parts where there are points enough for the threads of one.
Schedule scheduleScatter(const KernelPlan& plan) {
  Schedule schedule;
  schedule.kind = Schedule::Kind::Scatter;
  schedule.threads = 128;
  int64_t points = plan.product(plan.parallelVars);
  if (points >= kWarp && plan.product(plan.scatter->updateVars) >= kWarp && hasCommonUpdates(plan)) {
    schedule.kind = Schedule::Kind::ScatterTogether;
    if (!plan.scatter->initVars.empty())
      schedule.parts =
          std::clamp<int64_t>(kScatterThreads / points, 1, plan.space.extent(plan.scatter->initVars.front()));
    schedule.items = points;
    schedule.blocks = llvm::divideCeil(points, schedule.threads) * schedule.parts;
    return schedule;
  }
  if (!plan.scatter->initVars.empty()) {
    int64_t most = std::max<int64_t>(1, kScatterThreads / std::max<int64_t>(points, 1));
    schedule.parts = std::clamp<int64_t>(plan.space.extent(plan.scatter->initVars.front()), 1, most);
  }
  deal(schedule, points * schedule.parts);
  return schedule;
}

}  // namespace

bool mlir::sgd::gpu::isVector(const KernelPlan& plan, const IndexExpr& index, unsigned lanes) {
  if (index.coefficient(plan.laneVar) != 1 || index.getConstant() % lanes != 0) return false;
  return llvm::all_of(index.getTerms(), [&](const IndexExpr::Term& term) {
    auto computed = plan.opaqueVars.find(term.var);
    bool follows = computed != plan.opaqueVars.end() && (plan.nodes[computed->second].vars >> plan.laneVar & 1);
    return term.var == plan.laneVar || (!follows && term.coefficient % lanes == 0);
  });
}

StringRef mlir::sgd::gpu::getName(Schedule::Kind kind) {
  switch (kind) {
    case Schedule::Kind::Points:
      return "points";
    case Schedule::Kind::Rows:
      return "rows";
    case Schedule::Kind::Columns:
      return "columns";
    case Schedule::Kind::Tiles:
      return "tiles";
    case Schedule::Kind::Scatter:
      return "scatter";
    case Schedule::Kind::ScatterTogether:
      return "scatter_together";
  }
}

Schedule mlir::sgd::gpu::makeSchedule(const KernelPlan& plan) {
  if (plan.scatter) return scheduleScatter(plan);
  if (!plan.isReduction()) return hasTiles(plan) ? scheduleTiles(plan) : schedulePoints(plan);
  bool hasColumns = plan.laneVar != kNone && !plan.laneInRow;
  return hasColumns ? scheduleColumns(plan) : scheduleRows(plan);
}
