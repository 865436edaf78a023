// How the processes that write the files of a checkpoint tell rank 0 that theirs are done. Nobody waits for an answer.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "runtime/checkpoint/manifest.h"

namespace sgd::checkpoint {

// The outcomes of the last saves of a process, as text of at most 1000 bytes: a later text replaces an earlier one that
// rank 0 may not have read.
class SaveReports {
 public:
  // Of save `number`, which ascends by one.
  void Add(uint64_t number, const absl::StatusOr<StateFile>& file);
  const std::string& text() const { return text_; }

  // The outcome of a save in a text; nothing where it has none, or is no such text. Of a text with later saves alone:
  // Unavailable.
  static std::optional<absl::StatusOr<StateFile>> Find(std::string_view text, uint64_t number);

 private:
  std::deque<std::string> lines_;
  std::string text_;
};

}  // namespace sgd::checkpoint
