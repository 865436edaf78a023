// The pass sgd-decide-carry: reads names, types and dataflow, writes what decide.h says.
#include "dialects/sgd/complex_pairs.h"
#include "dialects/sgd/input_attrs.h"
#include "passes/graph/carry/carry_attrs.h"
#include "passes/graph/carry/function_carry.h"
#include "passes/graph/carry/passes.h"

namespace mlir::sgd {
#define GEN_PASS_DEF_DECIDECARRYPASS
#include "passes/graph/carry/passes.h.inc"
}  // namespace mlir::sgd

using namespace mlir;
using namespace mlir::sgd;

namespace {

class FunctionEvidence : public CarryEvidence {
 public:
  explicit FunctionEvidence(func::FuncOp function) : links(function) {}
  Link get(unsigned result, unsigned argument) override { return links.get(result, argument); }
  bool depends(unsigned result, unsigned argument) override { return links.depends(result, argument); }
  bool isUpdate(unsigned result, unsigned argument) override { return links.isUpdate(result, argument); }
  bool isRoundedUpdate(unsigned result) override { return links.isRoundedUpdate(result); }

 private:
  Links links;
};

/// Numbers types; integers of another signedness are of another type, and so are complex numbers and pairs, and tensors
/// and summands.
class TypeNumbers {
 public:
  CarryValue describe(Type type, DictionaryAttr attributes) {
    CarryValue value;
    bool isUnsigned = attributes && attributes.contains(kUnsignedAttr);
    bool isComplex = attributes && attributes.contains(kComplexAttr);
    bool isSummands = attributes && attributes.contains(kSummandsAttr);
    unsigned meaning = (isUnsigned ? 1 : isComplex ? 2 : 0) + (isSummands ? 4 : 0);
    value.type = numbers.try_emplace({type, meaning}, numbers.size()).first->second;
    auto tensor = cast<RankedTensorType>(type);
    value.isScalar = tensor.getRank() == (isComplex ? 1 : 0);
    value.isInteger = isa<IntegerType>(tensor.getElementType());
    value.isKey = value.isInteger && isUnsigned && !value.isScalar;
    return value;
  }

 private:
  llvm::DenseMap<std::pair<Type, unsigned>, uint32_t> numbers;
};

StringRef getName(DictionaryAttr attributes) {
  auto name = attributes ? attributes.getAs<StringAttr>(kNameAttr) : StringAttr();
  return name ? name.getValue() : StringRef();
}

CarryProblem getProblem(func::FuncOp function) {
  CarryProblem problem;
  TypeNumbers types;
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    DictionaryAttr attributes = function.getArgAttrDict(index);
    CarryValue value = types.describe(function.getArgumentTypes()[index], attributes);
    value.path = ::sgd::artifact::ArgumentPath(std::string_view(getName(attributes)));
    auto alias = function.getArgAttrOfType<IntegerAttr>(index, kAliasOutputAttr);
    if (alias && alias.getInt() >= 0 && alias.getInt() < function.getNumResults()) value.alias = alias.getInt();
    value.isDonated = value.alias || function.getArgAttr(index, kDonatedAttr);
    problem.arguments.push_back(std::move(value));
  }
  for (unsigned index = 0; index < function.getNumResults(); ++index) {
    DictionaryAttr attributes = function.getResultAttrDict(index);
    CarryValue value = types.describe(function.getResultTypes()[index], attributes);
    value.path = ::sgd::artifact::ResultPath(std::string_view(getName(attributes)));
    problem.results.push_back(std::move(value));
  }
  return problem;
}

StringRef getWord(CarryBasis basis) {
  switch (basis) {
    case CarryBasis::Unchanged:
      return "unchanged";
    case CarryBasis::Names:
      return "names";
    case CarryBasis::Dataflow:
      return "dataflow";
  }
  llvm_unreachable("no such basis");
}

struct DecideCarryPass : mlir::sgd::impl::DecideCarryPassBase<DecideCarryPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function->hasAttr(kCarryIsKnownAttr)) return;
    auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
    if (function.isExternal() || function.isPrivate() || !llvm::hasSingleElement(function.getBody()) ||
        !llvm::all_of(function.getArgumentTypes(), isTensor) || !llvm::all_of(function.getResultTypes(), isTensor))
      return;
    writeCarry(function, decideCarry(function));
  }
};

}  // namespace

CarryDecision mlir::sgd::decideCarry(func::FuncOp function) {
  FunctionEvidence evidence(function);
  return decideCarry(getProblem(function), evidence);
}

/// All attributes at once: to set one makes a new list of those of all arguments, which the context keeps.
void mlir::sgd::writeCarry(func::FuncOp function, const CarryDecision& decision) {
  Builder builder(function.getContext());
  SmallVector<DictionaryAttr> ofResults, ofArguments;
  for (auto [result, pair] : llvm::enumerate(decision.results)) {
    NamedAttrList attrs(function.getResultAttrDict(result));
    if (pair) {
      attrs.set(kCarryAttr, builder.getI64IntegerAttr(pair->argument));
      attrs.set(kCarryBasisAttr, builder.getStringAttr(getWord(pair->basis)));
    }
    ofResults.push_back(attrs.getDictionary(builder.getContext()));
  }
  function.setAllResultAttrs(ofResults);
  if (decision.doubts.empty()) return;
  for (unsigned argument = 0; argument < function.getNumArguments(); ++argument) {
    NamedAttrList attrs(function.getArgAttrDict(argument));
    if (auto doubt = decision.doubts.find(argument); doubt != decision.doubts.end()) {
      attrs.set(kCarryDoubtAttr, builder.getStringAttr(doubt->second.why));
      if (doubt->second.candidate) attrs.set(kCarryCandidateAttr, builder.getI64IntegerAttr(*doubt->second.candidate));
    }
    ofArguments.push_back(attrs.getDictionary(builder.getContext()));
  }
  function.setAllArgAttrs(ofArguments);
}
