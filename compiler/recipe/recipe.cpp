// Reading a recipe from JSON. Every field is checked: the file is written by hand.
#include "compiler/recipe/recipe.h"

#include "compiler/recipe/recipe_json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "runtime/text/nearest_name.h"

using namespace mlir::sgd;
using llvm::ArrayRef;
using llvm::Error;
using llvm::StringRef;
using llvm::Twine;
using Json = nlohmann::ordered_json;

StringRef mlir::sgd::findNearestName(StringRef name, ArrayRef<StringRef> names) {
  return ::sgd::text::NearestName(name, std::vector<std::string_view>(names.begin(), names.end()));
}

namespace {

std::string getString(const Json& value) { return value.get<std::string>(); }

/// Reads one recipe; each method reads one field, named by its path in errors.
class Reader {
 public:
  explicit Reader(StringRef fileName) { recipe.fileName = fileName.str(); }

  llvm::Expected<Recipe> read(StringRef text) {
    llvm::Expected<Json> value = parseJson(text, "recipe");
    if (!value) return value.takeError();
    if (!value->is_object())
      return fail("holds " + ShowJson(*value) + "; expected an object with the fields of a recipe");
    if (value->contains("device") && value->contains("links"))
      return fail("is a topology; expected a recipe; give the file to --topology");
    if (Error error = readFields(*value)) return std::move(error);
    if (Error error = checkUse()) return std::move(error);
    return std::move(recipe);
  }

 private:
  using FieldReader = Error (Reader::*)(const Json&);
  struct Field {
    StringRef name;
    FieldReader read;
  };

  static ArrayRef<Field> getFields() {
    static constexpr Field fields[] = {{"annotations", &Reader::readAnnotations},
                                       {"mesh", &Reader::readMesh},
                                       {"sequential", &Reader::readSequential},
                                       {"stages", &Reader::readStageList},
                                       {"schedule", &Reader::readScheduleName},
                                       {"batch", &Reader::readBatch},
                                       {"replicate", &Reader::readReplicate},
                                       {"rules", &Reader::readRules},
                                       {"zero", &Reader::readZero},
                                       {"compress", &Reader::readCompress},
                                       {"attention", &Reader::readAttention},
                                       {"memory_limit", &Reader::readMemoryLimit},
                                       {"offload", &Reader::readOffload},
                                       {"bucket_size_mb", &Reader::readBucketSize},
                                       {"accumulate", &Reader::readAccumulate},
                                       {"loss", &Reader::readLoss},
                                       {"train", &Reader::readTrain},
                                       {"precision", &Reader::readTypes},
                                       {"expect", &Reader::readExpect},
                                       {"$schema", &Reader::readSchema}};
    return fields;
  }

  Error readFields(const Json& object) {
    llvm::SmallVector<StringRef> names;
    for (const Field& field : getFields()) names.push_back(field.name);
    if (Error error = checkFieldNames(object, "", names)) return error;
    for (const Field& field : getFields())
      if (auto value = object.find(field.name.str()); value != object.end())
        if (Error error = (this->*field.read)(*value)) return error;
    return Error::success();
  }

  Error readAnnotations(const Json& value) {
    if (value != "keep" && value != "ignore") return expected("annotations", value, "\"keep\" or \"ignore\"");
    recipe.keepsAnnotations = value == "keep";
    return Error::success();
  }

  Error readMesh(const Json& value) {
    if (!value.is_object() || value.empty())
      return expected("mesh", value, "an object with the size of each axis, {\"data\": 4}");
    for (const auto& [name, size] : value.items()) {
      std::optional<int64_t> number = getInteger(size);
      if (!number || *number < 1) return expected("mesh." + Twine(name), size, "a positive whole number");
      recipe.mesh.push_back({name, *number});
    }
    return Error::success();
  }

  Error readSequential(const Json& value) {
    if (!value.is_object() || value.size() != 1)
      return expected("sequential", value, "an object with one axis and its size, {\"micro\": 8}");
    std::string name = value.begin().key();
    std::optional<int64_t> size = getInteger(value.begin().value());
    if (!size || *size < 1 || *size > kMostParts)
      return expected("sequential." + name, value.begin().value(),
                      "a whole number from 1 to " + std::to_string(kMostParts));
    recipe.sequential = MeshAxisSize{name, *size};
    return Error::success();
  }

  Error readStageList(const Json& value) {
    llvm::Expected<RecipeStages> stages = readStages(value);
    if (!stages) return stages.takeError();
    recipe.stages = std::move(*stages);
    return Error::success();
  }

  Error readScheduleName(const Json& value) {
    llvm::Expected<std::string> schedule = readSchedule(value);
    if (!schedule) return schedule.takeError();
    recipe.schedule = std::move(*schedule);
    return Error::success();
  }

  Error readBatch(const Json& value) { return readAxes("batch", value, recipe.batch); }

