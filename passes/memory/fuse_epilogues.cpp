// What follows a matrix product or a convolution elementwise moves into the library call. Works on plans where every
// value still has a buffer of its own and every buffer is written before it is read, so that a product may be computed
// as late as its reader.
#include "passes/memory/passes.h"
#include "passes/memory/product_op.h"
#include "passes/memory/spaces.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_FUSEEPILOGUESPASS
#include "passes/memory/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

int64_t getNumElements(Value value) { return cast<ShapedType>(value.getType()).getNumElements(); }

/// What a value in a kernel is, element by element in row-major order, when one operand is the product and the other is
/// to be its epilogue.
enum class Part { Other, Zero, Product, Bias, Addend, BiasedProduct, BiasedRelu, AccumulatedProduct };

class BodyReader {
 public:
  /// `columns` is the product's n: element i of the bias belongs to the elements of column i.
  BodyReader(unsigned product, int64_t columns) : product(product), columns(columns) {}

  Part read(Value value) const {
    if (auto argument = dyn_cast<BlockArgument>(value)) return readArgument(argument);
    Operation* op = value.getDefiningOp();
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) return isZero(constant) ? Part::Zero : Part::Other;
    if (auto reshape = dyn_cast<ReshapeOp>(op)) return read(reshape.getInput());
    if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) return readBroadcast(broadcast);
    if (auto add = dyn_cast<arith::AddFOp>(op)) return readAdd(read(add.getLhs()), read(add.getRhs()));
    if (auto maximum = dyn_cast<arith::MaximumFOp>(op))
      return readMaximum(read(maximum.getLhs()), read(maximum.getRhs()));
    return Part::Other;
  }

 private:
  Part readArgument(BlockArgument argument) const {
    if (argument.getArgNumber() == product) return Part::Product;
    if (getNumElements(argument) == columns) return Part::Bias;
    return getNumElements(argument) == getNumElements(argument.getOwner()->getArgument(product)) ? Part::Addend
                                                                                                 : Part::Other;
  }

  static bool isZero(arith::ConstantOp constant) {
    auto dense = dyn_cast<DenseFPElementsAttr>(constant.getValue());
    return dense && dense.isSplat() && dense.getSplatValue<APFloat>().isPosZero();
  }

  /// A bias repeats in the result as it does in the operand when whole multiples of it stay innermost.
  Part readBroadcast(BroadcastInDimOp broadcast) const {
    Part part = read(broadcast.getInput());
    auto from = cast<RankedTensorType>(broadcast.getInput().getType()),
         to = cast<RankedTensorType>(broadcast.getType());
    int64_t innermost = 1;
    for (int64_t dim = from.getRank() - 1, target = to.getRank() - 1; dim >= 0 && broadcast.getDims()[dim] == target;
         --dim, --target) {
      if (from.getDimSize(dim) != to.getDimSize(target)) break;
      innermost *= from.getDimSize(dim);
    }
    return part == Part::Zero || (part == Part::Bias && innermost % columns == 0) ? part : Part::Other;
  }

  static Part readAdd(Part a, Part b) {
    if (b == Part::Product) std::swap(a, b);
    if (a != Part::Product) return Part::Other;
    return b == Part::Bias ? Part::BiasedProduct : b == Part::Addend ? Part::AccumulatedProduct : Part::Other;
  }

  static Part readMaximum(Part a, Part b) {
    if (b == Part::BiasedProduct) std::swap(a, b);
    return a == Part::BiasedProduct && b == Part::Zero ? Part::BiasedRelu : Part::Other;
  }

  unsigned product;
  int64_t columns;
};

/// The launch that reads all of a product, and where it stands among the inputs.
struct Reader {
  plan::LaunchOp launch;
  unsigned input = 0;
};

/// Whether `is` holds for a use of `buffer` or of one of its views, views excepted.
bool anyUse(Value buffer, llvm::function_ref<bool(OpOperand&)> is) {
  return llvm::any_of(buffer.getUses(), [&](OpOperand& use) {
    auto view = dyn_cast<plan::ViewOp>(use.getOwner());
    return view ? anyUse(view.getResult(), is) : is(use);
  });
}

/// The only reader of what `product` writes to `buffer`, if it reads everything at once.
std::optional<Reader> getOnlyReader(ProductOp product, plan::AllocOp buffer) {
  std::optional<Reader> reader;
  bool hasOthers = anyUse(buffer, [&](OpOperand& use) {
    if (use.getOwner() == product.getOperation()) return false;
    auto launch = dyn_cast<plan::LaunchOp>(use.getOwner());
    if (reader || !launch || getNumElements(use.get()) != getNumElements(buffer)) return true;
    reader = Reader{launch, use.getOperandNumber()};
    return false;
  });
  return hasOthers ? std::nullopt : reader;
}

