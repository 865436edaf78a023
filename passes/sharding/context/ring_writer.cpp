// Each stage of the ring is a loop, of one trip where it is done once: kernels of one stage are then not mixed with
// those of another. Blocks are sent on before they are used, so that they travel while a rank computes.
//
// Forward, with n ranks: the own block, n - 2 trips, the last block. Blocks are sent n - 1 times.
// Backward: the gradients of a block of keys start on the rank behind its owner, travel with the block, and come home
// last, where the owner adds its share: n - 1 times, too. Where a window hides what comes from farther away, n is the
// number of blocks that a rank must see, and gradients go home in one step.
#include "passes/sharding/context/ring_writer.h"

#include "passes/sharding/context/visited_blocks.h"

using namespace mlir;
using namespace mlir::sgd;

static BlockExpression getExpression(const AttentionPattern& pattern, bool& isPossible) {
  const AttentionScores& scores = pattern.scores;
  BlockExpression expression(pattern.row, pattern.getColumn());
  isPossible = (!scores.mask || expression.add(scores.mask, scores.maskDims)) &&
               (!scores.bias || expression.add(scores.bias, scores.biasDims));
  return expression;
}

bool mlir::sgd::canComputeInRing(const AttentionPattern& pattern) {
  bool isPossible = false;
  getExpression(pattern, isPossible);
  return isPossible;
}

namespace {

/// The values that go from rank to rank.
struct Travelling {
  KeyBlock keys;
  LabelledValue numbers;
  SmallVector<LabelledValue> leaves;
};

/// Everything a stage reads or changes. Absent values are null.
struct RingState {
  QueryBlock queries;
  LabelledValue rowNumbers;
  SmallVector<LabelledValue> rowLeaves;
  Travelling travelling;
  RowState rows;
  BlockGradients gradients;

  /// All values that are there, in one order.
  SmallVector<LabelledValue*> getAll() {
    SmallVector<LabelledValue*> all = {
        &queries.query,       &queries.outGradient,   &queries.largest,    &queries.sum,  &queries.rowDot, &rowNumbers,
        &travelling.keys.key, &travelling.keys.value, &travelling.numbers, &rows.largest, &rows.sum,       &rows.out,
        &gradients.query,     &gradients.key,         &gradients.value};
    for (auto* leaves : {&rowLeaves, &travelling.leaves})
      for (LabelledValue& leaf : *leaves) all.push_back(&leaf);
    llvm::erase_if(all, [](LabelledValue* value) { return !value->value; });
    return all;
  }
};

using Stage = llvm::function_ref<void(RingState&, BlockMath&)>;

class RingWriter {
 public:
  RingWriter(const AttentionPattern& pattern, const ContextAxes& context)
      : pattern(pattern),
        layout(pattern, context),
        expression(getExpression(pattern, isPossible)),
        visited(context.isStriped ? context.ranks : countVisitedBlocks(pattern, context.ranks)) {}

  void write() {
    OpBuilder builder(pattern.scores.exponential);
    builder.setInsertionPointAfter(getLatest({pattern.value.value}));
    RingState forward = runForward(builder);
    if (pattern.hasGradients()) {
      builder.setInsertionPointAfter(
          getLatest({pattern.uses.weightGradient->outGradient.value, forward.rows.out.value, pattern.value.value}));
      runBackward(builder, forward);
    }
  }

 private:
  Location getLoc() const { return AttentionScores(pattern.scores).exponential.getLoc(); }

  /// The last of the ops, all in one block, that compute `values` or the exponentials.
  Operation* getLatest(ArrayRef<Value> values) {
    Operation* last = AttentionScores(pattern.scores).exponential;
    for (Value value : values) {
      Operation* op = value.getDefiningOp();
      if (op && op->getBlock() == last->getBlock() && last->isBeforeInBlock(op)) last = op;
    }
    return last;
  }

  // Stages
  // -------------------------------------------------------------------------------------------------------------------

  /// `stage`, `trips` times: the state before the first becomes that after the last. Values that a stage adds to the
  /// state are there after it, and take what `fresh` makes before it.
  void run(OpBuilder& builder, RingState& state, int64_t trips, Stage stage) {
    if (trips <= 0) return;
    SmallVector<LabelledValue*> all = state.getAll();
    auto getValues = [&] { return llvm::map_to_vector(all, [](LabelledValue* value) { return value->value; }); };
    auto loop = WhileOp::create(builder, getLoc(), getValues(), trips, [&](OpBuilder& inside, ValueRange iterArgs) {
      for (auto [value, argument] : llvm::zip(all, iterArgs)) value->value = argument;
      BlockMath math(inside, getLoc(), layout);
      stage(state, math);
      return getValues();
    });
    for (auto [value, result] : llvm::zip(all, loop.getResults())) value->value = result;
  }

