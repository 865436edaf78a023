// A line of the log about a step and the evaluation after it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/trace/json_log.h"

namespace sgd::trace {

// {"loss": 2.5, ...}; numbers that JSON does not have are null.
std::string MeansJson(const std::vector<std::pair<std::string, double>>& means);

// StepJson with the fields "metrics", an object in JSON, unless that is empty, and "eval", unless that is null.
std::string StepLine(const StepRecord& record, const std::vector<std::pair<std::string, double>>* eval,
                     const std::string& metrics = "");

}  // namespace sgd::trace
