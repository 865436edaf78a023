// The quantities are copies of values and partial sums of matmuls; matmuls and results constrain them.
#include "compiler/bound/lower_bound.h"

#include <cmath>

#include "compiler/bound/matmul_volume.h"
#include "compiler/bound/tensor_origins.h"
#include "dialects/sgd/source_line.h"
#include "dialects/sgd/update_chains.h"
#include "passes/cost/least_volume.h"
#include "passes/sharding/reshard/sharding_state.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// Bytes by which the search may have stopped early.
constexpr double kRounding = 0.01;

/// Ranks up to which the tiles of all are compared; beyond, only their sizes are.
constexpr int64_t kMaxRanks = 4096;

class BoundProblem {
 public:
  BoundProblem(func::FuncOp function, MeshAttr mesh) : function(function), mesh(mesh), origins(function, mesh) {}

  LowerBound run() {
    for (const Root& root : origins.getRoots()) addQuantities(root);
    for (Operation* matmul : origins.getMatmuls()) addConstraints(matmul);
    for (OpOperand& result : function.front().getTerminator()->getOpOperands()) addResult(result.get());
    for (unsigned root = 0; root < copies.size(); ++root) {
      if (origins.getRoots()[root].parent) freeSharedSlice(root);
      if (read.contains(root) && origins.getRoots()[root].value.getDefiningOp<DynamicUpdateSliceOp>())
        setHeldOfStack(root);
    }
    for (Quantity& quantity : quantities) {
      quantity.most = std::max(quantity.most, quantity.held);
      quantity.least = std::clamp(quantity.least, quantity.held, quantity.most);
    }
    return describe(findLeastVolume(quantities, constraints));
  }

 private:
  unsigned addQuantity(Value value, bool isSum, Quantity quantity) {
    quantities.push_back(quantity);
    described.push_back({value, isSum});
    return quantities.size() - 1;
  }

  void addQuantities(const Root& root) {
    auto type = tensorType(root.value);
    double elements = static_cast<double>(type.getNumElements());
    Type held = root.parent ? origins.getRoots()[*root.parent].value.getType() : Type(type);
    Quantity complete{0, elements / origins.getNumShards(held), 0, elements};
    if (root.sum) {
      const PartialSum& sum = origins.getSum(*root.sum);
      // Where only partial sums of it are needed, no rank need ever hold it complete.
      complete.held = sum.isNeeded ? sum.held : elements;
      if (sum.isNeeded && !partialSums.contains(origins.getLeader(*root.sum)))
        partialSums[origins.getLeader(*root.sum)] =
            addQuantity(sum.value, true, {sum.bytes, sum.held, sum.contributed, elements});
    }
    complete.bytes = static_cast<double>(getElementBytes(type.getElementType()));
    copies.push_back(addQuantity(root.value, false, complete));
  }

  /// A slice counts where nothing else reads its elements: not the whole argument, nor another slice.
  void freeSharedSlice(unsigned index) {
    const Root& root = origins.getRoots()[index];
    std::optional<SliceRegion> region = getRegion(root.value.getDefiningOp<SliceOp>());
    bool isShared = read.contains(*root.parent);
    for (auto [other, sibling] : llvm::enumerate(origins.getRoots()))
      if (other != index && sibling.parent == root.parent)
        isShared |= region->overlaps(*getRegion(sibling.value.getDefiningOp<SliceOp>()));
    if (isShared) quantities[copies[index]].held = quantities[copies[index]].most;
  }

  /// A rank holds of a stack what it holds of the updates; updates that are counted where they are read cost nothing
  /// here.
  void setHeldOfStack(unsigned index) {
    Quantity& stack = quantities[copies[index]];
    stack.held = stack.most;
    for (DynamicUpdateSliceOp update : getUpdates(origins.getRoots()[index].value)) {
      std::optional<unsigned> root = origins.getOrigin(update.getUpdate()).root;
      if (!root || !origins.getRoots()[*root].sum || read.contains(*root) || !stacked.insert(*root).second) continue;
      stack.held -= quantities[copies[*root]].most - quantities[copies[*root]].held;
    }
  }

  /// The quantity that reading `value` draws on.
  std::optional<unsigned> getCopies(Value value) {
    Origin origin = origins.getOrigin(value);
    if (!origin.root) return std::nullopt;
    unsigned quantity = copies[*origin.root];
    read.insert(*origin.root);
    quantities[quantity].bytes = std::min(quantities[quantity].bytes, origin.bytes);
    return quantity;
  }

