// The description of an artifact as aligned text.
#pragma once

#include <string>

#include "tools/sgd-inspect/describe.h"

namespace sgd::inspect {

// From what Describe made with the same parts; ends with a line end.
std::string DescriptionText(const nlohmann::ordered_json& description, const Parts& parts);

}  // namespace sgd::inspect
