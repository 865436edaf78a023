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
    refuse("has a number in " + what +
           " that is not known before the model runs; expected sizes of the inputs; export "
           "the model without it");
  }
  int64_t readWhole(const Json& value, const std::string& what) const {
    if (value.is_object() && value.contains("as_int")) return value.at("as_int").get<int64_t>();
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
      if (value.contains(plain) && value.at(plain).is_number()) return value.at(plain).get<double>();
    if (value.contains("as_name")) {
      auto found = named.find(value.at("as_name").get<std::string>());
      return found == named.end() ? std::nullopt : std::optional(found->second);
    }
    if (!value.contains("as_expr")) return std::nullopt;
    return evaluateExpression(value.at("as_expr").at("expr_str").get<std::string>(), symbols);
  }

  std::map<std::string, double> named;
};

std::vector<TensorName> readNames(const Json& list) {
  std::vector<TensorName> names;
  for (const Json& one : list) {
    if (one.is_object() && one.contains("name"))
      names.push_back({one.at("name")});
    else if (one.is_object() && one.contains("as_tensor"))
      names.push_back({one.at("as_tensor").at("name")});
    else
      names.push_back({});
  }
  return names;
}

Argument readArgument(const Json& value, const std::string& what, const Numbers& known) {
  const std::string& kind = value.begin().key();
  const Json& held = value.begin().value();
  if (kind == "as_none") return std::monostate();
  if (kind == "as_tensor") return TensorName{held.at("name")};
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
  const Json& outputs = node.at("outputs");
  return !outputs.empty() && std::all_of(outputs.begin(), outputs.end(), isNumber);
}

/// Names of the tensors that a node computes; empty: None.
std::vector<std::string> readOutputs(const Json& json) {
  std::vector<std::string> outputs;
  for (const Json& output : json.at("outputs")) {
    if (output.contains("as_tensor"))
      outputs.push_back(output.at("as_tensor").at("name"));
    else if (output.contains("as_tensors"))
      for (const TensorName& name : readNames(output.at("as_tensors"))) outputs.push_back(name.name);
    else if (output.contains("as_none"))
      outputs.emplace_back();
    else
      refuse("has an output of " + json.at("target").get<std::string>() +
             " that is no tensor, which is not supported; rewrite that op");
  }
  return outputs;
}

Node readNode(const Json& json, const Numbers& known) {
  Node node;
  StringRef target = json.at("target").get_ref<const std::string&>();
  target.consume_front("torch.ops.");
  node.target = target.str();
  for (const Json& input : json.at("inputs"))
    node.arguments.emplace_back(input.at("name"), readArgument(input.at("arg"), node.target, known));
  node.outputs = readOutputs(json);
  if (json.contains("metadata")) readLocation(json.at("metadata"), node);
  return node;
}

TensorInfo readTensor(const std::string& name, const Json& tensor, const Numbers& known) {
  TensorInfo info;
  info.type = tensor.at("dtype").get<int>();
  info.requiresGrad = tensor.value("requires_grad", false);
  info.offset = known.readWhole(tensor.at("storage_offset"), "'" + name + "'");
  for (const Json& size : tensor.at("sizes")) info.sizes.push_back(known.readWhole(size, "'" + name + "'"));
  for (const Json& stride : tensor.at("strides")) info.strides.push_back(known.readWhole(stride, "'" + name + "'"));
  return info;
}

/// Names of a graph inside of another one.
struct Scope {
  std::string prefix;                         // of its own values
  std::map<std::string, std::string> inputs;  // names outside, by name inside

  std::string rename(const std::string& name) const {
    auto input = inputs.find(name);
    return name.empty() ? name : input != inputs.end() ? input->second : prefix + name;
  }
  void rename(Node& node) const {
    for (auto& [name, argument] : node.arguments) {
      if (auto* tensor = std::get_if<TensorName>(&argument)) tensor->name = rename(tensor->name);
      if (auto* list = std::get_if<std::vector<TensorName>>(&argument))
        for (TensorName& one : *list) one.name = rename(one.name);
    }
    for (std::string& output : node.outputs) output = rename(output);
  }
};

constexpr StringRef kGradientMode = "torch.ops.higher_order.wrap_with_set_grad_enabled";

