// One dictionary, written and read; and what it says in words.
#include "passes/collectives/update_decision.h"

#include "llvm/Support/Format.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::sgd;

DictionaryAttr UpdateDecision::toAttr(MLIRContext* context) const {
  Builder builder(context);
  auto getNames = [&](const std::vector<std::string>& names) {
    return builder.getStrArrayAttr(llvm::map_to_vector(names, [](const std::string& name) { return StringRef(name); }));
  };
  NamedAttrList fields;
  fields.set("tensor", TypeAttr::get(tensor));
  fields.set("from", from);
  fields.set("gathered", getNames(gathered));
  fields.set("kept", getNames(kept));
  if (!source.empty()) fields.set("source", builder.getStringAttr(source));
  if (sharding) fields.set("sharding", sharding);
  if (sharding) fields.set("saved_seconds", builder.getF64FloatAttr(savedSeconds));
  if (!why.empty()) fields.set("why", builder.getStringAttr(why));
  return fields.getDictionary(context);
}

std::optional<UpdateDecision> UpdateDecision::fromAttr(Attribute attribute) {
  auto dictionary = dyn_cast<DictionaryAttr>(attribute);
  auto tensor = dictionary ? dictionary.getAs<TypeAttr>("tensor") : TypeAttr();
  if (!tensor) return std::nullopt;
  UpdateDecision decision;
  auto readNames = [&](StringRef name, std::vector<std::string>& names) {
    if (auto array = dictionary.getAs<ArrayAttr>(name))
      for (auto text : array.getAsRange<StringAttr>()) names.push_back(text.str());
  };
  auto readText = [&](StringRef name, std::string& value) {
    if (auto text = dictionary.getAs<StringAttr>(name)) value = text.str();
  };
  decision.tensor = tensor.getValue();
  decision.from = dictionary.getAs<ShardingAttr>("from");
  decision.sharding = dictionary.getAs<ShardingAttr>("sharding");
  if (auto saved = dictionary.getAs<FloatAttr>("saved_seconds")) decision.savedSeconds = saved.getValueAsDouble();
  readNames("gathered", decision.gathered);
  readNames("kept", decision.kept);
  readText("source", decision.source);
  readText("why", decision.why);
  return decision;
}

static std::string join(const std::vector<std::string>& names) {
  std::string text;
  for (auto [index, name] : llvm::enumerate(names))
    text += (index == 0 ? "" : index + 1 == names.size() ? " and " : ", ") + name;
  return text;
}

std::string UpdateDecision::getText() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  std::vector<std::string> all = gathered;
  llvm::append_range(all, kept);
  if (!sharding) {
    os << "every rank updates the whole of " << join(all) << ": " << why;
    return text;
  }
  os << "every rank updates its shard of " << join(all);
  if (!gathered.empty()) os << "; " << join(gathered) << (gathered.size() == 1 ? " is" : " are") << " gathered";
  if (!kept.empty()) os << "; " << join(kept) << (kept.size() == 1 ? " stays" : " stay") << " in shards between steps";
  os << "; saves " << llvm::format("%.0f", savedSeconds * 1e6) << " us";
  return text;
}