  BlockPlace getPlace(const RingState& state) {
    return {state.rowNumbers, state.travelling.numbers, state.rowLeaves, state.travelling.leaves};
  }

  /// Travels one rank on.
  static Travelling shift(const Travelling& from, BlockMath& math) {
    Travelling to = from;
    to.keys = {math.shift(from.keys.key), math.shift(from.keys.value)};
    to.numbers = math.getPrevious(from.numbers);
    for (LabelledValue& leaf : to.leaves) leaf = math.shift(leaf);
    return to;
  }

  /// Operands in blocks, and the whole leaves of masks and biases.
  RingState getOperands(BlockMath& math) {
    TensorMath& plain = math.getMath();
    RingState state;
    auto toBlocks = [&](const LabelledValue& whole) { return layout.toBlocks(plain, whole); };
    auto leafToBlocks = [&](const LabelledValue& leaf) {
      LabelledValue dense{leaf.value, {}};
      SmallVector<int64_t> sizes;
      for (auto [label, size] : llvm::zip(leaf.labels, tensorType(leaf.value).getShape()))
        if (label != kNone) dense.labels.push_back(label), sizes.push_back(size);
      dense.value = plain.reshape(leaf.value, sizes);
      return toBlocks(dense);
    };
    state.queries.query = toBlocks(pattern.query);
    state.travelling.keys = {toBlocks(pattern.key), toBlocks(pattern.value)};
    state.rowNumbers = state.travelling.numbers = math.getRankNumbers();
    for (const LabelledValue& leaf : expression.getRowLeaves()) state.rowLeaves.push_back(leafToBlocks(leaf));
    for (const LabelledValue& leaf : expression.getColumnLeaves())
      state.travelling.leaves.push_back(leafToBlocks(leaf));
    return state;
  }

  // Forward
  // -------------------------------------------------------------------------------------------------------------------

  void addKeys(RingState& state, BlockMath& math, bool isFirst, bool isLast) {
    Travelling next = isLast ? state.travelling : shift(state.travelling, math);
    RowState rows =
        RingStep(pattern, expression, math)
            .addKeys(isFirst ? nullptr : &state.rows, state.queries, state.travelling.keys, getPlace(state));
    state.rows = rows;
    state.travelling = next;
  }

  /// The rows' state before any keys, which the first stage only overwrites.
  RowState getNoRows(BlockMath& math, int64_t depth) {
    LabelledValue rows = math.splat(0, layout.getRowLabels());
    SmallVector<int64_t> labels = layout.getQueryLabels();
    auto type = RankedTensorType::get(layout.getShape(labels, depth), math.getMath().getBuilder().getF32Type());
    Value out = arith::ConstantOp::create(math.getMath().getBuilder(), getLoc(),
                                          cast<TypedAttr>(math.getMath().getBuilder().getZeroAttr(type)));
    auto constrain = [&](const LabelledValue& value) { return layout.constrain(math.getMath(), value); };
    return {constrain(rows), constrain(rows), constrain({out, labels})};
  }

  RingState runForward(OpBuilder& builder) {
    BlockMath math(builder, getLoc(), layout);
    RingState state = getOperands(math);
    RingState start = state;
    state.rows = getNoRows(math, AttentionPattern::getDepth(pattern.value));
    run(builder, state, 1, [&](RingState& in, BlockMath& body) { addKeys(in, body, true, visited == 1); });
    run(builder, state, visited - 2, [&](RingState& in, BlockMath& body) { addKeys(in, body, false, false); });
    run(builder, state, visited > 1, [&](RingState& in, BlockMath& body) { addKeys(in, body, false, true); });
    start.rows = state.rows;
    start.rows.out = math.divide(state.rows.out, state.rows.sum);
    if (pattern.uses.out) replace(math, *pattern.uses.out, start.rows.out);
    return start;
  }

