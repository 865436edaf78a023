// A stage that has several chunks of layers reads slices of its rows, and writes them one after the other.
#include "passes/time/stages/join_rows.h"

#include <map>

#include "dialects/sgd/sequential.h"
#include "dialects/sgd/stage_rows.h"
#include "dialects/sgd/stages.h"
#include "dialects/sgd/tensor_type.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/spmd/partition/passes.h"

using namespace mlir;
using namespace mlir::sgd;

static RankedTensorType withRows(Type type, int64_t rows) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape[0] = rows;
  return RankedTensorType::get(shape, tensor.getElementType(), tensor.getEncoding());
}

namespace {

/// Values that become one: its parts by their first rows.
struct Group {
  SmallVector<unsigned> parts;  // numbers in the function
  DictionaryAttr attrs;
};

/// Arguments or results by what they become, in their order.
SmallVector<Group> findGroups(unsigned count, llvm::function_ref<DictionaryAttr(unsigned)> getAttrs) {
  SmallVector<Group> groups;
  std::map<int64_t, size_t> byPosition;
  auto getFirst = [&](unsigned part) { return getAttrs(part).getAs<DenseI64ArrayAttr>(kRowsAttr)[0]; };
  for (unsigned index = 0; index < count; ++index) {
    DictionaryAttr attrs = getAttrs(index);
    auto position = attrs ? attrs.getAs<IntegerAttr>(kPositionAttr) : IntegerAttr();
    if (attrs && attrs.contains(kRowsAttr) && attrs.contains(kWholeAttr) && position) {
      auto [place, isNew] = byPosition.try_emplace(position.getInt(), groups.size());
      if (!isNew) {
        SmallVector<unsigned>& parts = groups[place->second].parts;
        parts.insert(llvm::upper_bound(parts, index, [&](unsigned a, unsigned b) { return getFirst(a) < getFirst(b); }),
                     index);
        continue;
      }
    }
    groups.push_back({{index}, attrs});
  }
  return groups;
}

class RowJoin {
 public:
  explicit RowJoin(func::FuncOp function)
      : function(function),
        arguments(findGroups(function.getNumArguments(), [&](unsigned i) { return function.getArgAttrDict(i); })),
        results(findGroups(function.getNumResults(), [&](unsigned i) { return function.getResultAttrDict(i); })) {}

  LogicalResult run();

 private:
  LogicalResult check(const Group& group, bool isResult);
  DictionaryAttr getAttrs(const Group& group, bool isResult);
  void renumber(NamedAttrList& attrs, StringRef name, ArrayRef<Group> others);
  void joinArguments();
  void joinResults();
  Value joinResult(OpBuilder& builder, const Group& group);

  func::FuncOp function;
  SmallVector<Group> arguments, results;
  SmallVector<DictionaryAttr> argumentAttrs, resultAttrs;
};

}  // namespace

void RowJoin::renumber(NamedAttrList& attrs, StringRef name, ArrayRef<Group> others) {
  auto number = dyn_cast_or_null<IntegerAttr>(attrs.get(name));
  if (!number) return;
  for (auto [index, other] : llvm::enumerate(others))
    if (llvm::is_contained(other.parts, number.getInt())) attrs.set(name, IntegerAttr::get(number.getType(), index));
}

/// Rows of one stage are one tensor there, which is cut in one way.
LogicalResult RowJoin::check(const Group& group, bool isResult) {
  for (unsigned part : group.parts) {
    DictionaryAttr own = isResult ? function.getResultAttrDict(part) : function.getArgAttrDict(part);
    if (part == group.parts[0] || (own.get(kBlocksAttr) == group.attrs.get(kBlocksAttr) &&
                                   own.get(kShardingAttr) == group.attrs.get(kShardingAttr)))
      continue;
    auto position = group.attrs.getAs<IntegerAttr>(kPositionAttr);
    return function.emitError() << (isResult ? "result " : "argument ") << position.getInt()
                                << " is of all layers, and differs between layers in how it is cut over ranks or parts "
                                   "of the batch; expected layers of one stage that are cut alike; use a schedule with "
                                   "one chunk on a stage, or fewer stages";
  }
  return success();
}

/// Rows that follow each other are one range where each rank has all of both.
static void addRows(SmallVectorImpl<int64_t>& rows, ArrayRef<int64_t> more, bool isSharded) {
  if (!isSharded && !rows.empty() && rows[rows.size() - 2] + rows.back() == more[0])
    rows.back() += more[1];
  else
    llvm::append_range(rows, more);
}

