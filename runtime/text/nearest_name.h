// The name that was probably meant, for messages about names that nothing has.
#pragma once

#include <span>
#include <string_view>

namespace sgd::text {

// The one of `names` that differs from `name` in the fewest inserted, left out and replaced characters, whatever their
// case; empty where all characters of `name` differ, or more than two that are more than half of it.
std::string_view NearestName(std::string_view name, std::span<const std::string_view> names);

}  // namespace sgd::text