plan::AllocOp getWholeAlloc(Value buffer) {
  auto alloc = plan::getRoot(buffer).root.getDefiningOp<plan::AllocOp>();
  return alloc && getNumElements(alloc) == getNumElements(buffer) ? alloc : plan::AllocOp();
}

bool isReturned(plan::AllocOp buffer) {
  return anyUse(buffer, [](OpOperand& use) { return isa<func::ReturnOp>(use.getOwner()); });
}

/// What `result`, the sum of a product and `other`, may be accumulated into: an alloc, or the argument in whose buffer
/// the function returns the sum. Null when there is none.
Value getAccumulator(plan::AllocOp result, Value other) {
  if (plan::AllocOp alloc = getWholeAlloc(other)) return isReturned(result) ? Value() : alloc.getResult();
  auto argument = dyn_cast<BlockArgument>(plan::getRoot(other).root);
  if (!argument || getNumElements(argument) != getNumElements(other)) return {};
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  Value accumulator;
  for (OpOperand& returned : argument.getOwner()->getTerminator()->getOpOperands()) {
    if (plan::getRoot(returned.get()).root != result) continue;
    auto alias = function.getResultAttrOfType<IntegerAttr>(returned.getOperandNumber(), kAliasAttr);
    if (accumulator || !alias || alias.getInt() != argument.getArgNumber()) return {};
    accumulator = argument;
  }
  return accumulator;
}

void eraseWithViews(Value buffer) {
  for (Operation* user : llvm::make_early_inc_range(buffer.getUsers())) eraseWithViews(user->getResult(0));
  buffer.getDefiningOp()->erase();
}

class FunctionFuser {
 public:
  FunctionFuser(func::FuncOp function, const SymbolTable& kernels, const LibraryModel& libraries)
      : kernels(kernels), libraries(libraries) {
    for (auto [position, op] : llvm::enumerate(function.front())) {
      positions[&op] = position;
      if (ProductOp product(&op); product) products.push_back(product);
      for (Value operand : op.getOperands())
        if (isa<MemRefType>(operand.getType()) && hasEffect<MemoryEffects::Write>(&op, operand))
          lastWrite[plan::getRoot(operand).root] = position;
    }
  }

  void run() {
    for (ProductOp product : products) fuse(product);
  }

 private:
  /// Whether the target's library computes `product` with the epilogue.
  bool takes(ProductOp product, plan::Epilogue epilogue) const {
    if (epilogue == plan::Epilogue::Accumulate) return product.isTaken(libraries, {Epilogue::Residual});
    if (epilogue == plan::Epilogue::Bias) return product.isTaken(libraries, {Epilogue::Bias});
    return product.isTaken(libraries, {Epilogue::Bias, Epilogue::Relu});
  }

  /// As isBeforeInBlock, which would number the whole block again after each change.
  bool isBefore(Operation* a, Operation* b) const { return positions.lookup(a) < positions.lookup(b); }

  /// Whether nobody but `launch` reads or writes `buffer` from `position` on.
  bool diesAt(Operation* position, plan::LaunchOp launch, Value buffer) const {
    return !anyUse(buffer,
                   [&](OpOperand& use) { return use.getOwner() != launch && !isBefore(use.getOwner(), position); });
  }

  /// Whether `buffer` is there at `position` and nobody writes what is behind it from then on.
  bool isReadyAt(Operation* position, Value buffer) const {
    Operation* definition = buffer.getDefiningOp();
    if (definition && !isBefore(definition, position)) return false;
    auto written = lastWrite.find(plan::getRoot(buffer).root);
    return written == lastWrite.end() || written->second < positions.lookup(position);
  }

  /// Whether the product may be computed in front of `launch` without more bytes alive until there: what it reads and
  /// nobody else needs so long is no larger than itself.
  bool mayWaitFor(plan::LaunchOp launch, ProductOp product, plan::AllocOp target) const {
    int64_t held = 0;
    for (Value operand : product.getFactors()) {
      Value root = plan::getRoot(operand).root;
      bool isHeldAnyway = !root.getDefiningOp<plan::AllocOp>() ||
                          anyUse(root, [&](OpOperand& use) { return isBefore(launch, use.getOwner()); });
      if (!isHeldAnyway) held += plan::getByteSize(cast<MemRefType>(root.getType()));
    }
    return held <= plan::getByteSize(target.getType());
  }