DictionaryAttr RowJoin::getAttrs(const Group& group, bool isResult) {
  if (!group.attrs) return DictionaryAttr::get(function.getContext());
  Builder builder(function.getContext());
  NamedAttrList attrs(group.attrs);
  auto whole = group.attrs.getAs<DenseI64ArrayAttr>(kWholeAttr);
  attrs.erase(kWholeAttr);
  if (whole && group.attrs.contains(kRowsAttr)) {
    auto sharding = group.attrs.getAs<ShardingAttr>(kShardingAttr);
    const bool isSharded = sharding && !sharding.getDims().empty() && !sharding.getDims()[0].getAxes().empty();
    SmallVector<int64_t> rows;
    for (unsigned part : group.parts) {
      DictionaryAttr own = isResult ? function.getResultAttrDict(part) : function.getArgAttrDict(part);
      addRows(rows, own.getAs<DenseI64ArrayAttr>(kRowsAttr), isSharded);
    }
    attrs.set(kRowsAttr, builder.getDenseI64ArrayAttr(rows));
    auto type = group.attrs.getAs<TypeAttr>(kGlobalTypeAttr);
    Type local = isResult ? function.getResultTypes()[group.parts[0]] : function.getArgumentTypes()[group.parts[0]];
    attrs.set(kGlobalTypeAttr, TypeAttr::get(withRows(type ? type.getValue() : local, whole[1])));
  }
  if (isResult) {
    renumber(attrs, kCarryAttr, arguments);
  } else {
    renumber(attrs, kAliasOutputAttr, results);
    renumber(attrs, kCarryCandidateAttr, results);
  }
  return attrs.getDictionary(function.getContext());
}

void RowJoin::joinArguments() {
  Block& block = function.front();
  const unsigned before = block.getNumArguments();
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  for (const Group& group : arguments) {
    BlockArgument first = block.getArgument(group.parts[0]);
    int64_t rows = 0;
    for (unsigned part : group.parts)
      rows += group.parts.size() > 1 ? tensorType(block.getArgument(part)).getDimSize(0) : 0;
    Type type = group.parts.size() > 1 ? withRows(first.getType(), rows) : first.getType();
    BlockArgument all = block.addArgument(type, first.getLoc());
    if (group.parts.size() == 1) {
      first.replaceAllUsesWith(all);
      continue;
    }
    int64_t row = 0;
    for (unsigned part : group.parts) {
      BlockArgument own = block.getArgument(part);
      RankedTensorType of = tensorType(own);
      SmallVector<int64_t> starts(of.getRank(), 0), limits(of.getShape()), strides(of.getRank(), 1);
      starts[0] = row;
      limits[0] = row += of.getDimSize(0);
      own.replaceAllUsesWith(SliceOp::create(builder, own.getLoc(), of, all, starts, limits, strides));
    }
  }
  block.eraseArguments(0, before);
}

/// Parts one after the other, as the argument that they become has them.
Value RowJoin::joinResult(OpBuilder& builder, const Group& group) {
  Operation* terminator = function.front().getTerminator();
  Value first = terminator->getOperand(group.parts[0]);
  if (group.parts.size() == 1) return first;
  SmallVector<Value> parts;
  int64_t rows = 0;
  for (unsigned part : group.parts) {
    parts.push_back(terminator->getOperand(part));
    rows += tensorType(parts.back()).getDimSize(0);
  }
  return ConcatenateOp::create(builder, first.getLoc(), withRows(first.getType(), rows), parts, /*dimension=*/0);
}

void RowJoin::joinResults() {
  Operation* terminator = function.front().getTerminator();
  OpBuilder builder(terminator);
  SmallVector<Value> values;
  for (const Group& group : results) values.push_back(joinResult(builder, group));
  terminator->setOperands(values);
}

LogicalResult RowJoin::run() {
  for (const Group& group : arguments)
    if (failed(check(group, /*isResult=*/false))) return failure();
  for (const Group& group : results)
    if (failed(check(group, /*isResult=*/true))) return failure();
  for (const Group& group : arguments) argumentAttrs.push_back(getAttrs(group, /*isResult=*/false));
  for (const Group& group : results) resultAttrs.push_back(getAttrs(group, /*isResult=*/true));
  joinResults();
  joinArguments();
  function.setFunctionType(FunctionType::get(function.getContext(), function.front().getArgumentTypes(),
                                             function.front().getTerminator()->getOperandTypes()));
  function.setAllArgAttrs(argumentAttrs);
  function.setAllResultAttrs(resultAttrs);
  return success();
}

LogicalResult mlir::sgd::joinRows(func::FuncOp function) { return RowJoin(function).run(); }
