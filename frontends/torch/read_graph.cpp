// Names in graphs inside of others get a prefix, so that they are unique in the program.
#include "frontends/torch/read_graph.h"

#include <algorithm>
#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace mlir::sgd::torch;
using llvm::StringRef;
using llvm::Twine;

void mlir::sgd::torch::refuse(const Twine& message) { throw Fault{message.str()}; }

Numbers Numbers::withNamed(const Json& graph) const {
  Numbers own = *this;
  for (const char* values : {"sym_int_values", "sym_float_values", "sym_bool_values"})
    if (graph.contains(values))
      for (const auto& [name, value] : graph.at(values).items())
        if (std::optional<double> number = own.evaluate(value)) own.named[name] = *number;
  return own;
}

std::optional<int64_t> Numbers::readKnown(const Json& value) const {
  std::optional<double> number = evaluate(value);
  return number && std::fabs(*number) < 0x1p53 ? std::optional(static_cast<int64_t>(*number)) : std::nullopt;
}

double Numbers::read(const Json& value, const std::string& what) const {
  if (std::optional<double> number = evaluate(value)) return *number;
  refuse("has a number in " + what +
         " that is not known before the model runs; expected sizes of the inputs; export "
         "the model without it");
}

int64_t Numbers::readWhole(const Json& value, const std::string& what) const {
  if (value.is_object() && value.contains("as_int")) return value.at("as_int").get<int64_t>();
  if (value.is_number_integer()) return value.get<int64_t>();
  double number = read(value, what);
  if (!(std::fabs(number) < 0x1p53) || number != std::floor(number))
    refuse("has a size of " + std::to_string(number) + " in " + what + "; expected a whole number; bind other sizes");
  return static_cast<int64_t>(number);
}

std::optional<double> Numbers::evaluate(const Json& value) const {
  if (value.is_number()) return value.get<double>();
  if (!value.is_object()) return std::nullopt;
  for (const char* plain : {"as_int", "as_float"})
    if (value.contains(plain) && value.at(plain).is_number()) return value.at(plain).get<double>();
  if (value.contains("as_bool")) return value.at("as_bool").get<bool>();
  if (value.contains("as_name")) {
    auto found = named.find(value.at("as_name").get<std::string>());
    return found == named.end() ? std::nullopt : std::optional(found->second);
  }
  if (!value.contains("as_expr")) return std::nullopt;
  return evaluateExpression(value.at("as_expr").at("expr_str").get<std::string>(), symbols);
}

namespace {

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
  if (kind == "as_sym_bool") {
    std::optional<int64_t> boolean = known.readKnown(held);
    return boolean ? Argument(*boolean != 0) : Argument(std::monostate());
  }
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
    bool isLibrary = file.contains("torch/nn/") || file.contains("torch/_") || file.starts_with("<");
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
  info.offset = known.readKnown(tensor.at("storage_offset"));
  auto read = [&](const Json& numbers, std::vector<int64_t>& values) {
    for (const Json& number : numbers) {
      bool isKnown = known.readKnown(number).has_value();
      info.isKnown &= isKnown;
      values.push_back(isKnown ? known.readWhole(number, "'" + name + "'") : 0);
    }
  };
  read(tensor.at("sizes"), info.sizes);
  read(tensor.at("strides"), info.strides);
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
constexpr int kMostDepth = 64;

/// A branch or loop, and the names of its arguments in their order; empty: a graph.
struct ControlFlow {
  StringRef target;
  std::initializer_list<StringRef> arguments;
};
constexpr ControlFlow kControlFlow[] = {
    {"torch.ops.higher_order.cond", {"predicate", "", "", "operands"}},
    {"torch.ops.higher_order.while_loop", {"", "", "carried", "invariants"}},
    {"torch.ops.higher_order.scan", {"", "carried", "rows", "invariants"}},
    {"torch.ops.higher_order.map_impl", {"", "rows", "invariants"}},
};

/// Reads the nodes of graphs, and those of graphs inside.
class GraphReader {
 public:
  explicit GraphReader(ExportedProgram& program) : program(program) {}

