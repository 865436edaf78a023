// The field `train` of a recipe: optimizer, schedule and what is clipped.
#include "compiler/recipe/recipe.h"
#include "compiler/recipe/recipe_json.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::sgd;
using llvm::Error;
using llvm::StringRef;
using llvm::Twine;
using Json = nlohmann::ordered_json;

namespace {

/// A field that is a number of a range.
template <typename Settings, typename Number>
struct NumberField {
  StringRef name;
  Number Settings::* field;
  double least, most;
};

class TrainingReader {
 public:
  llvm::Expected<RecipeTraining> read(const Json& value) {
    if (!value.is_object()) return expected("", value, "an object, {} for plain SGD on the model's own scalar output");
    StringRef known[] = {"loss", "optimizer", "schedule", "clip_global_norm", "clip_value", "parameters"};
    if (Error error = checkFieldNames(value, "train.", known)) return std::move(error);
    for (const auto& item : value.items())
      if (Error error = readField(item.key(), item.value())) return std::move(error);
    return std::move(training);
  }

 private:
  Error readField(const std::string& name, const Json& value) {
    if (name == "loss") return readLoss(value);
    if (name == "optimizer") return readOptimizer(value);
    if (name == "schedule") return readSchedule(value);
    if (name == "parameters") return readGlobs("parameters", value, training.parameters);
    return readBound(name, value, name == "clip_value" ? training.clipValue : training.clipNorm);
  }

  Error readLoss(const Json& value) {
    if (!value.is_string() || value == "")
      return expected("loss", value, "the name of a result that is a scalar of floats");
    training.loss = value.get<std::string>();
    return Error::success();
  }

  Error readBound(StringRef name, const Json& value, std::optional<double>& bound) {
    double number = value.is_number() ? value.get<double>() : 0;
    if (!(number > 0)) return expected(name, value, "a positive number");
    bound = number;
    return Error::success();
  }

  Error readGlobs(const Twine& name, const Json& value, std::vector<std::string>& globs) {
    auto isGlob = [](const Json& glob) { return glob.is_string() && glob != ""; };
    if (!value.is_array() || !llvm::all_of(value, isGlob))
      return expected(name, value, "a list of globs on names, [\"*.bias\"]");
    for (const Json& glob : value) globs.push_back(glob.get<std::string>());
    return Error::success();
  }

  /// A kind alone, or an object with a field `kind`.
  template <typename Kind>
  llvm::Expected<Kind> readKind(StringRef name, const Json& value, std::optional<Kind> (*parse)(StringRef),
                                llvm::ArrayRef<StringRef> kinds) {
    std::string path = value.is_object() ? (name + ".kind").str() : name.str();
    Json kind = value.is_object() ? value.value("kind", Json()) : value;
    std::string text = kind.is_string() ? kind.get<std::string>() : "";
    if (std::optional<Kind> found = parse(text)) return *found;
    StringRef nearest = findNearestName(text, kinds);
    return expected(path, kind, nearest.empty() ? "one of " + llvm::join(kinds, ", ") : ("'" + nearest + "'?").str());
  }

  template <typename Settings, typename Number>
  Error readNumber(StringRef prefix, const Json& object, const NumberField<Settings, Number>& field,
                   Settings& settings) {
    auto value = object.find(field.name.str());
    if (value == object.end()) return Error::success();
    bool isWhole = std::is_integral_v<Number>;
    double number = value->is_number() ? value->template get<double>() : NAN;
    if (!(number >= field.least && number <= field.most) || (isWhole && !getInteger(*value)))
      return expected(prefix + "." + field.name, *value,
                      Twine(isWhole ? "a whole number" : "a number") + " from " + Json(field.least).dump() + " to " +
                          Json(field.most).dump());
    settings.*field.field = static_cast<Number>(number);
    return Error::success();
  }

