// Names and types of arguments and results, for the runtime's own matching.
#include "passes/time/stages/shared_state.h"

#include "dialects/sgd/sgd_dialect.h"
#include "dialects/sgd/stage_rows.h"
#include "passes/spmd/partition/passes.h"
#include "runtime/artifact/path_match.h"

using namespace mlir;
using namespace mlir::sgd;
namespace artifact = ::sgd::artifact;

namespace {
using TypeNumbers = DenseMap<Type, uint32_t>;

/// Arguments or results as the runtime sees them.
std::vector<artifact::NamedTensor> getTensors(ArrayRef<DictionaryAttr> attrs, TypeRange local, TypeNumbers& numbers,
                                              artifact::TensorPath (*getPath)(std::string_view)) {
  std::vector<artifact::NamedTensor> tensors;
  for (auto [index, own] : llvm::enumerate(local)) {
    DictionaryAttr attr = attrs.empty() ? DictionaryAttr() : attrs[index];
    auto name = attr ? attr.getAs<StringAttr>(kNameAttr) : StringAttr();
    auto type = attr ? attr.getAs<TypeAttr>(kGlobalTypeAttr) : TypeAttr();
    auto rows = attr ? attr.getAs<DenseI64ArrayAttr>(kRowsAttr) : DenseI64ArrayAttr();
    uint32_t number = numbers.try_emplace(type ? type.getValue() : own, numbers.size()).first->second;
    std::string text = name ? name.str() : "";
    if (rows && !text.empty()) text += "['rows " + std::to_string(rows[0]) + "']";
    tensors.push_back({getPath(text), number});
  }
  return tensors;
}

SmallVector<DictionaryAttr> getAttrs(ArrayAttr attrs) {
  SmallVector<DictionaryAttr> dictionaries;
  if (attrs)
    for (Attribute attr : attrs) dictionaries.push_back(cast<DictionaryAttr>(attr));
  return dictionaries;
}

SmallVector<std::pair<unsigned, unsigned>> getPairs(const artifact::PathMatch& match) {
  SmallVector<std::pair<unsigned, unsigned>> pairs;
  for (const artifact::PathGroup& group : match.unique)
    for (auto [from, to] : group.pairs) pairs.push_back({static_cast<unsigned>(from), static_cast<unsigned>(to)});
  return pairs;
}
}  // namespace

SharedState mlir::sgd::findSharedState(func::FuncOp step, func::FuncOp other) {
  TypeNumbers numbers;
  auto state = getTensors(getAttrs(step.getArgAttrsAttr()), step.getArgumentTypes(), numbers, artifact::ArgumentPath);
  auto inputs =
      getTensors(getAttrs(other.getArgAttrsAttr()), other.getArgumentTypes(), numbers, artifact::ArgumentPath);
  auto outputs = getTensors(getAttrs(other.getResAttrsAttr()), other.getResultTypes(), numbers, artifact::ResultPath);
  return {getPairs(artifact::MatchPaths(state, inputs)), getPairs(artifact::MatchPaths(outputs, state))};
}
