// A line for each save: "NUMBER ok BYTES CHECKSUM STORED_BYTES STORED_CHECKSUM NAME" or "NUMBER CODE MESSAGE".
#include "runtime/checkpoint/save_reports.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace sgd::checkpoint {
namespace {

constexpr size_t kMostSaves = 3;
constexpr size_t kLongestMessage = 280;

absl::StatusOr<StateFile> ParseOutcome(absl::string_view what, absl::string_view rest) {
  int code = 0;
  if (absl::SimpleAtoi(what, &code) && code != 0) return absl::Status(static_cast<absl::StatusCode>(code), rest);
  const std::vector<absl::string_view> parts = absl::StrSplit(rest, absl::MaxSplits(' ', 4));
  StateFile file;
  if (what != "ok" || parts.size() != 5 || !absl::SimpleAtoi(parts[0], &file.bytes) ||
      !absl::SimpleAtoi(parts[2], &file.stored_bytes))
    return absl::InternalError("another process has told of its file in another form");
  file.checksum = std::string(parts[1]);
  file.stored_checksum = std::string(parts[3]);
  file.name = std::string(parts[4]);
  return file;
}

}  // namespace

void SaveReports::Add(uint64_t number, const absl::StatusOr<StateFile>& file) {
  if (lines_.size() == kMostSaves) lines_.pop_front();
  if (file.ok()) {
    lines_.push_back(absl::StrCat(number, " ok ", file->bytes, " ", file->checksum, " ", file->stored_bytes, " ",
                                  file->stored_checksum, " ", file->name));
  } else {
    const std::string message = absl::StrReplaceAll(file.status().message(), {{"\n", " "}});
    lines_.push_back(absl::StrCat(number, " ", file.status().raw_code(), " ", message.substr(0, kLongestMessage)));
  }
  text_ = absl::StrJoin(lines_, "\n");
}

std::optional<absl::StatusOr<StateFile>> SaveReports::Find(std::string_view text, uint64_t number) {
  bool has_later = false;
  for (const absl::string_view line : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(' ', 2));
    uint64_t of = 0;
    if (parts.size() != 3 || !absl::SimpleAtoi(parts[0], &of)) continue;
    if (of == number) return ParseOutcome(parts[1], parts[2]);
    has_later = has_later || of > number;
  }
  if (has_later) return absl::UnavailableError("another process is several saves ahead");
  return std::nullopt;
}

}  // namespace sgd::checkpoint