  Error readOptimizer(const Json& value) {
    StringRef kinds[] = {"sgd", "adagrad", "adam", "adamw", "lamb", "lars", "lion"};
    llvm::Expected<OptimizerKind> kind = readKind("optimizer", value, parseOptimizer, kinds);
    if (!kind) return kind.takeError();
    OptimizerSettings& settings = training.optimizer;
    settings = getDefaults(*kind);
    if (!value.is_object()) return Error::success();
    StringRef known[] = {"kind", "learning_rate", "momentum", "nesterov", "betas",
                         "eps",  "weight_decay",  "no_decay", "trust"};
    if (Error error = checkFieldNames(value, "train.optimizer.", known)) return error;
    using Field = NumberField<OptimizerSettings, double>;
    for (const Field& field :
         {Field{"learning_rate", &OptimizerSettings::learningRate, 0, 1e6},
          Field{"momentum", &OptimizerSettings::momentum, 0, 1}, Field{"eps", &OptimizerSettings::eps, 0, 1},
          Field{"weight_decay", &OptimizerSettings::weightDecay, 0, 1e6},
          Field{"trust", &OptimizerSettings::trust, 0, 1e6}})
      if (Error error = readNumber("optimizer", value, field, settings)) return error;
    if (Error error = readBetas(value)) return error;
    if (auto nesterov = value.find("nesterov"); nesterov != value.end()) {
      if (!nesterov->is_boolean()) return expected("optimizer.nesterov", *nesterov, "true or false");
      settings.nesterov = nesterov->get<bool>();
    }
    auto globs = value.find("no_decay");
    return globs == value.end() ? Error::success() : readGlobs("optimizer.no_decay", *globs, training.noDecay);
  }

  Error readBetas(const Json& optimizer) {
    auto value = optimizer.find("betas");
    if (value == optimizer.end()) return Error::success();
    auto isBeta = [](const Json& beta) {
      return beta.is_number() && beta.get<double>() >= 0 && beta.get<double>() < 1;
    };
    if (!value->is_array() || value->size() != 2 || !llvm::all_of(*value, isBeta))
      return expected("optimizer.betas", *value, "two numbers from 0 to below 1, [0.9, 0.999]");
    training.optimizer.beta1 = (*value)[0].get<double>();
    training.optimizer.beta2 = (*value)[1].get<double>();
    return Error::success();
  }

  Error readSchedule(const Json& value) {
    StringRef kinds[] = {"constant", "linear", "cosine", "polynomial", "inverse_sqrt", "step"};
    // "linear_warmup_cosine" is "cosine" with a warm-up.
    Json plain = value;
    constexpr llvm::StringLiteral kPrefix = "linear_warmup_";
    if (value.is_object() && value.contains("kind") && value["kind"].is_string())
      if (StringRef text = value["kind"].get_ref<const std::string&>(); text.starts_with(kPrefix))
        plain["kind"] = text.drop_front(kPrefix.size()).str();
    llvm::Expected<RateScheduleKind> kind = readKind("schedule", plain, mlir::sgd::parseRateSchedule, kinds);
    if (!kind) return kind.takeError();
    RateScheduleSettings& settings = training.schedule;
    settings.kind = *kind;
    if (!value.is_object()) return checkSteps(value);
    StringRef known[] = {"kind", "warmup", "steps", "end", "power", "every", "gamma"};
    if (Error error = checkFieldNames(value, "train.schedule.", known)) return error;
    using Whole = NumberField<RateScheduleSettings, int64_t>;
    for (const Whole& field :
         {Whole{"warmup", &RateScheduleSettings::warmup, 0, 1e9}, Whole{"steps", &RateScheduleSettings::steps, 1, 1e9},
          Whole{"every", &RateScheduleSettings::every, 1, 1e9}})
      if (Error error = readNumber("schedule", value, field, settings)) return error;
    using Field = NumberField<RateScheduleSettings, double>;
    for (const Field& field :
         {Field{"end", &RateScheduleSettings::end, 0, 1}, Field{"power", &RateScheduleSettings::power, 0, 100},
          Field{"gamma", &RateScheduleSettings::gamma, 0, 1}})
      if (Error error = readNumber("schedule", value, field, settings)) return error;
    return checkSteps(value);
  }

  Error checkSteps(const Json& value) {
    const RateScheduleSettings& settings = training.schedule;
    bool ends = settings.kind == RateScheduleKind::Linear || settings.kind == RateScheduleKind::Cosine ||
                settings.kind == RateScheduleKind::Polynomial;
    if (!ends || settings.steps > settings.warmup) return Error::success();
    return expected("schedule", value, "a field 'steps', when it ends, above 'warmup'");
  }

  Error expected(const Twine& path, const Json& value, const Twine& what) {
    bool isWhole = path.isTriviallyEmpty();
    return fail("field 'train" + Twine(isWhole ? "" : ".") + path + "' is " + ShowJson(value) + "; expected " + what);
  }

  RecipeTraining training;
};

}  // namespace

llvm::Expected<RecipeTraining> mlir::sgd::readTraining(const Json& value) { return TrainingReader().read(value); }
