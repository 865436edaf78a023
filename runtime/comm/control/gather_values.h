// Agreement on numbers: every rank tells its own, all get those of all.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "runtime/comm/control/agreements.h"

namespace sgd::comm {

// Every rank's value, by rank. T is a number or a structure of numbers, the same on all ranks. Errors are those of
// Agreements; Internal, naming the rank, where one sends something of another size.
template <typename T>
absl::StatusOr<std::vector<T>> GatherValues(Agreements& ranks, const T& mine, absl::Duration timeout) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::string_view bytes(reinterpret_cast<const char*>(&mine), sizeof(mine));
  const absl::StatusOr<std::vector<std::string>> all = ranks.AllGatherBytes(bytes, timeout);
  if (!all.ok()) return all.status();
  std::vector<T> values(all->size());
  for (size_t rank = 0; rank < values.size(); ++rank) {
    if ((*all)[rank].size() != sizeof(T))
      return absl::InternalError(absl::StrCat("rank ", rank, " sent ", (*all)[rank].size(),
                                              " bytes; expected a value of ", sizeof(T), ", as all ranks send"));
    std::memcpy(&values[rank], (*all)[rank].data(), sizeof(T));
  }
  return values;
}

// The largest of the ranks' numbers.
template <typename T>
absl::StatusOr<T> LargestOf(Agreements& ranks, T mine, absl::Duration timeout) {
  absl::StatusOr<std::vector<T>> values = GatherValues(ranks, mine, timeout);
  if (!values.ok()) return values.status();
  return *std::ranges::max_element(*values);
}

// The least of the ranks' numbers.
template <typename T>
absl::StatusOr<T> LeastOf(Agreements& ranks, T mine, absl::Duration timeout) {
  absl::StatusOr<std::vector<T>> values = GatherValues(ranks, mine, timeout);
  if (!values.ok()) return values.status();
  return *std::ranges::min_element(*values);
}

}  // namespace sgd::comm
