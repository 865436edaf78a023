// The schema is that of torch/_export/serde/schema.py.
#include "frontends/torch/exported_program.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "nlohmann/json.hpp"

using namespace mlir::sgd::torch;
using llvm::StringRef;
using llvm::Twine;
using Json = nlohmann::json;

namespace {

constexpr int64_t kSchema = 8;

/// Thrown for damage and unsupported features, and caught in parseExportedProgram: every access of the JSON may fail.
struct Fault {
  std::string message;
};

[[noreturn]] void refuse(const Twine& message) { throw Fault{message.str()}; }

/// Numbers that may be expressions of open sizes.
class Numbers {
 public:
  SymbolValues symbols;

  /// Names the values that the graph computes of sizes.
  void readNamed(const Json& values) {
    for (const auto& [name, value] : values.items())
      if (std::optional<double> number = evaluate(value)) named[name] = *number;
  }

  /// {"as_int": 3}, {"as_name": "sym_size"}, {"as_expr": {..}} or 3.
  double read(const Json& value, const std::string& what) const {
    if (std::optional<double> number = evaluate(value)) return *number;
    refuse("has a number in " + what + " that is not known before the model runs; expected sizes of the inputs; export "
           "the model without it");
  }
  int64_t readWhole(const Json& value, const std::string& what) const {
    if (value.is_object() && value.contains("as_int")) return value["as_int"].get<int64_t>();
    if (value.is_number_integer()) return value.get<int64_t>();
    double number = read(value, what);
    if (!(std::fabs(number) < 0x1p53) || number != std::floor(number))
      refuse("has a size of " + std::to_string(number) + " in " + what + "; expected a whole number; bind other sizes");
    return static_cast<int64_t>(number);
  }

 private:
  std::optional<double> evaluate(const Json& value) const {
    if (value.is_number()) return value.get<double>();
    if (!value.is_object()) return std::nullopt;
    for (const char* plain : {"as_int", "as_float"})
      if (value.contains(plain) && value[plain].is_number()) return value[plain].get<double>();
    if (value.contains("as_name")) {
      auto found = named.find(value["as_name"].get<std::string>());
      return found == named.end() ? std::nullopt : std::optional(found->second);
    }
    if (!value.contains("as_expr")) return std::nullopt;
    return evaluateExpression(value["as_expr"]["expr_str"].get<std::string>(), symbols);
  }