  Error readReplicate(const Json& value) {
    if (!value.is_array() || value.empty())
      return expected("replicate", value, "a list of globs, [\"params.embed.*\"]");
    for (auto [index, entry] : llvm::enumerate(value)) {
      RecipeRule rule{.path = ("replicate[" + Twine(index) + "]").str(), .kind = RecipeRule::Kind::Replicate};
      if (Error error = readGlob(rule.path, entry, rule.tensor)) return error;
      recipe.rules.push_back(std::move(rule));
    }
    return Error::success();
  }

  Error readRules(const Json& value) {
    if (!value.is_array()) return expected("rules", value, "a list of rules");
    for (auto [index, rule] : llvm::enumerate(value))
      if (Error error = readRule(("rules[" + Twine(index) + "]").str(), rule)) return error;
    return Error::success();
  }

  Error readRule(const std::string& path, const Json& value) {
    if (!value.is_object())
      return expected(path, value, "an object such as {\"tensor\": \"*.kernel\", \"sharding\": [null, \"model\"]}");
    if (Error error = checkFieldNames(value, path + ".", {"tensor", "scope", "sharding", "batch"})) return error;
    auto tensor = value.find("tensor"), scope = value.find("scope"), dims = value.find("sharding"),
         batch = value.find("batch"), none = value.end();
    if ((tensor == none) == (scope == none))
      return fail("field '" + path + "' needs one of 'tensor' and 'scope', a glob");
    if (batch != none && (dims != none || tensor == none))
      return fail("field '" + path +
                  ".batch' names the dimension that holds the rows of an input; expected it beside 'tensor' alone");
    if (dims == none && batch == none)
      return fail("field '" + path + ".sharding' is missing; expected a list with an entry for each dimension");
    RecipeRule rule{.path = path};
    if (Error error = tensor != none ? readGlob(path + ".tensor", *tensor, rule.tensor)
                                     : readGlob(path + ".scope", *scope, rule.scope))
      return error;
    if (Error error =
            batch != none ? readBatchDim(path + ".batch", *batch, rule) : readDims(path + ".sharding", *dims, rule))
      return error;
    recipe.rules.push_back(std::move(rule));
    return Error::success();
  }

  Error readBatchDim(const Twine& path, const Json& value, RecipeRule& rule) {
    rule.kind = RecipeRule::Kind::Batch;
    if (value.is_null()) return Error::success();
    rule.batchDim = getInteger(value);
    if (!rule.batchDim || *rule.batchDim < 0)
      return expected(path, value, "the number of a dimension, or null for an input without rows");
    return Error::success();
  }

  Error readDims(const Twine& path, const Json& value, RecipeRule& rule) {
    if (!value.is_array()) return expected(path, value, "a list with an entry for each dimension");
    for (auto [index, entry] : llvm::enumerate(value)) {
      RecipeDim dim;
      if (entry == "?")
        dim.isOpen = true;
      else if (!entry.is_null())
        if (Error error = readAxes((path + "[" + Twine(index) + "]").str(), entry, dim.axes)) return error;
      rule.dims.push_back(std::move(dim));
    }
    return Error::success();
  }

  Error readGlob(const Twine& path, const Json& value, std::string& glob) {
    if (!value.is_string() || value == "") return expected(path, value, "a glob, a string that is not empty");
    glob = getString(value);
    return Error::success();
  }

  Error readAxes(const Twine& path, const Json& value, std::vector<std::string>& axes) {
    constexpr llvm::StringLiteral kWhat = "an axis of the mesh or a list of axes, each once";
    auto isAxis = [](const Json& entry) { return entry.is_string() && entry != "" && entry != "?"; };
    if (isAxis(value)) {
      axes.push_back(getString(value));
      return Error::success();
    }
    if (!value.is_array() || value.empty()) return expected(path, value, kWhat);
    for (const Json& entry : value) {
      if (!isAxis(entry) || llvm::is_contained(axes, getString(entry))) return expected(path, value, kWhat);
      axes.push_back(getString(entry));
    }
    return Error::success();
  }

  Error readZero(const Json& value) {
    std::optional<int64_t> stage = getInteger(value);
    if (!stage || *stage < 0 || *stage > 3) return expected("zero", value, "0, 1, 2 or 3");
    recipe.zero = static_cast<int>(*stage);
    return Error::success();
  }

  Error readCompress(const Json& value) {
    if (!value.is_object() || value.empty())
      return expected("compress", value, "an object with a kind for each axis, {\"data\": \"bf16\"}");
    for (const auto& [axis, how] : value.items()) {
      llvm::Expected<CompressionSetting> setting = readCompression("compress." + axis, how);
      if (!setting) return setting.takeError();
      recipe.compress.push_back({axis, *setting});
    }
    return Error::success();
  }

  Error readAttention(const Json& value) {
    recipe.attention = value.is_string() ? parseContextForm(getString(value)) : std::nullopt;
    if (!recipe.attention)
      return expected("attention", value, "\"ring\", \"striped_ring\", \"all_to_all\" or \"gathered\"");
    return Error::success();
  }