  /// Adds the values of a graph to the program, and its nodes to `nodes`. Blocks of torch.no_grad() are graphs of their
  /// own, whose nodes take their place; their results are detached.
  void read(const Json& graph, const Scope& scope, const Numbers& known, std::vector<Node>& nodes, int depth) {
    if (depth > kMostDepth)
      refuse("has graphs in graphs " + Twine(depth) + " deep; expected at most " + Twine(kMostDepth));
    for (const auto& [name, tensor] : graph.at("tensor_values").items())
      if (!scope.inputs.contains(name)) program.tensors[scope.rename(name)] = readTensor(name, tensor, known);
    for (const Json& json : graph.at("nodes")) {
      if (isOfSizes(json)) continue;
      StringRef target = json.at("target").get_ref<const std::string&>();
      const auto* control = std::find_if(std::begin(kControlFlow), std::end(kControlFlow),
                                         [&](const ControlFlow& one) { return one.target == target; });
      if (target == "torch.ops.higher_order.wrap_with_autocast")
        refuse("computes under torch.autocast, which is not supported; leave it out, and give the recipe a precision");
      if (target == kGradientMode)
        readGradientMode(json, scope, known, nodes, depth);
      else if (control != std::end(kControlFlow))
        nodes.push_back(readControlFlow(json, control->arguments, scope, known, depth));
      else
        scope.rename(nodes.emplace_back(readNode(json, known)));
    }
  }

 private:
  void readGradientMode(const Json& json, const Scope& scope, const Numbers& known, std::vector<Node>& nodes,
                        int depth) {
    const Json& inputs = json.at("inputs");
    const Json& held = inputs.at(1).at("arg").at("as_graph");
    const Json& inner = held.at("graph");
    Scope own{scope.prefix + held.at("name").get<std::string>() + "/", {}};
    if (inner.at("inputs").size() + 2 != inputs.size())
      refuse("has a graph whose inputs do not fit; export the model anew");
    for (size_t number = 0; number < inner.at("inputs").size(); ++number)
      own.inputs[inner.at("inputs").at(number).at("as_tensor").at("name")] =
          scope.rename(inputs.at(number + 2).at("arg").at("as_tensor").at("name"));
    read(inner, own, known.withNamed(inner), nodes, depth + 1);
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
      nodes.push_back(std::move(node));
    }
  }

  Node readControlFlow(const Json& json, llvm::ArrayRef<StringRef> names, const Scope& scope, const Numbers& known,
                       int depth) {
    Node node;
    StringRef target = json.at("target").get_ref<const std::string&>();
    target.consume_front("torch.ops.");
    node.target = target.str();
    if (json.at("inputs").size() != names.size())
      refuse("has " + Twine(json.at("inputs").size()) + " arguments of '" + target + "'; expected " +
             Twine(names.size()) + "; export the model anew");
    for (auto [name, input] : llvm::zip(names, json.at("inputs"))) {
      const Json& argument = input.at("arg");
      if (name.empty())
        node.graphs.push_back(readGraph(argument.at("as_graph"), scope, known, depth));
      else
        node.arguments.emplace_back(name.str(), readArgument(argument, node.target, known));
    }
    node.outputs = readOutputs(json);
    scope.rename(node);
    if (json.contains("metadata")) readLocation(json.at("metadata"), node);
    return node;
  }

  Graph readGraph(const Json& held, const Scope& scope, const Numbers& known, int depth) {
    const Json& inner = held.at("graph");
    Scope own{scope.prefix + held.at("name").get<std::string>() + "/", {}};
    Graph graph;
    auto readTensorNames = [&](const char* key) {
      std::vector<std::string> names;
      for (const TensorName& one : readNames(inner.at(key))) names.push_back(own.rename(one.name));
      return names;
    };
    graph.inputs = readTensorNames("inputs");
    graph.outputs = readTensorNames("outputs");
    read(inner, own, known.withNamed(inner), graph.nodes, depth + 1);
    return graph;
  }

  ExportedProgram& program;
};

}  // namespace

void mlir::sgd::torch::readGraph(const Json& graph, const Numbers& known, ExportedProgram& program) {
  GraphReader(program).read(graph, Scope(), known, program.nodes, 0);
}
