// Numbers in and out.
#include "compiler/models/transformer.h"

#include "compiler/recipe/recipe_json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir::sgd;
using llvm::Error;
using llvm::StringRef;
using Json = nlohmann::ordered_json;

namespace {
struct Field {
  const char* name;
  int64_t Transformer::* number;
  int64_t least, most;
  bool isRequired;
};

/// Every layer is written out; sizes multiply, and their products are numbers of bytes.
constexpr int64_t kMostLayers = 4096, kMost = int64_t(1) << 20;
/// Elements of a tensor; frontends refuse larger ones.
constexpr double kMostElements = 0x1p52;

constexpr Field kFields[] = {{"layers", &Transformer::layers, 1, kMostLayers, true},
                             {"hidden", &Transformer::hidden, 1, kMost, true},
                             {"heads", &Transformer::heads, 1, kMost, true},
                             {"sequence", &Transformer::sequence, 1, kMost, true},
                             {"vocabulary", &Transformer::vocabulary, 1, kMost, true},
                             {"global_batch", &Transformer::globalBatch, 1, kMost, true},
                             {"micro_batch", &Transformer::microBatch, 1, kMost, false},
                             {"tp", &Transformer::tensor, 1, kMost, false},
                             {"pp", &Transformer::pipeline, 1, kMost, false},
                             {"dp", &Transformer::data, 1, kMost, false},
                             {"cp", &Transformer::context, 1, kMost, false},
                             {"zero", &Transformer::zero, 0, 3, false}};
constexpr const char* kTexts[] = {"kind", "schedule", "recompute", "dtype", "gradients"};

class Reader {
 public:
  Reader(const Json& json, StringRef name) : json(json), name(name) {}
  llvm::Expected<Transformer> read();

 private:
  Error fail(const llvm::Twine& what) const { return llvm::createStringError("model '" + name + "': " + what); }
  Error checkNames() const;
  Error readNumbers();
  Error readTexts();
  Error checkSizes() const;
  Error readText(const char* field, std::string& text) const;

  const Json& json;
  StringRef name;
  Transformer model;
};
}  // namespace

Error Reader::checkNames() const {
  llvm::SmallVector<StringRef> known(std::begin(kTexts), std::end(kTexts));
  for (const Field& field : kFields) known.push_back(field.name);
  if (Error error = checkFieldNames(json, "", known)) return fail(llvm::toString(std::move(error)));
  return Error::success();
}

Error Reader::readNumbers() {
  for (const Field& field : kFields) {
    auto found = json.find(field.name);
    if (found == json.end() && !field.isRequired) continue;
    if (found == json.end()) return fail(llvm::Twine("field '") + field.name + "' is missing; expected a number");
    std::optional<int64_t> number = getInteger(*found);
    if (!number || *number < field.least || *number > field.most)
      return fail(llvm::Twine("field '") + field.name + "' is " + ShowJson(*found) + "; expected a whole number from " +
                  llvm::Twine(field.least) + " to " + llvm::Twine(field.most));
    model.*field.number = *number;
  }
  return Error::success();
}

/// `text` stays where the field is missing.
Error Reader::readText(const char* field, std::string& text) const {
  auto found = json.find(field);
  if (found == json.end()) return Error::success();
  if (!found->is_string())
    return fail(llvm::Twine("field '") + field + "' is " + ShowJson(*found) + "; expected a string");
  text = found->get<std::string>();
  return Error::success();
}

Error Reader::readTexts() {
  std::string kind = "gpt", recompute = "none";
  if (Error error = readText("kind", kind)) return error;
  if (Error error = readText("recompute", recompute)) return error;
  if (Error error = readText("dtype", model.dtype)) return error;
  model.gradients = model.dtype;
  if (Error error = readText("gradients", model.gradients)) return error;
  if (kind != "gpt") return fail("field 'kind' is \"" + kind + "\"; expected \"gpt\"");
  if (!llvm::is_contained({"bf16", "f16", "f32"}, StringRef(model.dtype)))
    return fail("field 'dtype' is \"" + model.dtype + "\"; expected \"bf16\", \"f16\" or \"f32\"");
  if (model.gradients != "f32" && model.gradients != model.dtype)
    return fail("field 'gradients' is \"" + model.gradients + "\"; expected \"f32\", or the dtype, which is \"" +
                model.dtype + "\"");
  auto form = llvm::StringSwitch<std::optional<Recompute>>(recompute)
                  .Case("none", Recompute::None)
                  .Case("selective", Recompute::Selective)
                  .Case("full", Recompute::Full)
                  .Default(std::nullopt);
  if (!form) return fail("field 'recompute' is \"" + recompute + "\"; expected \"none\", \"selective\" or \"full\"");
  model.recompute = *form;
  if (auto found = json.find("schedule"); found != json.end()) {
    llvm::Expected<std::string> schedule = readSchedule(*found);
    if (!schedule) return fail(llvm::toString(schedule.takeError()));
    model.schedule = std::move(*schedule);
  }
  return Error::success();
}