  std::map<std::string, double> named;
};

std::vector<TensorName> readNames(const Json& list) {
  std::vector<TensorName> names;
  for (const Json& one : list) {
    if (one.is_object() && one.contains("name"))
      names.push_back({one["name"]});
    else if (one.is_object() && one.contains("as_tensor"))
      names.push_back({one["as_tensor"]["name"]});
    else
      names.push_back({});
  }
  return names;
}

Argument readArgument(const Json& value, const std::string& what, const Numbers& known) {
  const std::string& kind = value.begin().key();
  const Json& held = value.begin().value();
  if (kind == "as_none") return std::monostate();
  if (kind == "as_tensor") return TensorName{held["name"]};
  if (kind == "as_tensors" || kind == "as_optional_tensors") return readNames(held);
  if (kind == "as_int") return held.get<int64_t>();
  if (kind == "as_ints") return held.get<std::vector<int64_t>>();
  if (kind == "as_float") {
    if (held.is_string()) return std::stod(held.get<std::string>());  // "Infinity", "NaN"
    return held.get<double>();
  }
  if (kind == "as_floats") return held.get<std::vector<double>>();
  if (kind == "as_bool") return held.get<bool>();
  if (kind == "as_bools") return held.get<std::vector<bool>>();
  if (kind == "as_string") return held.get<std::string>();
  if (kind == "as_scalar_type" || kind == "as_memory_format" || kind == "as_layout") return held.get<int64_t>();
  if (kind == "as_device") return std::monostate();
  if (kind == "as_sym_int") return known.readWhole(held, what);
  if (kind == "as_sym_float") return known.read(held, what);
  if (kind == "as_sym_ints") {
    std::vector<int64_t> numbers;
    for (const Json& one : held) numbers.push_back(known.readWhole(one, what));
    return numbers;
  }
  refuse("has an argument of the kind '" + kind + "' in " + what + ", which is not supported; rewrite that op");
}

/// `File "model.py", line 5, in forward`: the first entry is the user's outermost call, the last one in a library.
void readLocation(const Json& metadata, Node& node) {
  std::string text = metadata.value("stack_trace", "");
  llvm::SmallVector<StringRef> lines;
  StringRef(text).split(lines, '\n');
  for (StringRef line : lines) {
    line = line.trim();
    if (!line.consume_front("File \"")) continue;
    auto [file, rest] = line.split("\", line ");
    bool isLibrary = file.contains("torch/nn/") || file.contains("torch/_");
    if (isLibrary && !node.file.empty()) break;
    unsigned number = 0;
    if (!rest.consumeInteger(10, number)) node.file = file.str(), node.line = number;
  }
  // "L__self__,,Gpt;L__self___l_0,l.0,Block": the last entry is the innermost module.
  std::string stack = metadata.value("nn_module_stack", "");
  StringRef last = StringRef(stack).rsplit(';').second;
  if (last.empty()) last = stack;
  llvm::SmallVector<StringRef> parts;
  last.split(parts, ',');
  if (parts.size() > 1) node.module = parts[1].str();
}

/// Whether a node computes with sizes alone.
bool isOfSizes(const Json& node) {
  auto isNumber = [](const Json& output) {
    return output.contains("as_sym_int") || output.contains("as_sym_bool") || output.contains("as_sym_float");
  };
  const Json& outputs = node["outputs"];
  return !outputs.empty() && std::all_of(outputs.begin(), outputs.end(), isNumber);
}

Node readNode(const Json& json, const Numbers& known) {
  Node node;
  StringRef target = json["target"].get_ref<const std::string&>();
  target.consume_front("torch.ops.");
  node.target = target.str();
  for (const Json& input : json["inputs"])
    node.arguments.emplace_back(input["name"], readArgument(input["arg"], node.target, known));
  for (const Json& output : json["outputs"]) {
    if (output.contains("as_tensor"))
      node.outputs.push_back(output["as_tensor"]["name"]);
    else if (output.contains("as_tensors"))
      for (const TensorName& name : readNames(output["as_tensors"])) node.outputs.push_back(name.name);
    else if (output.contains("as_none"))
      node.outputs.emplace_back();
    else
      refuse("has an output of " + node.target + " that is no tensor, which is not supported; rewrite that op");
  }
  if (json.contains("metadata")) readLocation(json["metadata"], node);
  return node;
}

Input readInput(const Json& json) {
  const std::string& kind = json.begin().key();
  const Json& held = json.begin().value();
  if (kind == "parameter") return {Input::Kind::Parameter, held["arg"]["name"], held["parameter_name"], true};
  if (kind == "buffer")
    return {Input::Kind::Buffer, held["arg"]["name"], held["buffer_name"], held.value("persistent", true)};
  if (kind == "tensor_constant")
    return {Input::Kind::Constant, held["arg"]["name"], held["tensor_constant_name"], false};
  if (kind == "user_input" && held["arg"].contains("as_tensor")) {
    std::string name = held["arg"]["as_tensor"]["name"];
    return {Input::Kind::User, name, name, true};
  }
  refuse("has an input of the kind '" + kind +
         "' that is no tensor, which is not supported; make it a constant of the module");
}

Output readOutput(const Json& json) {
  const std::string& kind = json.begin().key();
  const Json& held = json.begin().value();
  if (kind == "buffer_mutation") return {held["arg"]["name"], "", held["buffer_name"], false};
  if (kind == "loss_output") return {held["arg"]["name"], "", "", true};
  if (kind == "user_output" && held["arg"].contains("as_tensor"))
    return {held["arg"]["as_tensor"]["name"], "", "", false};
  refuse("has an output of the kind '" + kind + "' that is no tensor, which is not supported; return tensors alone");
}

/// Names of the leaves of a structure of results: keys of dictionaries, and nothing for positions.
void readLeafNames(const Json& spec, const std::string& path, std::vector<std::string>& names) {
  const Json& children = spec["children_spec"];
  if (spec["type"].is_null()) {
    names.push_back(path);
    return;
  }
  const Json& context = spec["context"];
  Json keys = context.is_string() ? Json::parse(context.get<std::string>(), nullptr, /*allow_exceptions=*/false) : Json();
  bool hasKeys = keys.is_array() && keys.size() == children.size();
  for (size_t i = 0; i < children.size(); ++i) {
    std::string key = hasKeys && keys[i].is_string() ? keys[i].get<std::string>() : "";
    readLeafNames(children[i], path.empty() || key.empty() ? path + key : path + "." + key, names);
  }
}

/// Gives results their keys, where each has one of its own.
void nameOutputs(const Json& module, ExportedProgram& program) {
  const Json& calls = module["module_call_graph"];
  if (calls.empty() || !calls[0].contains("signature") || !calls[0]["signature"].is_object()) return;
  std::string text = calls[0]["signature"].value("out_spec", "");
  Json spec = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!spec.is_array() || spec.size() != 2) return;
  std::vector<std::string> names;
  readLeafNames(spec[1], "", names);
  std::vector<Output*> own;
  for (Output& output : program.outputs)
    if (output.buffer.empty()) own.push_back(&output);
  std::set<std::string> unique(names.begin(), names.end());
  if (own.size() != names.size() || unique.size() != names.size()) return;
  for (size_t i = 0; i < own.size(); ++i) own[i]->name = names[i];
}

