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
    StringRef known[] = {"loss",       "metrics",    "optimizer", "schedule",  "clip_global_norm",
                         "clip_value", "parameters", "ema",       "batch_norm"};
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
    if (name == "metrics") return readMetrics(value);
    if (name == "ema") return readAverage(value);
    if (name == "batch_norm") return readBatchNorm(value);
    return readBound(name, value, name == "clip_value" ? training.clipValue : training.clipNorm);
  }

  /// The name of a result, or an object with a kind.
  Error readLoss(const Json& value) {
    LossSettings& loss = training.loss;
    if (value.is_string() && value != "") {
      loss.output = value.get<std::string>();
      return Error::success();
    }
    if (!value.is_object())
      return expected("loss", value,
                      "the name of a result that is a scalar of floats, or an object with a field 'kind'");
    StringRef known[] = {"kind", "logits", "labels", "smoothing", "soft_labels", "ignore_index"};
    if (Error error = checkFieldNames(value, "train.loss.", known)) return error;
    StringRef kinds[] = {"softmax_cross_entropy", "next_token", "mse", "bce"};
    llvm::Expected<LossKind> kind = readKind("loss", value, parseLoss, kinds);
    if (!kind) return kind.takeError();
    loss.kind = *kind;
    llvm::SmallVector<StringRef> own = {"kind", "logits", "labels"};
    if (loss.kind == LossKind::SoftmaxCrossEntropy) own.append({"smoothing", "soft_labels", "ignore_index"});
    if (loss.kind == LossKind::NextToken) own.append({"smoothing", "ignore_index"});
    if (Error error = checkOwnFields("loss", value, own, value["kind"].get<std::string>())) return error;
    for (auto [name, text] : {std::pair("logits", &loss.output), std::pair("labels", &loss.labels)})
      if (auto field = value.find(name); field != value.end()) {
        if (!field->is_string() || *field == "") return expected(Twine("loss.") + name, *field, "a name");
        *text = field->get<std::string>();
      }
    using Field = NumberField<LossSettings, double>;
    using Whole = NumberField<LossSettings, int64_t>;
    if (Error error = readNumber("loss", value, Field{"smoothing", &LossSettings::smoothing, 0, 1}, loss)) return error;
    if (Error error = readNumber("loss", value, Whole{"ignore_index", &LossSettings::ignored, -1e9, 1e9}, loss))
      return error;
    return readFlag("loss", value, "soft_labels", loss.softLabels);
  }

  Error readFlag(StringRef prefix, const Json& object, StringRef name, bool& flag) {
    auto value = object.find(name.str());
    if (value == object.end()) return Error::success();
    if (!value->is_boolean()) return expected(prefix + "." + name, *value, "true or false");
    flag = value->get<bool>();
    return Error::success();
  }

  Error readMetrics(const Json& value) {
    if (!value.is_array()) return expected("metrics", value, "a list, [\"accuracy\"]");
    StringRef kinds[] = {"accuracy", "perplexity"};
    for (const Json& name : value) {
      llvm::Expected<MetricKind> kind = readKind("metrics", name, parseMetric, kinds);
      if (!kind) return kind.takeError();
      training.metrics.push_back(*kind);
    }
    return Error::success();
  }

  Error readAverage(const Json& value) {
    double number = value.is_number() ? value.get<double>() : -1;
    if (!(number >= 0 && number < 1)) return expected("ema", value, "a decay from 0 to below 1, 0.999");
    training.average = number;
    return Error::success();
  }

  /// "global", "per_rank", or an object with one of these as its kind and scopes.
  Error readBatchNorm(const Json& value) {
    Json kind = value.is_object() ? value.value("kind", Json()) : value;
    if (kind != "global" && kind != "per_rank")
      return expected(value.is_object() ? "batch_norm.kind" : "batch_norm", kind,
                      "\"global\" for statistics of the whole batch, or \"per_rank\" for those of each rank's rows");
    training.batchNorm.isPerRank = kind == "per_rank";
    if (!value.is_object()) return Error::success();
    StringRef known[] = {"kind", "scopes"};
    if (Error error = checkFieldNames(value, "train.batch_norm.", known)) return error;
    auto scopes = value.find("scopes");
    if (scopes == value.end()) return Error::success();
    if (kind == "global") return expected("batch_norm.scopes", *scopes, "no scopes where the kind is \"global\"");
    return readGlobs("batch_norm.scopes", *scopes, training.batchNorm.scopes);
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
      return expected(name, value, "a list of globs, [\"*.bias\"]");
    for (const Json& glob : value) globs.push_back(glob.get<std::string>());
    return Error::success();
  }

  /// A kind alone, or an object with a field `kind`.
  template <typename Kind>
  llvm::Expected<Kind> readKind(const std::string& name, const Json& value, std::optional<Kind> (*parse)(StringRef),
                                llvm::ArrayRef<StringRef> kinds) {
    std::string path = value.is_object() ? name + ".kind" : name;
    Json kind = value.is_object() ? value.value("kind", Json()) : value;
    std::string text = kind.is_string() ? kind.get<std::string>() : "";
    if (std::optional<Kind> found = parse(text)) return *found;
    StringRef nearest = findNearestName(text, kinds);
    std::string hint = nearest.empty() ? "" : ("; did you mean \"" + nearest + "\"?").str();
    return expected(path, kind, "one of " + llvm::join(kinds, ", ") + hint);
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

  static llvm::ArrayRef<StringRef> getOptimizerKinds() {
    static const StringRef kinds[] = {"sgd", "adagrad", "adafactor", "adam", "adamw", "lamb", "lars", "lion", "muon"};
    return kinds;
  }

  Error readOptimizer(const Json& value) {
    llvm::Expected<OptimizerKind> kind = readKind("optimizer", value, parseOptimizer, getOptimizerKinds());
    if (!kind) return kind.takeError();
    OptimizerSettings& settings = training.optimizer;
    settings = getDefaults(*kind);
    if (!value.is_object()) return Error::success();
    if (Error error = readRates("optimizer", value, {"no_decay", "groups"}, settings)) return error;
    if (auto globs = value.find("no_decay"); globs != value.end())
      if (Error error = readGlobs("optimizer.no_decay", *globs, training.noDecay)) return error;
    auto groups = value.find("groups");
    return groups == value.end() ? Error::success() : readGroups(*groups);
  }

  /// Each group has the optimizer's fields where it has no own ones, or the defaults of a kind of its own.
  Error readGroups(const Json& value) {
    if (!value.is_array())
      return expected("optimizer.groups", value,
                      "a list of objects, [{\"match\": [\"*.bias\"], \"learning_rate\": 0.1}]");
    for (const auto& [index, group] : llvm::enumerate(value)) {
      std::string path = "optimizer.groups[" + std::to_string(index) + "]";
      auto globs = group.is_object() ? group.find("match") : group.end();
      if (!group.is_object() || globs == group.end())
        return expected(path, group, "an object with a field 'match', a list of globs on names of parameters");
      RecipeParameterGroup read{{}, training.optimizer};
      if (Error error = readGlobs(path + ".match", *globs, read.globs)) return error;
      if (group.contains("kind")) {
        llvm::Expected<OptimizerKind> kind = readKind(path, group, parseOptimizer, getOptimizerKinds());
        if (!kind) return kind.takeError();
        if (*kind != read.optimizer.kind) {
          double rate = read.optimizer.learningRate;
          read.optimizer = getDefaults(*kind);
          read.optimizer.learningRate = rate;
        }
      }
      if (Error error = readRates(path, group, {"match"}, read.optimizer)) return error;
      training.groups.push_back(std::move(read));
    }
    return Error::success();
  }

  /// The fields of a kind beside `learning_rate` and `weight_decay`, which all have.
  static llvm::ArrayRef<StringRef> getOwnFields(OptimizerKind kind) {
    static const StringRef sgd[] = {"momentum", "nesterov"}, adagrad[] = {"eps"}, lion[] = {"betas"};
    static const StringRef adafactor[] = {"beta2_decay", "eps", "min_scale", "clip_threshold"};
    static const StringRef adam[] = {"betas", "eps"}, lars[] = {"momentum", "nesterov", "trust", "eps"};
    static const StringRef muon[] = {"momentum", "nesterov", "match_rms_adamw", "betas", "eps"};
    switch (kind) {
      case OptimizerKind::Sgd:
        return sgd;
      case OptimizerKind::Adagrad:
        return adagrad;
      case OptimizerKind::Adafactor:
        return adafactor;
      case OptimizerKind::Adam:
      case OptimizerKind::AdamW:
      case OptimizerKind::Lamb:
        return adam;
      case OptimizerKind::Lars:
        return lars;
      case OptimizerKind::Lion:
        return lion;
      case OptimizerKind::Muon:
        return muon;
    }
    llvm_unreachable("all kinds are handled");
  }

  /// Refuses fields that `kind`, of the object, does not read.
  Error checkOwnFields(const Twine& path, const Json& value, llvm::ArrayRef<StringRef> own, const Twine& kind) {
    for (const auto& [name, field] : value.items())
      if (!llvm::is_contained(own, StringRef(name)))
        return fail("field 'train." + path + "." + name + "' has no meaning for '" + kind + "', whose fields are " +
                    llvm::join(own, ", ") + "; correct the kind, or leave the field out");
    return Error::success();
  }

  /// The fields of an optimizer; `further` are read by the caller.
  Error readRates(StringRef path, const Json& value, std::initializer_list<StringRef> further,
                  OptimizerSettings& settings) {
    llvm::SmallVector<StringRef> known = {"kind",        "learning_rate", "momentum",       "nesterov",
                                          "betas",       "eps",           "trust",          "weight_decay",
                                          "beta2_decay", "min_scale",     "clip_threshold", "match_rms_adamw"};
    known.append(further);
    if (Error error = checkFieldNames(value, ("train." + path + ".").str(), known)) return error;
    llvm::SmallVector<StringRef> own = {"kind", "learning_rate", "weight_decay"};
    own.append(further);
    llvm::append_range(own, getOwnFields(settings.kind));
    if (Error error = checkOwnFields(path, value, own, getName(settings.kind))) return error;
    using Field = NumberField<OptimizerSettings, double>;
    for (const Field& field :
         {Field{"learning_rate", &OptimizerSettings::learningRate, 0, 1e6},
          Field{"momentum", &OptimizerSettings::momentum, 0, 1}, Field{"eps", &OptimizerSettings::eps, 0, 1},
          Field{"weight_decay", &OptimizerSettings::weightDecay, 0, 1e6},
          Field{"trust", &OptimizerSettings::trust, 0, 1e6},
          Field{"beta2_decay", &OptimizerSettings::beta2Decay, -10, 0},
          Field{"min_scale", &OptimizerSettings::leastScale, 0, 1e6},
          Field{"clip_threshold", &OptimizerSettings::clipping, 1e-6, 1e6}})
      if (Error error = readNumber(path, value, field, settings)) return error;
    if (Error error = readBetas(path, value, settings)) return error;
    if (Error error = readFlag(path, value, "match_rms_adamw", settings.matchesAdamW)) return error;
    if (Error error = readFlag(path, value, "nesterov", settings.nesterov)) return error;
    if (!value.contains("nesterov") || !settings.nesterov || settings.momentum > 0) return Error::success();
    return expected(path + ".nesterov", true, "a 'momentum' above 0 beside it, or false");
  }

  Error readBetas(StringRef path, const Json& optimizer, OptimizerSettings& settings) {
    auto value = optimizer.find("betas");
    if (value == optimizer.end()) return Error::success();
    auto isBeta = [](const Json& beta) {
      return beta.is_number() && beta.get<double>() >= 0 && beta.get<double>() < 1;
    };
    if (!value->is_array() || value->size() != 2 || !llvm::all_of(*value, isBeta))
      return expected(path + ".betas", *value, "two numbers from 0 to below 1, [0.9, 0.999]");
    settings.beta1 = (*value)[0].get<double>();
    settings.beta2 = (*value)[1].get<double>();
    return Error::success();
  }

  /// The fields of a schedule beside `warmup`, which all have.
  static llvm::ArrayRef<StringRef> getOwnFields(RateScheduleKind kind) {
    static const StringRef ends[] = {"steps", "end"}, polynomial[] = {"steps", "end", "power"};
    static const StringRef step[] = {"every", "gamma"}, cycle[] = {"steps", "start", "end"};
    switch (kind) {
      case RateScheduleKind::Constant:
      case RateScheduleKind::InverseRoot:
        return {};
      case RateScheduleKind::Linear:
      case RateScheduleKind::Cosine:
        return ends;
      case RateScheduleKind::Polynomial:
        return polynomial;
      case RateScheduleKind::Step:
        return step;
      case RateScheduleKind::OneCycle:
        return cycle;
    }
    llvm_unreachable("all kinds are handled");
  }

  Error readSchedule(const Json& value) {
    StringRef kinds[] = {"constant", "linear", "cosine", "polynomial", "inverse_sqrt", "step", "one_cycle"};
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
    StringRef known[] = {"kind", "warmup", "steps", "start", "end", "power", "every", "gamma"};
    constexpr double kCycleEnd = 4e-6;  // PyTorch's
    llvm::SmallVector<StringRef> own = {"kind", "warmup"};
    llvm::append_range(own, getOwnFields(settings.kind));
    if (settings.kind == RateScheduleKind::OneCycle) settings.end = kCycleEnd;
    if (Error error = checkFieldNames(value, "train.schedule.", known)) return error;
    if (Error error = checkOwnFields("schedule", value, own, value["kind"].get<std::string>())) return error;
    using Whole = NumberField<RateScheduleSettings, int64_t>;
    for (const Whole& field :
         {Whole{"warmup", &RateScheduleSettings::warmup, 0, 1e9}, Whole{"steps", &RateScheduleSettings::steps, 1, 1e9},
          Whole{"every", &RateScheduleSettings::every, 1, 1e9}})
      if (Error error = readNumber("schedule", value, field, settings)) return error;
    using Field = NumberField<RateScheduleSettings, double>;
    for (const Field& field :
         {Field{"start", &RateScheduleSettings::start, 0, 1}, Field{"end", &RateScheduleSettings::end, 0, 1},
          Field{"power", &RateScheduleSettings::power, 0, 100}, Field{"gamma", &RateScheduleSettings::gamma, 0, 1}})
      if (Error error = readNumber("schedule", value, field, settings)) return error;
    return checkSteps(value);
  }

  Error checkSteps(const Json& value) {
    const RateScheduleSettings& settings = training.schedule;
    bool ends = settings.kind == RateScheduleKind::Linear || settings.kind == RateScheduleKind::Cosine ||
                settings.kind == RateScheduleKind::Polynomial || settings.kind == RateScheduleKind::OneCycle;
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
