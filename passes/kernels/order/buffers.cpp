// Aliases, read off the tensor program.
#include "passes/kernels/order/buffers.h"

#include "passes/graph/carry/carry_attrs.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

/// The part of a name that arguments and results share: `params['layer0']['b']` and `result[1]['layer0']['b']` both
/// have `['layer0']['b']`.
StringRef getLeafName(DictionaryAttr attributes) {
  auto name = attributes ? attributes.getAs<StringAttr>(kNameAttr) : StringAttr();
  if (!name) return {};
  StringRef text = name.getValue();
  return text.drop_front(std::min(text.find("['"), text.size()));
}

/// The properties that a result must share with the argument whose buffer it overwrites: type, final sharding and,
/// where asked for, name.
using AliasKey = std::tuple<Type, Attribute, StringRef>;

AliasKey getAliasKey(Type type, DictionaryAttr attributes, bool byName) {
  Attribute sharding = attributes ? attributes.get(kShardingAttr) : Attribute();
  return {type, sharding, byName ? getLeafName(attributes) : StringRef()};
}

}  // namespace

bool mlir::sgd::canAccumulateInPlace(Type element) {
  return !isa<FloatType>(element) || element.getIntOrFloatBitWidth() >= 32;
}

/// Adds pairs of donated arguments and results of one type that are still free; `byName`: that have one name too.
static void takeDonated(func::FuncOp function, bool byName, SmallVector<int64_t>& aliases,
                        llvm::DenseSet<int64_t>& taken) {
  llvm::DenseMap<AliasKey, SmallVector<unsigned, 1>> free;  // results without an argument, the first one at the end
  for (unsigned result = aliases.size(); result-- > 0;)
    if (aliases[result] < 0)
      free[getAliasKey(function.getResultTypes()[result], function.getResultAttrDict(result), byName)].push_back(
          result);
  for (unsigned argument = 0; argument < function.getNumArguments(); ++argument) {
    if (!function.getArgAttr(argument, kDonatedAttr) || taken.contains(argument)) continue;
    AliasKey key = getAliasKey(function.getArgumentTypes()[argument], function.getArgAttrDict(argument), byName);
    if (byName && std::get<StringRef>(key).empty()) continue;
    auto found = free.find(key);
    if (found == free.end() || found->second.empty()) continue;
    aliases[found->second.pop_back_val()] = argument;
    taken.insert(argument);
  }
}

SmallVector<int64_t> mlir::sgd::getOutputAliases(func::FuncOp function) {
  SmallVector<int64_t> aliases(function.getNumResults(), -1);
  llvm::DenseSet<int64_t> taken;
  auto take = [&](unsigned result, unsigned argument) {
    if (aliases[result] >= 0 || function.getArgumentTypes()[argument] != function.getResultTypes()[result]) return;
    if (taken.insert(argument).second) aliases[result] = argument;
  };
  // State is updated in place where its buffer is donated, whatever the alias says; nothing has to move then.
  for (unsigned result = 0; result < aliases.size(); ++result)
    if (std::optional<unsigned> argument = getCarriedArgument(function, result);
        argument && (function.getArgAttr(*argument, kAliasOutputAttr) || function.getArgAttr(*argument, kDonatedAttr)))
      take(result, *argument);
  for (unsigned argument = 0; argument < function.getNumArguments(); ++argument) {
    auto output = function.getArgAttrOfType<IntegerAttr>(argument, kAliasOutputAttr);
    if (output && output.getInt() >= 0 && output.getInt() < static_cast<int64_t>(aliases.size()))
      take(output.getInt(), argument);
  }
  for (bool byName : {true, false}) takeDonated(function, byName, aliases, taken);
  return aliases;
}

SmallVector<int64_t> mlir::sgd::getYieldAliases(Block& block) {
  if (auto function = dyn_cast<func::FuncOp>(block.getParentOp())) return getOutputAliases(function);
  auto loop = dyn_cast<WhileOp>(block.getParentOp());
  bool isBody = loop && block.getParent() == &loop.getBody();
  SmallVector<int64_t> aliases;
  for (int64_t index = 0; index < block.getTerminator()->getNumOperands(); ++index)
    aliases.push_back(isBody ? index : -1);
  return aliases;
}