/// The symbols that are dimensions of the inputs, in their order.
std::vector<OpenSize> findOpenSizes(const Json& json, const ExportedProgram& program) {
  std::vector<OpenSize> open;
  const Json& tensors = json["graph_module"]["graph"]["tensor_values"];
  const Json& ranges = json["range_constraints"];
  for (const Input& input : program.inputs) {
    const Json& sizes = tensors[input.value]["sizes"];
    for (size_t dim = 0; dim < sizes.size(); ++dim) {
      if (!sizes[dim].contains("as_expr")) continue;
      const Json& expression = sizes[dim]["as_expr"];
      std::string symbol = getSymbol(expression["expr_str"].get<std::string>());
      if (symbol.empty()) continue;
      auto known = std::find_if(open.begin(), open.end(), [&](const OpenSize& one) { return one.symbol == symbol; });
      if (known == open.end()) {
        OpenSize size{symbol, {}, 0, INT64_MAX, std::nullopt};
        if (ranges.contains(symbol)) {
          const Json& range = ranges[symbol];
          if (range.contains("min_val") && range["min_val"].is_number()) size.least = range["min_val"].get<int64_t>();
          if (range.contains("max_val") && range["max_val"].is_number()) size.most = range["max_val"].get<int64_t>();
        }
        if (expression.contains("hint") && expression["hint"].is_object() && expression["hint"].contains("as_int"))
          size.sample = expression["hint"]["as_int"].get<int64_t>();
        known = open.insert(open.end(), std::move(size));
      }
      known->places.push_back({input.name, dim});
    }
  }
  return open;
}

Numbers readNumbers(const Json& json, const ExportedProgram& program, const SizeOptions& options) {
  Numbers known;
  std::vector<OpenSize> open = findOpenSizes(json, program);
  llvm::Expected<SymbolValues> bound = bindSizes(open, options.bindings);
  if (bound) {
    known.symbols = *bound;
  } else {
    std::string message = llvm::toString(bound.takeError());
    if (!options.takesSamples) throw Fault{message};
    for (const OpenSize& size : open) known.symbols[size.symbol] = size.sample.value_or(size.least);
  }
  for (const char* values : {"sym_int_values", "sym_float_values"})
    if (json["graph_module"]["graph"].contains(values)) known.readNamed(json["graph_module"]["graph"][values]);
  return known;
}