  void addConstraints(Operation* matmul) {
    MatmulVolume volume = *getMatmulVolume(matmul);
    std::array<std::optional<unsigned>, 3> tensors = {getCopies(matmul->getOperand(0)),
                                                      getCopies(matmul->getOperand(1)), std::nullopt};
    // Of parts of different sizes the averages say less than the sizes do.
    if (!origins.isSharedEqually(matmul)) return;
    unsigned sum = *origins.getRoots()[*origins.getOrigin(matmul->getResult(0)).root].sum;
    auto found = partialSums.find(origins.getLeader(sum));
    // Of ranks that add the same to a sum only one need send it.
    bool isEachNeeded = origins.getDegree(matmul) == static_cast<double>(mesh.getNumRanks());
    if (isEachNeeded && found != partialSums.end()) tensors[2] = found->second;
    auto sizeOf = [](Value value) { return static_cast<double>(tensorType(value).getNumElements()); };
    std::array<double, 3> sizes = {sizeOf(matmul->getOperand(0)), sizeOf(matmul->getOperand(1)),
                                   sizeOf(matmul->getResult(0))};
    for (auto [used, logLeast] : getConstraints(volume, volume.multiplications / origins.getDegree(matmul))) {
      VolumeConstraint constraint{{}, logLeast};
      for (unsigned tensor = 0; tensor < 3; ++tensor) {
        if (!(used & (1 << tensor))) continue;
        // A value that is not followed may be held complete for free.
        if (tensors[tensor])
          constraint.quantities.push_back(*tensors[tensor]);
        else
          constraint.logLeast -= std::log(sizes[tensor]);
      }
      if (constraint.quantities.size() == 1)
        raise(constraint.quantities.front(), std::exp(constraint.logLeast));
      else if (!constraint.quantities.empty())
        constraints.push_back(std::move(constraint));
    }
  }

  /// Each rank ends with its tile of a result.
  void addResult(Value value) {
    ShardingAttr sharding = getSharding(value.getType());
    if (!sharding || sharding.isPartial()) return;
    std::optional<unsigned> quantity = getCopies(value);
    if (!quantity) return;
    Origin origin = origins.getOrigin(value);
    Value root = origins.getRoots()[*origin.root].value;
    auto type = tensorType(value);
    double least = static_cast<double>(type.getNumElements()) / origins.getNumShards(type);
    if (isa<BlockArgument>(root) && origin.keepsDims && mesh.getNumRanks() <= kMaxRanks)
      least = quantities[*quantity].held + getMissing(getSharding(root.getType()), sharding, type.getShape());
    raise(*quantity, least);
  }

  void raise(unsigned quantity, double least) {
    quantities[quantity].least = std::max(quantities[quantity].least, least);
  }

  /// Elements of a rank's tile of `to` that are not in its tile of `from`, on average.
  double getMissing(ShardingAttr from, ShardingAttr to, ArrayRef<int64_t> shape) const {
    ShardState held = getShardState(mesh, from), wanted = getShardState(mesh, to);
    double missing = 0;
    for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank) {
      double tile = 1, shared = 1;
      for (auto [dim, size] : llvm::enumerate(shape)) {
        auto [begin, end] = getTile(wanted.dims[dim], rank, size);
        auto [heldBegin, heldEnd] = getTile(held.dims[dim], rank, size);
        tile *= static_cast<double>(end - begin);
        shared *= static_cast<double>(std::max<int64_t>(std::min(end, heldEnd) - std::max(begin, heldBegin), 0));
      }
      missing += tile - shared;
    }
    return missing / static_cast<double>(mesh.getNumRanks());
  }

  /// The elements [begin, end) of a dimension of `size` that `rank` holds under `parts`.
  std::pair<int64_t, int64_t> getTile(ArrayRef<AxisPart> parts, int64_t rank, int64_t size) const {
    int64_t index = 0;
    for (const AxisPart& part : parts)
      index = index * part.size + rank / getRankStride(getMeshSizes(mesh), part) % part.size;
    int64_t tile = llvm::divideCeil(size, getGroupSize(parts));
    return {std::min(size, index * tile), std::min(size, (index + 1) * tile)};
  }

  std::string getName(Value value, bool isSum) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr);
      return "copies of argument " + (name ? name.str() : std::to_string(argument.getArgNumber()));
    }
    return (isSum ? "partial sums of " : "copies of the result of ") +
           value.getDefiningOp()->getName().getStringRef().str();
  }

  static std::string getTypeName(Value value) {
    std::string name;
    llvm::raw_string_ostream(name) << withSharding(tensorType(value), nullptr);
    return name;
  }

  LowerBound describe(const LeastVolume& volume) {
    LowerBound bound{static_cast<uint64_t>(volume.bytes + kRounding), {}};
    for (auto [quantity, amount, what] : llvm::zip(quantities, volume.amounts, described)) {
      auto bytes = static_cast<uint64_t>(std::lround(quantity.bytes * (amount - quantity.held)));
      auto [value, isSum] = what;
      if (bytes > 0)
        bound.terms.push_back({getName(value, isSum), getTypeName(value), getSourceLine(value.getLoc()), bytes});
    }
    llvm::sort(bound.terms, [](const LowerBoundTerm& a, const LowerBoundTerm& b) {
      return std::tie(b.bytes, a.what, a.location) < std::tie(a.bytes, b.what, b.location);
    });
    return bound;
  }

  func::FuncOp function;
  MeshAttr mesh;
  TensorOrigins origins;
  std::vector<Quantity> quantities;
  std::vector<std::pair<Value, bool>> described;  // by quantity: of which value, and whether its partial sums
  std::vector<VolumeConstraint> constraints;
  SmallVector<unsigned> copies;              // by root
  DenseSet<unsigned> read;                   // roots that matmuls or results read
  DenseSet<unsigned> stacked;                // roots that are counted in a stack
  DenseMap<unsigned, unsigned> partialSums;  // by leading sum
};

}  // namespace

LowerBound mlir::sgd::computeLowerBound(func::FuncOp function) {
  MeshOp mesh = getMesh(function->getParentOfType<ModuleOp>());
  if (!mesh || mesh.getMesh().getNumRanks() == 1) return {};
  return BoundProblem(function, mesh.getMesh()).run();
}
