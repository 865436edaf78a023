// Which dimension of each tensor is sharded, and which tensors stay whole.
#include "compiler/recipe/zero.h"

#include "compiler/recipe/annotator.h"
#include "compiler/recipe/gather_once.h"
#include "compiler/recipe/parameter_reads.h"
#include "dialects/sgd/roles.h"
#include "dialects/sgd/tensor_layout.h"
#include "dialects/sgd/tensor_parts.h"
#include "runtime/artifact/tensor_path.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class ZeroSharding {
 public:
  ZeroSharding(func::FuncOp function, const Recipe& recipe, const RuledArguments& ruled)
      : function(function),
        types(function.getArgumentTypes()),
        recipe(recipe),
        ruled(ruled),
        annotator(function->getParentOfType<ModuleOp>()) {}

  LogicalResult run() {
    if (!findResult(function, Role::Loss))
      return annotator.error()
             << "field 'zero' needs a scalar result that is not carried, the loss, to tell parameters "
                "from optimizer state; return the loss, or shard state by rules";
    shards = annotator.getSize(recipe.batch);
    findParameters();
    readAnnotations();
    chooseDims();
    shardings.resize(dims.size());
    for (unsigned argument = 0; argument < dims.size(); ++argument)
      if (failed(annotate(argument))) return failure();
    annotator.annotateArguments(function, shardings);
    sayWhole();
    return success();
  }

 private:
  RankedTensorType getType(unsigned argument) const { return cast<RankedTensorType>(types[argument]); }

  uint64_t getBytes(unsigned argument) const { return getByteSize(types[argument]); }

  /// Whether the stage shards the argument's role, and no rule replicates the argument.
  bool isSharded(unsigned argument) const {
    if (ruled[argument] && recipe.rules[*ruled[argument]].kind == RecipeRule::Kind::Replicate) return false;
    if (func::FuncOp(function).getArgAttrOfType<ArrayAttr>(argument, kAxesAttr)) return false;  // the program says how
    Role role = getRole(function, argument);
    return role == Role::OptimizerState || (isReadByLoss(role) && recipe.zero == 3);
  }

  /// For each state of an optimizer its parameter; every other argument is its own.
  void findParameters() {
    using ::sgd::artifact::ArgumentPath;
    llvm::StringMap<SmallVector<unsigned>> parametersByEnd;
    SmallVector<::sgd::artifact::TensorPath> paths(function.getNumArguments());
    for (unsigned i = 0; i < paths.size(); ++i) {
      parameters.push_back(i);
      if (auto name = function.getArgAttrOfType<StringAttr>(i, kNameAttr))
        paths[i] = ArgumentPath(std::string_view(name.getValue()));
      if (isReadByLoss(getRole(function, i)) && !paths[i].empty()) parametersByEnd[paths[i].back().text].push_back(i);
    }
    for (unsigned i = 0; i < paths.size(); ++i) {
      if (getRole(function, i) != Role::OptimizerState || paths[i].empty()) continue;
      size_t longest = 0;
      for (unsigned parameter : parametersByEnd.lookup(paths[i].back().text)) {
        if (getType(parameter).getShape() != getType(i).getShape()) continue;
        auto [left, right] =
            std::mismatch(paths[i].rbegin(), paths[i].rend(), paths[parameter].rbegin(), paths[parameter].rend());
        size_t common = left - paths[i].rbegin();
        if (common > longest) parameters[i] = parameter;
        longest = std::max(longest, common);
      }
    }
  }

  /// Annotations of arguments count as rules: state is sharded further within these shards. Sub-axes, and axes that
  /// the recipe's mesh does not have, cannot be expressed by rules.
  void readAnnotations() {
    MeshAttr mesh = getMesh(function->getParentOfType<ModuleOp>()).getMesh();
    auto isKnown = [&](AxisRefAttr axis) { return axis.isWholeAxis() && mesh.getAxisIndex(axis.getName()); };
    annotated.resize(parameters.size());
    for (unsigned argument = 0; argument < parameters.size(); ++argument) {
      auto sharding = function.getArgAttrOfType<ShardingAttr>(argument, kShardingAttr);
      if (!sharding || !isState(getRole(function, argument))) continue;
      if (!llvm::all_of(sharding.getDims(), [&](DimShardingAttr dim) { return llvm::all_of(dim.getAxes(), isKnown); }))
        continue;
      for (DimShardingAttr dim : sharding.getDims()) {
        RecipeDim& read = annotated[argument].emplace_back();
        read.isOpen = dim.getIsOpen();
        for (AxisRefAttr axis : dim.getAxes()) read.axes.push_back(axis.getName().str());
      }
    }
  }

  /// The sharding without the axes of the batch: by a rule of the argument or of its parameter, or by an annotation.
  ArrayRef<RecipeDim> getRule(unsigned argument) const {
    std::optional<unsigned> rule = ruled[argument] ? ruled[argument] : ruled[parameters[argument]];
    if (rule) return recipe.rules[*rule].dims;
    return annotated[argument].empty() ? annotated[parameters[argument]] : annotated[argument];
  }

  static constexpr double kMostPadding = 1.125;

  /// The dimension that needs the least padding, one without axes before others; none where that is over an eighth.
  /// Never the dimension of layers in a stacked parameter, whose rows are read one by one: each layer would be on one
  /// rank, and gradients of layers would be exchanged again after they are reduced.
  std::optional<unsigned> chooseDim(unsigned argument) {
    RankedTensorType type = getType(argument);
    ArrayRef<RecipeDim> rule = getRule(argument);
    std::optional<unsigned> best;
    std::pair<double, int64_t> least;  // padded over actual size; parts by the rule
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      if (isReadByRows(function.getArgument(parameters[argument]), dim) || type.getDimSize(dim) == 0) continue;
      int64_t parts = rule.empty() ? 1 : annotator.getSize(rule[dim].axes);
      int64_t padded = llvm::divideCeil(type.getDimSize(dim), parts * shards) * parts * shards;
      std::pair<double, int64_t> cost(static_cast<double>(padded) / type.getDimSize(dim), parts);
      if (cost.first > kMostPadding || (best && cost >= least)) continue;
      best = dim;
      least = cost;
    }
    return best;
  }

  void chooseDims() {
    dims.resize(function.getNumArguments());
    for (unsigned i = 0; i < dims.size(); ++i) {
      if (!isSharded(i) || usesBatchAxes(i)) continue;
      if (getBytes(i) < kLeastBytes * shards) {
        if (getType(i).getRank() > 0) small.push_back(i);
        continue;
      }
      dims[i] = chooseDim(i);
      if (!dims[i]) uneven.push_back(i);
    }
  }

  /// A rule may have spent the batch axes already.
  bool usesBatchAxes(unsigned argument) const {
    return llvm::any_of(getRule(argument), [&](const RecipeDim& dim) {
      return llvm::any_of(dim.axes, [&](const std::string& axis) { return llvm::is_contained(recipe.batch, axis); });
    });
  }

  /// A shard smaller than this saves nothing: buffers begin at multiples of it.
  static constexpr uint64_t kLeastBytes = 64;

  LogicalResult annotate(unsigned argument) {
    Role role = getRole(function, argument);
    if (!isState(role) || (!dims[argument] && ruled[argument]) ||
        function.getArgAttrOfType<ArrayAttr>(argument, kAxesAttr))
      return success();
    SmallVector<RecipeDim> sharding(getRule(argument));
    if (sharding.empty()) sharding.assign(getType(argument).getRank(), RecipeDim{{}, /*isOpen=*/true});
    if (dims[argument]) {
      RecipeDim& dim = sharding[*dims[argument]];
      dim.axes.insert(dim.axes.end(), recipe.batch.begin(), recipe.batch.end());
      dim.isOpen = false;
    }
    FailureOr<ShardingAttr> attr = annotator.getSharding(sharding, "zero");
    if (failed(attr)) return failure();
    if (!dims[argument] && !usesBatchAxes(argument)) attr = replicate(*attr);
    if (dims[argument]) attr = propagateLast(*attr, *dims[argument]);
    // Refines the sharding of a rule; does not replace it.
    if (!getRule(argument).empty()) function.removeArgAttr(argument, kShardingAttr);
    shardings[argument] = *attr;
    if (!dims[argument] || !isReadByLoss(role)) return success();
    sharding[*dims[argument]].axes.resize(sharding[*dims[argument]].axes.size() - recipe.batch.size());
    sharding[*dims[argument]].isOpen = getRule(argument).empty();
    FailureOr<ShardingAttr> gathered = annotator.getSharding(sharding, "zero");
    if (succeeded(gathered)) gatherOnce(function.getArgument(argument), replicate(*gathered));
    return gathered;
  }

  /// Shards are where state is stored, not how values are computed from it: activations are sharded as the batch is
  /// before dimension `dim` of the state is propagated.
  ShardingAttr propagateLast(ShardingAttr sharding, unsigned dim) {
    SmallVector<DimShardingAttr> sharded(sharding.getDims());
    sharded[dim] = DimShardingAttr::get(function.getContext(), sharded[dim].getAxes(), sharded[dim].getIsOpen(), 1);
    return ShardingAttr::get(function.getContext(), sharding.getMesh(), sharded, sharding.getReplicated(), {},
                             ReduceKind::Add);
  }

  /// Without this, propagation would shard it as the update of its state.
  ShardingAttr replicate(ShardingAttr sharding) {
    SmallVector<AxisRefAttr> axes;
    for (StringRef axis : recipe.batch) axes.push_back(AxisRefAttr::get(function.getContext(), axis));
    return ShardingAttr::get(function.getContext(), sharding.getMesh(), sharding.getDims(), axes, {}, ReduceKind::Add);
  }

  void sayWhole() {
    auto say = [&](ArrayRef<unsigned> arguments, const Twine& why) {
      if (arguments.empty()) return;
      uint64_t bytes = 0;
      for (unsigned argument : arguments) bytes += getBytes(argument);
      std::string names;
      for (unsigned argument : arguments.take_front(3))
        names += (names.empty() ? "" : ", ") + getArgumentName(function, argument);
      if (arguments.size() > 3) names += " and " + std::to_string(arguments.size() - 3) + " more";
      annotator.remark() << "zero " << recipe.zero << ": replicated: " << names << " (" << bytes << " bytes): " << why;
    };
    say(uneven, "cutting any dimension into " + Twine(shards) + " parts needs more than an eighth of padding");
    say(small, "a shard would be smaller than the " + Twine(kLeastBytes) + " bytes that a buffer takes at least");
  }

  func::FuncOp function;
  ArrayRef<Type> types;  // of arguments
  const Recipe& recipe;
  const RuledArguments& ruled;
  Annotator annotator;
  int64_t shards = 1;
  SmallVector<unsigned> parameters;               // by argument
  SmallVector<SmallVector<RecipeDim>> annotated;  // by argument, as the text says; empty: it does not
  SmallVector<std::optional<unsigned>> dims;      // by argument: the dimension that the batch axes shard
  SmallVector<ShardingAttr> shardings;            // by argument
  SmallVector<unsigned> uneven, small;            // what stays whole
};

}  // namespace

LogicalResult mlir::sgd::shardState(func::FuncOp function, const Recipe& recipe, const RuledArguments& ruled) {
  return ZeroSharding(function, recipe, ruled).run();
}
