// The schema is that of torch/_export/serde/schema.py.
#include "frontends/torch/exported_program.h"

#include <algorithm>
#include <set>

#include "frontends/torch/read_graph.h"

using namespace mlir::sgd::torch;
using llvm::StringRef;
using llvm::Twine;

namespace {

constexpr int64_t kSchema = 8;

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
  return known.withNamed(json.at("graph_module").at("graph"));
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
  readGraph(graph, known, program);
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

const Argument* Node::find(StringRef name) const {
  for (const auto& [own, argument] : arguments)
    if (own == name) return &argument;
  return nullptr;
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