/// Adds the values and nodes of a graph. Blocks of torch.no_grad() are graphs of their own, whose nodes take their
/// place; their results are detached.
void addGraph(const Json& graph, const Scope& scope, const Numbers& known, ExportedProgram& program, int depth) {
  constexpr int kMostDepth = 64;
  if (depth > kMostDepth)
    refuse("has graphs in graphs " + Twine(depth) + " deep; expected at most " + Twine(kMostDepth));
  for (const auto& [name, tensor] : graph.at("tensor_values").items())
    if (!scope.inputs.contains(name)) program.tensors[scope.rename(name)] = readTensor(name, tensor, known);
  for (const Json& json : graph.at("nodes")) {
    if (isOfSizes(json)) continue;
    if (StringRef(json.at("target").get_ref<const std::string&>()) != kGradientMode) {
      scope.rename(program.nodes.emplace_back(readNode(json, known)));
      continue;
    }
    const Json& inputs = json.at("inputs");
    const Json& held = inputs.at(1).at("arg").at("as_graph");
    const Json& inner = held.at("graph");
    Scope own{scope.prefix + held.at("name").get<std::string>() + "/", {}};
    if (inner.at("inputs").size() + 2 != inputs.size())
      refuse("has a graph whose inputs do not fit; export the model anew");
    for (size_t number = 0; number < inner.at("inputs").size(); ++number)
      own.inputs[inner.at("inputs").at(number).at("as_tensor").at("name")] =
          scope.rename(inputs.at(number + 2).at("arg").at("as_tensor").at("name"));
    addGraph(inner, own, known, program, depth + 1);
    std::vector<std::string> outputs = readOutputs(json);
    if (outputs.size() != inner.at("outputs").size())
      refuse("has a graph whose outputs do not fit; export the model anew");
    for (size_t number = 0; number < outputs.size(); ++number) {
      Node node;
      node.target = inputs.at(0).at("arg").at("as_bool").get<bool>() ? "aten.alias.default" : "aten.detach.default";
      node.arguments.emplace_back("self",
                                  TensorName{own.rename(inner.at("outputs").at(number).at("as_tensor").at("name"))});
      node.outputs.push_back(scope.rename(outputs[number]));
      if (json.contains("metadata")) readLocation(json.at("metadata"), node);
      program.nodes.push_back(std::move(node));
    }
  }
}

Input readInput(const Json& json) {
  const std::string& kind = json.begin().key();
  const Json& held = json.begin().value();
  if (kind == "parameter") return {Input::Kind::Parameter, held.at("arg").at("name"), held.at("parameter_name"), true};
  if (kind == "buffer")
    return {Input::Kind::Buffer, held.at("arg").at("name"), held.at("buffer_name"), held.value("persistent", true)};
  if (kind == "tensor_constant")
    return {Input::Kind::Constant, held.at("arg").at("name"), held.at("tensor_constant_name"), false};
  if (kind == "user_input" && held.at("arg").contains("as_tensor")) {
    std::string name = held.at("arg").at("as_tensor").at("name");
    return {Input::Kind::User, name, name, true};
  }
  refuse("has an input of the kind '" + kind +
         "' that is no tensor, which is not supported; make it a constant of the module");
}

Output readOutput(const Json& json) {
  const std::string& kind = json.begin().key();
  const Json& held = json.begin().value();
  if (kind == "buffer_mutation") return {held.at("arg").at("name"), "", held.at("buffer_name"), false};
  if (kind == "loss_output") return {held.at("arg").at("name"), "", "", true};
  if (kind == "user_output" && held.at("arg").contains("as_tensor"))
    return {held.at("arg").at("as_tensor").at("name"), "", "", false};
  refuse("has an output of the kind '" + kind + "' that is no tensor, which is not supported; return tensors alone");
}

/// Names of the leaves of a structure of results: keys of dictionaries, and nothing for positions.
void readLeafNames(const Json& spec, const std::string& path, std::vector<std::string>& names) {
  const Json& children = spec.at("children_spec");
  if (spec.at("type").is_null()) {
    names.push_back(path);
    return;
  }
  const Json& context = spec.at("context");
  Json keys =
      context.is_string() ? Json::parse(context.get<std::string>(), nullptr, /*allow_exceptions=*/false) : Json();
  bool hasKeys = keys.is_array() && keys.size() == children.size();
  for (size_t i = 0; i < children.size(); ++i) {
    std::string key = hasKeys && keys[i].is_string() ? keys[i].get<std::string>() : "";
    readLeafNames(children[i], path.empty() || key.empty() ? path + key : path + "." + key, names);
  }
}

