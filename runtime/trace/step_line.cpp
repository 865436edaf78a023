// Fields go before the last brace of the step's object.
#include "runtime/trace/step_line.h"

#include "absl/strings/str_cat.h"
#include "runtime/trace/scalar.h"

namespace sgd::trace {

std::string StepLine(const StepRecord& record, const std::vector<std::pair<std::string, double>>* eval,
                     const std::string& metrics) {
  std::string json = StepJson(record);
  if (!metrics.empty()) {
    json.pop_back();
    absl::StrAppend(&json, ", \"metrics\": ", metrics, "}");
  }
  if (eval == nullptr) return json;
  std::string fields;
  for (const auto& [name, mean] : *eval)
    absl::StrAppend(&fields, fields.empty() ? "" : ", ", JsonString(name), ": ", NumberJson(mean));
  json.pop_back();
  absl::StrAppend(&json, ", \"eval\": {", fields, "}}");
  return json;
}

}  // namespace sgd::trace