  /// `product` again, in front of `position`, which it is about to replace, writing to `target`, an alloc or argument.
  void createFused(ProductOp product, Operation* position, Value target, Value bias, plan::Epilogue epilogue) {
    if (Operation* alloc = target.getDefiningOp(); alloc && isBefore(position, alloc)) {
      alloc->moveBefore(position);
      positions[alloc] = positions.lookup(position);
    }
    OpBuilder builder(position);
    Value view = viewAs(builder, target, cast<MemRefType>(product.getTarget().getType()));
    Operation* fused = product.create(builder, view, bias, epilogue);
    positions[fused] = positions.lookup(position);
    noteWrite(target, positions.lookup(position));
  }

  void noteWrite(Value root, unsigned position) {
    unsigned& last = lastWrite[root];
    last = std::max(last, position);
  }

  /// Replaces product and launch by one product where the launch only adds a bias (and takes the maximum with zero) or
  /// another tensor.
  void fuse(ProductOp product) {
    plan::AllocOp target = getWholeAlloc(product.getTarget());
    if (!target || product.hasEpilogue() || !product.isRowMajor(getNumElements(target))) return;
    std::optional<Reader> reader = getOnlyReader(product, target);
    if (!reader || reader->launch.getInputs().size() != 2 || reader->launch.getOutputs().size() != 1 ||
        reader->input > 1)
      return;
    plan::LaunchOp launch = reader->launch;
    auto kernel = kernels.lookup<plan::KernelOp>(launch.getKernel());
    plan::AllocOp result = getWholeAlloc(launch.getOutputs().front());
    Value other = launch.getInputs()[1 - reader->input];
    auto elementOf = [](Value buffer) { return cast<MemRefType>(buffer.getType()).getElementType(); };
    if (!kernel || kernel.getInPlace() || !result || elementOf(other) != elementOf(target) ||
        elementOf(result) != elementOf(target))
      return;
    Operation* yield = kernel.getCluster().getBody().front().getTerminator();
    Part part = BodyReader(reader->input, product.getColumns()).read(yield->getOperand(0));
    Operation* position = isReadyAt(product.getOperation(), other) ? product.getOperation() : launch.getOperation();
    if (position == launch && !mayWaitFor(launch, product, target)) return;
    if (part == Part::BiasedProduct || part == Part::BiasedRelu) {
      plan::Epilogue epilogue = part == Part::BiasedRelu ? plan::Epilogue::BiasRelu : plan::Epilogue::Bias;
      if (!takes(product, epilogue)) return;
      createFused(product, position, result, other, epilogue);
    } else if (part == Part::AccumulatedProduct) {
      if (!takes(product, plan::Epilogue::Accumulate)) return;
      Value addend = getAccumulator(result, other);
      bool isOperand = llvm::any_of(product.getFactors(), [&](Value f) { return plan::getRoot(f).root == addend; });
      if (!addend || isOperand || !diesAt(position, launch, addend)) return;
      noteWrite(addend, lastWrite.lookup(result));
      replaceBuffer(result, addend);
      createFused(product, position, addend, Value(), plan::Epilogue::Accumulate);
    } else {
      return;
    }
    launch.erase();
    product.getOperation()->erase();
    eraseWithViews(target);
  }

  const SymbolTable& kernels;
  const LibraryModel& libraries;
  SmallVector<ProductOp, 0> products;
  /// By root: the position of the last op that writes to it, or of a later one that has gone.
  llvm::DenseMap<Value, unsigned> lastWrite;
  llvm::DenseMap<Operation*, unsigned> positions;
};

struct FuseEpiloguesPass : sgd::impl::FuseEpiloguesPassBase<FuseEpiloguesPass> {
  FuseEpiloguesPass() = default;
  explicit FuseEpiloguesPass(const LibraryModel& libraries) : libraries(&libraries) {}

  LogicalResult initialize(MLIRContext* context) final { return requireLibraries(libraries, *this, context); }

  void runOnOperation() final {
    SymbolTable kernels(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal()) FunctionFuser(function, kernels, *libraries).run();
  }

  const LibraryModel* libraries = nullptr;
};

}  // namespace

std::unique_ptr<Pass> mlir::sgd::createFuseEpiloguesPass(const LibraryModel& libraries) {
  return std::make_unique<FuseEpiloguesPass>(libraries);
}