  Error readMemoryLimit(const Json& value) {
    if (!value.is_string()) return expected("memory_limit", value, "a string such as \"16GiB\"");
    llvm::Expected<uint64_t> bytes = parseByteSize(getString(value));
    if (!bytes) return fail("field 'memory_limit': " + llvm::toString(bytes.takeError()));
    recipe.memoryLimit = *bytes;
    return Error::success();
  }

  Error readLoss(const Json& value) {
    if (!value.is_string() || value == "") return expected("loss", value, "the name of a result, \"result[1].loss\"");
    recipe.loss = getString(value);
    return Error::success();
  }

  Error readOffload(const Json& value) {
    constexpr StringRef kKinds[] = {"auto", "never", "states", "activations"};
    std::string kind = value.is_string() ? getString(value) : std::string();
    if (!llvm::is_contained(kKinds, kind)) {
      StringRef nearest = findNearestName(kind, kKinds);
      return expected("offload", value,
                      "\"auto\", \"never\", \"states\" or \"activations\"" +
                          (nearest.empty() ? std::string() : "; did you mean \"" + nearest.str() + "\"?"));
    }
    if (kind != "auto") recipe.offload = kind;
    return Error::success();
  }

  Error readBucketSize(const Json& value) {
    double megabytes = value.is_number() ? value.get<double>() : 0;
    if (!(megabytes >= 1e-6 && megabytes <= 1e9))
      return expected("bucket_size_mb", value, "a positive number of megabytes");
    recipe.bucketBytes = static_cast<uint64_t>(megabytes * 1e6);
    return Error::success();
  }

  Error readTrain(const Json& value) {
    llvm::Expected<RecipeTraining> training = readTraining(value);
    if (!training) return training.takeError();
    recipe.train = std::move(*training);
    recipe.train->text = value.dump();
    return Error::success();
  }

  Error readTypes(const Json& value) {
    llvm::Expected<RecipePrecision> precision = readPrecision(value);
    if (!precision) return precision.takeError();
    recipe.precision = std::move(*precision);
    recipe.precision.text = value.dump();
    hasPrecision = true;
    return Error::success();
  }

  Error readExpect(const Json& value) {
    llvm::Expected<std::vector<Expectation>> expectations = readExpectations(value);
    if (!expectations) return expectations.takeError();
    recipe.expectations = std::move(*expectations);
    return Error::success();
  }

  /// Names the schema for editors, docs/schemas/recipe.schema.json; the parser does not read it.
  Error readSchema(const Json& value) {
    return value.is_string() ? Error::success() : expected("$schema", value, "the address of a schema, a string");
  }

  /// How gradients are summed up over the parts of a batch.
  Error readAccumulate(const Json& value) {
    if (!value.is_object()) return expected("accumulate", value, "an object such as {\"as\": \"shards\"}");
    for (const auto& item : value.items()) {
      std::string text = item.value().is_string() ? getString(item.value()) : std::string();
      std::string path = "accumulate." + item.key();
      if (item.key() == "type") {
        if (text != "f32" && text != "own") return expected(path, item.value(), "\"f32\" or \"own\"");
        recipe.sumsInOwnType = text == "own";
      } else if (item.key() == "as") {
        if (text != "whole" && text != "shards") return expected(path, item.value(), "\"whole\" or \"shards\"");
        recipe.exchangesInLoops = text == "shards";
      } else {
        return fail("field '" + path + "' is unknown; expected 'type' or 'as'");
      }
    }
    return Error::success();
  }

  Error checkUse() {
    if (hasPrecision && !recipe.train)
      return fail(
          "field 'precision' gives types to the programs that a field 'train' makes; expected one as well; a "
          "train step of its own has its types in its text");
    if ((recipe.sumsInOwnType || recipe.exchangesInLoops) && !recipe.sequential)
      return fail("field 'accumulate' is about sums over parts of a batch; expected a field 'sequential' as well");
    if ((recipe.sumsInOwnType || recipe.exchangesInLoops) && recipe.stages)
      return fail("field 'accumulate' is there, and 'stages'; expected one of them: stages add up whole sums in f32");
    if (recipe.zero > 0 && recipe.batch.empty())
      return fail("field 'zero' shards over the axes of the batch; expected a field 'batch' as well");
    if (!recipe.schedule.empty() && !recipe.stages)
      return fail("field 'schedule' orders what stages do; expected a field 'stages' as well");
    return Error::success();
  }

  Error expected(const Twine& path, const Json& value, const Twine& what) {
    return fail("field '" + path + "' is " + ShowJson(value) + "; expected " + what);
  }

  bool hasPrecision = false;
  Recipe recipe;
};

}  // namespace

llvm::Expected<Recipe> mlir::sgd::parseRecipe(StringRef json, StringRef fileName) {
  return Reader(fileName).read(json);
}