  /// The matmul's readers read `blocks` instead.
  void replace(BlockMath& math, const SoftmaxMatmul& matmul, const LabelledValue& blocks) {
    LabelledValue rounded = math.convert(blocks, matmul.op.getType().getElementType());
    Value whole = layout.fromBlocks(math.getMath(), rounded, matmul.resultLabels);
    matmul.op.getResult().replaceAllUsesWith(whole);
  }

  // Backward
  // -------------------------------------------------------------------------------------------------------------------

  /// Gradients of earlier stages come from so many ranks before this one; 0: there are none.
  void addGradients(RingState& state, BlockMath& math, int64_t distance, bool sends) {
    BlockGradients before = state.gradients;
    bool isFirst = distance == 0;
    if (!isFirst) before.key = math.shift(before.key, distance), before.value = math.shift(before.value, distance);
    Travelling next = sends ? shift(state.travelling, math) : state.travelling;
    BlockGradients share =
        RingStep(pattern, expression, math).getGradients(state.queries, state.travelling.keys, getPlace(state));
    if (!isFirst)
      share = {math.add(before.query, share.query), math.add(before.key, share.key),
               math.add(before.value, share.value)};
    state.gradients = share;
    state.travelling = next;
  }

  /// f32 numbers of each query: its largest score, its sum, and that of its result times the result's gradient.
  void setQueries(BlockMath& math, RingState& state) {
    QueryBlock& queries = state.queries;
    queries.outGradient = layout.toBlocks(math.getMath(), pattern.uses.weightGradient->outGradient);
    Type single = math.getMath().getBuilder().getF32Type();
    LabelledValue weighted = math.multiply(state.rows.out, math.convert(queries.outGradient, single));
    queries.rowDot = math.reduce(weighted, ReduceKind::Add, kOwnLabel);
    queries.largest = state.rows.largest;
    queries.sum = state.rows.sum;
    if (layout.isPadded(pattern.row)) {
      // Rows that are none must not divide by zero: their gradients are zero times a finite number.
      SmallVector<int64_t> position{kRanks, pattern.row};
      LabelledValue isReal = math.isReal(state.rowNumbers, pattern.row, position);
      queries.sum = math.select(isReal, queries.sum, math.splat(1, queries.sum.labels));
    }
    state.rows = {};
  }

  LabelledValue getNone(BlockMath& math, ArrayRef<int64_t> labels, int64_t depth) {
    OpBuilder& builder = math.getMath().getBuilder();
    auto type = RankedTensorType::get(layout.getShape(labels, depth), builder.getF32Type());
    Value zero = arith::ConstantOp::create(builder, getLoc(), cast<TypedAttr>(builder.getZeroAttr(type)));
    return layout.constrain(math.getMath(), {zero, SmallVector<int64_t>(labels)});
  }

  void runBackward(OpBuilder& builder, RingState state) {
    BlockMath math(builder, getLoc(), layout);
    setQueries(math, state);
    Travelling own = state.travelling;
    int64_t depth = AttentionPattern::getDepth(pattern.query);
    state.gradients = {getNone(math, layout.getQueryLabels(), depth), getNone(math, layout.getKeyLabels(), depth),
                       getNone(math, layout.getKeyLabels(), AttentionPattern::getDepth(pattern.value))};
    if (visited > 1) state.travelling = shift(own, math);
    run(builder, state, visited > 1, [&](RingState& in, BlockMath& body) { addGradients(in, body, 0, visited > 2); });
    run(builder, state, visited - 3, [&](RingState& in, BlockMath& body) { addGradients(in, body, 1, true); });
    run(builder, state, visited > 2, [&](RingState& in, BlockMath& body) { addGradients(in, body, 1, false); });
    state.travelling = own;
    int64_t home = visited > 1 ? layout.getRanks() - visited + 1 : 0;
    run(builder, state, 1, [&](RingState& in, BlockMath& body) { addGradients(in, body, home, false); });
    const SoftmaxUses& uses = pattern.uses;
    if (uses.queryGradient) replace(math, *uses.queryGradient, state.gradients.query);
    if (uses.keyGradient) replace(math, *uses.keyGradient, state.gradients.key);
    if (uses.valueGradient) replace(math, *uses.valueGradient, state.gradients.value);
  }

  const AttentionPattern& pattern;
  RingLayout layout;
  bool isPossible = false;
  BlockExpression expression;
  int64_t visited;  // blocks of keys that a rank sees, its own one among them
};

}  // namespace

void mlir::sgd::writeRing(const AttentionPattern& pattern, const ContextAxes& context) {
  RingWriter(pattern, context).write();
}
