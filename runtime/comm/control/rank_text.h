// Messages about ranks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace sgd::comm {

// "rank R: message", where the message does not begin so already.
inline std::string OfRank(uint32_t rank, std::string_view message) {
  const std::string prefix = absl::StrCat("rank ", rank, ": ");
  return absl::StartsWith(std::string(message), prefix) ? std::string(message)
                                                        : absl::StrCat(prefix, std::string(message));
}

}  // namespace sgd::comm
