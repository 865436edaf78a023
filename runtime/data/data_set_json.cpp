// Field by field, from a table of those there are.
#include "runtime/data/data_set_json.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/json/parse_json.h"

namespace sgd::data {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kMostSteps = uint64_t{1} << 53;
constexpr uint64_t kMostSequence = uint64_t{1} << 31;
constexpr double kMostWeight = 1e9;

// Completes "FIELD: is ...; expected ".
template <typename Value>
using Reader = std::function<bool(const Json& json, Value& value)>;

bool ReadCount(const Json& json, uint64_t least, uint64_t most, uint64_t& value) {
  if (!json.is_number_unsigned()) return false;
  value = json.get<uint64_t>();
  return least <= value && value <= most;
}

bool ReadInt32(const Json& json, int32_t& value) {
  if (!json.is_number_integer()) return false;
  // A large unsigned number would become another one.
  if (json.is_number_unsigned() && json.get<uint64_t>() > std::numeric_limits<int32_t>::max()) return false;
  const auto number = json.get<int64_t>();
  value = static_cast<int32_t>(number);
  return value == number;
}

bool ReadPaths(const Json& json, std::vector<std::string>& paths) {
  const auto is_path = [](const Json& one) { return one.is_string() && !one.get_ref<const std::string&>().empty(); };
  if (is_path(json)) {
    paths = {json.get<std::string>()};
    return true;
  }
  if (!json.is_array() || json.empty() || !std::ranges::all_of(json, is_path)) return false;
  for (const Json& path : json) paths.push_back(path.get<std::string>());
  return true;
}

bool ReadWeight(const Json& json, double& weight) {
  if (!json.is_number()) return false;
  weight = json.get<double>();
  return weight >= 0 && weight <= kMostWeight;
}

bool ReadSchedule(const Json& json, WeightSchedule& schedule) {
  schedule.clear();
  WeightPoint point;
  if (ReadWeight(json, point.weight)) {
    schedule.push_back(point);
    return true;
  }
  if (!json.is_array()) return false;
  for (const Json& pair : json) {
    if (!pair.is_array() || pair.size() != 2 || !ReadCount(pair[0], 0, kMostSteps, point.step)) return false;
    if (!ReadWeight(pair[1], point.weight)) return false;
    if (!schedule.empty() && schedule.back().step >= point.step) return false;
    schedule.push_back(point);
  }
  return !schedule.empty();
}

bool ReadBool(const Json& json, bool& value) {
  if (!json.is_boolean()) return false;
  value = json.get<bool>();
  return true;
}

bool ReadTokenType(const Json& json, std::optional<artifact::ElementType>& type) {
  if (json == "u16") type = artifact::ElementType::U16;
  if (json == "u32") type = artifact::ElementType::U32;
  return type.has_value();
}

bool ReadDocuments(const Json& json, SourceDescription& source) {
  source.has_documents = true;
  return json == true || ReadPaths(json, source.documents);
}

struct Field {
  const char* name;
  bool is_of_tokens;
  const char* expected;
  bool (*read)(const Json& json, SourceDescription& source);
};

constexpr char kPaths[] = "a file, a folder, a glob, or a list of these";
constexpr Field kFields[] = {
    {"name", false, "a text",
     [](const Json& json, SourceDescription& source) {
       if (json.is_string()) source.name = json.get<std::string>();
       return !source.name.empty();
     }},
    {"weight", false, "a number from 0 to 1e9, or a list of pairs [step, number] by ascending step",
     [](const Json& json, SourceDescription& source) { return ReadSchedule(json, source.weight); }},
    {"files", false, kPaths, [](const Json& json, SourceDescription& source) { return ReadPaths(json, source.files); }},
    {"tokens", true, kPaths,
     [](const Json& json, SourceDescription& source) { return ReadPaths(json, source.tokens); }},
    {"type", true, "\"u16\" or \"u32\"",
     [](const Json& json, SourceDescription& source) { return ReadTokenType(json, source.type); }},
    {"sequence", true, "a number of tokens from 1 to 2^31",
     [](const Json& json, SourceDescription& source) { return ReadCount(json, 1, kMostSequence, source.sequence); }},
    {"stride", true, "a number of tokens from 1 to 2^31",
     [](const Json& json, SourceDescription& source) { return ReadCount(json, 1, kMostSequence, source.stride); }},
    {"targets", true, "true or false",
     [](const Json& json, SourceDescription& source) { return ReadBool(json, source.has_targets); }},
    {"documents", true, "true, or the files with the starts of documents", ReadDocuments},
    {"pad", true, "an integer of 32 bits",
     [](const Json& json, SourceDescription& source) { return ReadInt32(json, source.pad); }},
    {"ignored", true, "an integer of 32 bits",
     [](const Json& json, SourceDescription& source) { return ReadInt32(json, source.ignored); }},
};

absl::Status NotDataSet(const auto&... what) { return absl::InvalidArgumentError(absl::StrCat(what...)); }

std::string NamesOfFields() {
  return absl::StrJoin(kFields, ", ", [](std::string* text, const Field& field) { absl::StrAppend(text, field.name); });
}

// Fields that need or exclude each other.
absl::Status CheckFields(const std::string& path, const Json& json, SourceDescription& source) {
  if (source.files.empty() == source.tokens.empty())
    return NotDataSet(path, ": has ", source.files.empty() ? "neither" : "both",
                      " \"files\" and \"tokens\"; expected one of them");
  if (source.tokens.empty()) {
    for (const Field& field : kFields) {
      if (field.is_of_tokens && json.contains(field.name))
        return NotDataSet(path, ".", field.name, ": is for \"tokens\"; leave it out beside \"files\"");
    }
    return absl::OkStatus();
  }
  if (source.sequence == 0) return NotDataSet(path, ": has no \"sequence\"; set it to the number of tokens in a row");
  for (const char* name : {"pad", "ignored"}) {
    if (!source.has_documents && json.contains(name))
      return NotDataSet(path, ".", name, ": is for packed documents; leave it out, or say \"documents\"");
  }
  if (json.contains("ignored") && !source.has_targets)
    return NotDataSet(path, ".ignored: is for targets; leave it out, or set \"targets\" to true");
  if (source.has_documents && json.contains("stride"))
    return NotDataSet(path, ".stride: is for windows, but documents are packed; leave it out");
  if (source.has_documents && source.documents.empty() && source.type)
    return NotDataSet(path,
                      ".documents: files of nothing but tokens have no starts of documents; name the files with them");
  if (source.stride == 0) source.stride = source.sequence;
  return absl::OkStatus();
}

absl::StatusOr<SourceDescription> ParseSource(const std::string& path, const Json& json) {
  if (!json.is_object()) return NotDataSet(path, ": is ", json::ShowJson(json), "; expected an object");
  SourceDescription source;
  for (const auto& [name, value] : json.items()) {
    const auto* const field = std::ranges::find_if(kFields, [&](const Field& one) { return name == one.name; });
    if (field == std::end(kFields)) {
      return NotDataSet(path, ".", json::ShowJson(Json(name)), ": no such field; expected some of ", NamesOfFields());
    }
    if (!field->read(value, source))
      return NotDataSet(path, ".", name, ": is ", json::ShowJson(value), "; expected ", field->expected);
  }
  absl::Status status = CheckFields(path, json, source);
  if (!status.ok()) return status;
  return source;
}

// At some steps all weights might be 0: between points they are linear, so points tell.
absl::Status CheckWeights(const std::vector<SourceDescription>& sources) {
  std::set<uint64_t> steps = {0};
  for (const SourceDescription& source : sources) {
    for (const WeightPoint& point : source.weight) steps.insert(point.step);
  }
  for (uint64_t step : steps) {
    if (std::ranges::all_of(sources, [&](const auto& source) { return WeightAt(source.weight, step) <= 0; }))
      return NotDataSet("at step ", step, " all weights are 0; expected one above 0 at every step");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<SourceDescription>> ParseDataSet(std::string_view text) {
  absl::StatusOr<Json> json = json::ParseJson(text);
  if (!json.ok()) return NotDataSet("is ", json.status().message());
  const bool has_sources = json->is_object() && json->size() == 1 && json->contains("sources") &&
                           (*json)["sources"].is_array() && !(*json)["sources"].empty();
  if (!has_sources)
    return NotDataSet(
        "is no description of a data set; expected an object with the one field \"sources\", a list (docs/data.md)");
  std::vector<SourceDescription> sources;
  std::set<std::string> names;
  for (const Json& element : (*json)["sources"]) {
    const std::string path = absl::StrCat("sources[", sources.size(), "]");
    absl::StatusOr<SourceDescription> source = ParseSource(path, element);
    if (!source.ok()) return source.status();
    if (source->name.empty()) source->name = absl::StrCat(sources.size());
    if (!names.insert(source->name).second)
      return NotDataSet(path, ".name: ", json::ShowJson(Json(source->name)),
                        " is another source's; expected names that differ");
    sources.push_back(*std::move(source));
  }
  absl::Status status = CheckWeights(sources);
  if (!status.ok()) return status;
  return sources;
}

}  // namespace sgd::data
