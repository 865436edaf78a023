// Globs against the names of arguments and results.
#include "compiler/recipe/tensor_rules.h"

#include "compiler/recipe/annotator.h"
#include "compiler/recipe/batch.h"
#include "compiler/recipe/glob.h"
#include "passes/graph/carry/carry_attrs.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

class TensorRules {
 public:
  TensorRules(ArrayRef<func::FuncOp> functions, const Recipe& recipe)
      : context(func::FuncOp(functions.front()).getContext()),
        functions(functions),
        recipe(recipe),
        numMatched(recipe.rules.size()),
        numDecided(recipe.rules.size()) {}

  FailureOr<SmallVector<RuledArguments>> run() {
    SmallVector<RuledArguments> ruled;
    if (failed(parseGlobs())) return failure();
    for (func::FuncOp function : functions) {
      Annotator annotator(function->getParentOfType<ModuleOp>());
      RuledArguments& arguments = ruled.emplace_back(function.getNumArguments());
      SmallVector<ShardingAttr> shardings(function.getNumArguments());
      for (unsigned i = 0; i < function.getNumArguments(); ++i) {
        auto name = function.getArgAttrOfType<StringAttr>(i, kNameAttr);
        if (!name) name = StringAttr::get(context, "arg" + Twine(i));  // as in files of tensors
        FailureOr<ShardingAttr> sharding = decide(annotator, name, function.getArgumentTypes()[i], arguments[i]);
        if (failed(sharding)) return failure();
        shardings[i] = *sharding;
        if (arguments[i]) setBatchDim(function, i, recipe.rules[*arguments[i]]);
      }
      annotator.annotateArguments(function, shardings);
      for (unsigned i = 0; i < function.getNumResults(); ++i) {
        if (getCarriedArgument(function, i)) continue;
        auto name = function.getResultAttrOfType<StringAttr>(i, kNameAttr);
        std::optional<unsigned> rule;
        FailureOr<ShardingAttr> sharding = decide(annotator, name, function.getResultTypes()[i], rule);
        if (failed(sharding)) return failure();
        if (*sharding) annotator.annotateResult(function, i, *sharding);
      }
    }
    if (failed(checkUsed())) return failure();
    return ruled;
  }

 private:
  LogicalResult parseGlobs() {
    for (const RecipeRule& rule : recipe.rules) {
      globs.emplace_back();
      if (rule.tensor.empty()) continue;
      llvm::Expected<TensorGlob> glob = TensorGlob::parse(rule.tensor);
      if (!glob)
        return error() << "field '" << getTensorField(rule) << "' is '" << rule.tensor
                       << "', which is no glob: " << llvm::toString(glob.takeError());
      globs.back().emplace(std::move(*glob));
    }
    return success();
  }

  /// The sharding that the first rule for `name` gives, or null.
  FailureOr<ShardingAttr> decide(Annotator& annotator, StringAttr name, Type type, std::optional<unsigned>& decider) {
    if (!name) return ShardingAttr();
    for (auto [index, glob] : llvm::enumerate(globs)) {
      if (!glob || !glob->matches(name.getValue())) continue;
      ++numMatched[index];
      if (!decider) decider = index;
    }
    if (!decider) return ShardingAttr();
    ++numDecided[*decider];
    const RecipeRule& rule = recipe.rules[*decider];
    auto tensor = cast<RankedTensorType>(type);
    switch (rule.kind) {
      case RecipeRule::Kind::Batch:
        if (rule.batchDim.value_or(0) < tensor.getRank() || !rule.batchDim) return ShardingAttr();
        return error() << "field '" << rule.path << ".batch' is " << *rule.batchDim << ", but " << name.getValue()
                       << ", which '" << rule.tensor << "' matches, is " << tensor
                       << "; name one of its dimensions, or narrow the glob";
      case RecipeRule::Kind::Replicate:
        if (!annotator.hasAxes()) return ShardingAttr();
        return annotator.getSharding(SmallVector<RecipeDim>(tensor.getRank()), rule.path);
      case RecipeRule::Kind::Sharding:
        break;
    }
    if (tensor.getRank() != static_cast<int64_t>(rule.dims.size()))
      return error() << "field '" << rule.path << ".sharding' has " << rule.dims.size() << " dimensions, but "
                     << name.getValue() << ", which '" << rule.tensor << "' matches, is " << tensor
                     << "; narrow the glob, or put a rule for this tensor before it";
    return annotator.getSharding(rule.dims, rule.path + ".sharding");
  }

  static void setBatchDim(func::FuncOp function, unsigned argument, const RecipeRule& rule) {
    if (rule.kind == RecipeRule::Kind::Batch)
      function.setArgAttr(argument, kBatchDimAttr,
                          Builder(function.getContext()).getI64IntegerAttr(rule.batchDim.value_or(-1)));
  }

  /// The field that holds the glob of `rule`.
  static std::string getTensorField(const RecipeRule& rule) {
    return rule.kind == RecipeRule::Kind::Replicate ? rule.path : rule.path + ".tensor";
  }

  LogicalResult checkUsed() {
    for (auto [index, rule] : llvm::enumerate(recipe.rules)) {
      if (rule.tensor.empty() || numDecided[index] > 0) continue;
      if (numMatched[index] > 0)
        return error() << "field '" << getTensorField(rule) << "': rules before it decide every tensor that '"
                       << rule.tensor << "' matches; put it before them, or remove it";
      return error() << "field '" << getTensorField(rule) << "': '" << rule.tensor
                     << "' matches no tensor of the program; " << getAdvice(rule.tensor);
    }
    return success();
  }

  /// Names that `glob` may have meant.
  std::string getAdvice(StringRef glob) {
    constexpr size_t kListed = 4;
    SmallVector<StringRef> names;
    for (func::FuncOp function : functions)
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (auto name = function.getArgAttrOfType<StringAttr>(i, kNameAttr)) names.push_back(name.getValue());
    if (names.empty())
      return "its text names no inputs: print it by as_text(debug_info=True), or say arg0, arg1, ... by their order: " +
             listArguments(functions.front(), kListed);
    if (StringRef nearest = findNearestName(glob, names); !nearest.empty())
      return ("the nearest name is " + nearest).str();
    std::string listed = llvm::join(ArrayRef(names).take_front(kListed), ", ");
    return "there are " + listed + (names.size() > kListed ? " and others" : "");
  }

  /// The first arguments with their types, "arg0 is tensor<8xf32>, arg1 is tensor<f32>, ...".
  static std::string listArguments(func::FuncOp function, size_t most) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    for (auto [index, type] : llvm::enumerate(function.getArgumentTypes().take_front(most)))
      stream << (index == 0 ? "" : ", ") << "arg" << index << " is " << type;
    return text + (function.getNumArguments() > most ? ", ..." : "");
  }

  InFlightDiagnostic error() { return emitError(UnknownLoc::get(context)); }

  MLIRContext* context;
  ArrayRef<func::FuncOp> functions;
  const Recipe& recipe;
  std::vector<std::optional<TensorGlob>> globs;  // by rule
  SmallVector<unsigned> numMatched, numDecided;  // by rule
};

}  // namespace

FailureOr<SmallVector<RuledArguments>> mlir::sgd::applyTensorRules(ArrayRef<func::FuncOp> functions,
                                                                   const Recipe& recipe) {
  return TensorRules(functions, recipe).run();
}