ExportedProgram readProgram(const Json& json, const SizeOptions& options) {
  int64_t major = json["schema_version"]["major"].get<int64_t>();
  if (major != kSchema)
    refuse("has schema " + Twine(major) + " of torch.export; expected schema " + Twine(kSchema) +
           ", as PyTorch 2.15 writes it; export the model with such a version");
  const Json& module = json["graph_module"];
  const Json& graph = module["graph"];
  ExportedProgram program;
  for (const Json& input : module["signature"]["input_specs"]) program.inputs.push_back(readInput(input));
  const Numbers known = readNumbers(json, program, options);
  for (const auto& [name, tensor] : graph["tensor_values"].items()) {
    TensorInfo info{tensor["dtype"].get<int>(), {}, tensor.value("requires_grad", false)};
    for (const Json& size : tensor["sizes"]) info.sizes.push_back(known.readWhole(size, "'" + name + "'"));
    program.tensors[name] = std::move(info);
  }
  for (const Json& output : module["signature"]["output_specs"]) program.outputs.push_back(readOutput(output));
  nameOutputs(module, program);
  for (const Json& node : graph["nodes"])
    if (!isOfSizes(node)) program.nodes.push_back(readNode(node, known));
  return program;
}

StoredTensor readStored(const Json& entry, const std::string& name, const std::string& folder) {
  if (entry.value("use_pickle", false)) refuse("has '" + name + "' pickled, which is not read; make it a plain tensor");
  const Json& meta = entry["tensor_meta"];
  StoredTensor stored{folder + entry["path_name"].get<std::string>(),
                      meta["dtype"].get<int>(),
                      {},
                      {},
                      Numbers().readWhole(meta["storage_offset"], name)};
  for (const Json& size : meta["sizes"]) stored.sizes.push_back(Numbers().readWhole(size, name));
  for (const Json& stride : meta["strides"]) stored.strides.push_back(Numbers().readWhole(stride, name));
  if (stored.sizes.size() != stored.strides.size() || stored.offset < 0)
    refuse("has no layout of '" + name + "' that fits; export the model anew");
  return stored;
}

/// Says where the elements of inputs are. Parameters whose weights are one file are tied.
void findElements(const Json& weights, const Json& constants, ExportedProgram& program) {
  const Json& ofWeights = weights.contains("config") ? weights["config"] : weights;
  const Json& ofConstants = constants.contains("config") ? constants["config"] : constants;
  std::map<std::string, std::string> first;  // by file, the name of the first parameter
  for (Input& input : program.inputs) {
    if (input.kind == Input::Kind::User) continue;
    bool isWeight = input.kind == Input::Kind::Parameter || (input.kind == Input::Kind::Buffer && input.isPersistent);
    const Json& config = isWeight ? ofWeights : ofConstants;
    if (!config.contains(input.name)) refuse("has no elements of '" + input.name + "'; export the model anew");
    input.stored = readStored(config[input.name], input.name, isWeight ? "data/weights/" : "data/constants/");
    if (input.kind != Input::Kind::Parameter) continue;
    auto [known, isNew] = first.try_emplace(input.stored->file, input.name);
    if (!isNew) input.tied = known->second;
  }
}

}  // namespace

bool StoredTensor::isRowMajor() const {
  int64_t stride = 1;
  for (size_t dim = sizes.size(); dim-- > 0; stride *= sizes[dim])
    if (sizes[dim] != 1 && strides[dim] != stride) return false;
  return offset == 0;
}

llvm::Expected<ExportedProgram> mlir::sgd::torch::parseExportedProgram(const ProgramTexts& texts,
                                                                       const SizeOptions& options) {
  auto fail = [](const Twine& message) { return llvm::createStringError(llvm::inconvertibleErrorCode(), message); };
  try {
    ExportedProgram program = readProgram(Json::parse(texts.graph), options);
    findElements(Json::parse(texts.weights), Json::parse(texts.constants), program);
    return program;
  } catch (const Fault& fault) {
    return fail(fault.message);
  } catch (const std::exception& error) {
    return fail("holds no exported program of schema " + Twine(kSchema) + " (" + error.what() +
                "); export the model anew");
  }
}
