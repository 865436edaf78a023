// Fields go before the last brace of the step's object.
#include "runtime/trace/step_line.h"

#include "absl/strings/str_cat.h"
#include "runtime/trace/scalar.h"

namespace sgd::trace {

std::string MeansJson(const std::vector<std::pair<std::string, double>>& means) {
  std::string fields;
  for (const auto& [name, mean] : means)
    absl::StrAppend(&fields, fields.empty() ? "" : ", ", JsonString(name), ": ", NumberJson(mean));
  return absl::StrCat("{", fields, "}");
}

std::string StepLine(const StepRecord& record, const std::vector<std::pair<std::string, double>>* eval,
                     const std::string& metrics) {
  std::string json = StepJson(record);
  if (!metrics.empty()) {
    json.pop_back();
    absl::StrAppend(&json, ", \"metrics\": ", metrics, "}");
  }
  if (eval == nullptr) return json;
  json.pop_back();
  absl::StrAppend(&json, ", \"eval\": ", MeansJson(*eval), "}");
  return json;
}

}  // namespace sgd::trace