/// Gives results their keys, where each has one of its own.
void nameOutputs(const Json& module, ExportedProgram& program) {
  const Json& calls = module.at("module_call_graph");
  if (calls.empty() || !calls[0].contains("signature") || !calls[0].at("signature").is_object()) return;
  std::string text = calls[0].at("signature").value("out_spec", "");
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
  const Json& tensors = json.at("graph_module").at("graph").at("tensor_values");
  const Json& ranges = json.at("range_constraints");
  for (const Input& input : program.inputs) {
    const Json& sizes = tensors.at(input.value).at("sizes");
    for (size_t dim = 0; dim < sizes.size(); ++dim) {
      if (!sizes[dim].contains("as_expr")) continue;
      const Json& expression = sizes[dim].at("as_expr");
      std::string symbol = getSymbol(expression.at("expr_str").get<std::string>());
      if (symbol.empty()) continue;
      auto known = std::find_if(open.begin(), open.end(), [&](const OpenSize& one) { return one.symbol == symbol; });
      if (known == open.end()) {
        OpenSize size{symbol, {}, 0, INT64_MAX, std::nullopt};
        if (ranges.contains(symbol)) {
          const Json& range = ranges.at(symbol);
          if (range.contains("min_val") && range.at("min_val").is_number())
            size.least = range.at("min_val").get<int64_t>();
          if (range.contains("max_val") && range.at("max_val").is_number())
            size.most = range.at("max_val").get<int64_t>();
        }
        if (expression.contains("hint") && expression.at("hint").is_object() &&
            expression.at("hint").contains("as_int"))
          size.sample = expression.at("hint").at("as_int").get<int64_t>();
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
    if (json.at("graph_module").at("graph").contains(values))
      known.readNamed(json.at("graph_module").at("graph").at(values));
  return known;
}

ExportedProgram readProgram(const Json& json, const SizeOptions& options) {
  int64_t major = json.at("schema_version").at("major").get<int64_t>();
  if (major != kSchema)
    refuse("has schema " + Twine(major) + " of torch.export; expected schema " + Twine(kSchema) +
           ", as PyTorch 2.15 writes it; export the model with such a version");
  const Json& module = json.at("graph_module");
  const Json& graph = module.at("graph");
  ExportedProgram program;
  for (const Json& input : module.at("signature").at("input_specs")) program.inputs.push_back(readInput(input));
  const Numbers known = readNumbers(json, program, options);
  for (const Json& output : module.at("signature").at("output_specs")) program.outputs.push_back(readOutput(output));
  nameOutputs(module, program);
  addGraph(graph, Scope(), known, program, 0);
  return program;
}

StoredTensor readStored(const Json& entry, const std::string& name, const std::string& folder) {
  if (entry.value("use_pickle", false)) refuse("has '" + name + "' pickled, which is not read; make it a plain tensor");
  const Json& meta = entry.at("tensor_meta");
  StoredTensor stored{folder + entry.at("path_name").get<std::string>(),
                      meta.at("dtype").get<int>(),
                      {},
                      {},
                      Numbers().readWhole(meta.at("storage_offset"), name)};
  for (const Json& size : meta.at("sizes")) stored.sizes.push_back(Numbers().readWhole(size, name));
  for (const Json& stride : meta.at("strides")) stored.strides.push_back(Numbers().readWhole(stride, name));
  if (stored.sizes.size() != stored.strides.size() || stored.offset < 0)
    refuse("has no layout of '" + name + "' that fits; export the model anew");
  return stored;
}

/// Says where the elements of inputs are. Parameters whose weights are one file are tied.
void findElements(const Json& weights, const Json& constants, ExportedProgram& program) {
  const Json& ofWeights = weights.contains("config") ? weights.at("config") : weights;
  const Json& ofConstants = constants.contains("config") ? constants.at("config") : constants;
  std::map<std::string, std::string> first;  // by file, the name of the first parameter
  for (Input& input : program.inputs) {
    if (input.kind == Input::Kind::User) continue;
    bool isWeight = input.kind == Input::Kind::Parameter || (input.kind == Input::Kind::Buffer && input.isPersistent);
    const Json& config = isWeight ? ofWeights : ofConstants;
    if (!config.contains(input.name)) refuse("has no elements of '" + input.name + "'; export the model anew");
    input.stored = readStored(config.at(input.name), input.name, isWeight ? "data/weights/" : "data/constants/");
    if (input.kind != Input::Kind::Parameter) continue;
    auto [known, isNew] = first.try_emplace(input.stored->file, input.name);
    if (!isNew) input.tied = known->second;
  }
}

}  // namespace

static bool areRowMajor(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
  int64_t stride = 1;
  if (sizes.size() != strides.size()) return false;
  for (size_t dim = sizes.size(); dim-- > 0; stride *= std::max<int64_t>(sizes[dim], 1))
    if (sizes[dim] != 1 && strides[dim] != stride) return false;
  return true;
}

bool TensorInfo::isRowMajor() const { return areRowMajor(sizes, strides); }
bool StoredTensor::isRowMajor() const { return offset == 0 && areRowMajor(sizes, strides); }

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