Error Reader::checkSizes() const {
  auto divides = [&](const char* what, int64_t number, const char* by, int64_t divisor) -> Error {
    if (number % divisor == 0) return Error::success();
    return fail(llvm::Twine(what) + " " + llvm::Twine(number) + " is no multiple of " + by + " " +
                llvm::Twine(divisor));
  };
  if (Error error = divides("hidden", model.hidden, "heads", model.heads)) return error;
  if (Error error = divides("heads", model.heads, "tp", model.tensor)) return error;
  if (Error error = divides("sequence", model.sequence, "cp", model.context)) return error;
  if (Error error = divides("global_batch", model.globalBatch, "dp x micro_batch", model.data * model.microBatch))
    return error;
  auto b = static_cast<double>(model.globalBatch), s = static_cast<double>(model.sequence);
  double most = b * s *
                std::max({static_cast<double>(model.heads) * s, static_cast<double>(model.vocabulary),
                          4 * static_cast<double>(model.hidden)});
  if (most >= kMostElements)
    return fail(
        "scores, logits or activations have 2^52 elements or more; expected a smaller global_batch, sequence, heads, "
        "vocabulary or hidden");
  if (model.pipeline > model.layers)
    return fail("pp is " + llvm::Twine(model.pipeline) + " for " + llvm::Twine(model.layers) +
                " layers; expected at most as many stages");
  return Error::success();
}

llvm::Expected<Transformer> Reader::read() {
  if (!json.is_object()) return fail("holds " + ShowJson(json) + "; expected an object with layers, hidden and others");
  if (Error error = checkNames()) return std::move(error);
  if (Error error = readNumbers()) return std::move(error);
  if (Error error = readTexts()) return std::move(error);
  if (Error error = checkSizes()) return std::move(error);
  return std::move(model);
}

llvm::Expected<Transformer> mlir::sgd::parseTransformer(StringRef json, StringRef name) {
  llvm::Expected<Json> parsed = parseJson(json, "model");
  if (!parsed) return llvm::createStringError("model '" + name + "' is " + llvm::toString(parsed.takeError()));
  return Reader(*parsed, name).read();
}

double Transformer::getFlopsPerRank() const {
  auto ranks = static_cast<double>(tensor) * static_cast<double>(pipeline) * static_cast<double>(data) *
               static_cast<double>(context);
  auto b = static_cast<double>(globalBatch), s = static_cast<double>(sequence), l = static_cast<double>(layers);
  auto h = static_cast<double>(hidden), v = static_cast<double>(vocabulary);
  // Of each layer 12 h^2 parameters and two matmuls of scores, and three passes of the logits.
  double ofLayers = recompute == Recompute::Full ? 96 : 72;
  return (ofLayers * b * s * l * h * h * (1 + s / (6 * h)) + 6 * b * s * h * v) / ranks;
}

std::string mlir::sgd::writeRecipe(const Transformer& model) {
  Json recipe;
  recipe["mesh"]["data"] = model.data;
  if (model.context > 1) recipe["mesh"]["context"] = model.context;
  recipe["mesh"]["model"] = model.tensor;
  if (model.data > 1) recipe["batch"] = "data";
  if (model.data > 1) recipe["zero"] = model.zero;
  auto rule = [&](const char* tensor, Json sharding) {
    recipe["rules"].push_back({{"tensor", tensor}, {"sharding", std::move(sharding)}});
  };
  if (model.context > 1)
    for (const char* input : {"tokens", "labels"}) rule(input, {model.data > 1 ? Json("data") : Json(), "context"});
  // Ranks have whole sequences of their heads, which kernels of attention take; else cost decides.
  if (model.context > 1 && model.heads / model.tensor % model.context == 0) recipe["attention"] = "all_to_all";
  if (model.tensor > 1) {
    rule("state.params.*.qkv", {nullptr, nullptr, "model", nullptr});
    rule("state.params.*.output", {"model", nullptr, nullptr});
    rule("state.params.*.up", {nullptr, "model"});
    rule("state.params.*.down", {"model", nullptr});
    rule("state.params.embedding", {"model", nullptr});
  }
  if (model.pipeline > 1) {
    recipe["stages"] = model.pipeline;
    recipe["schedule"] = model.schedule;
  }
  if (model.getParts() > 1) recipe["sequential"] = {{"micro", model.getParts()}};
  if (model.getParts() > 1 && model.pipeline == 1)
    recipe["accumulate"] = {{"type", model.gradients == "f32" ? "f32" : "own"},
                            {"as", model.data > 1 && model.zero >= 2 ? "shards" : "whole"}};
  return recipe.dump();
}
