// Two plans side by side: bytes, memory, times, collectives and shardings.
#pragma once

#include <string>

#include "nlohmann/json.hpp"

namespace sgd::page {

// Of PlanData of both: {"before", "after": plan names, "numbers": [{"name", "unit": "bytes", "seconds" or "", "before",
// "after"}], "collectives": [{"change": "added", "removed" or "changed", "program", "op", "name", "axes", "before",
// "after": bytes}], "shardings": [{"change", "program", "name", "before", "after": texts}]}.
nlohmann::json ComparePlans(const nlohmann::json& before, const nlohmann::json& after);

// For people; of several pairs, each behind a line with the plan's name.
std::string ComparisonText(const nlohmann::json& comparisons);

}  // namespace sgd::page
