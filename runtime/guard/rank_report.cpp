// Reports are the numbers of their structs: all ranks run the same program on machines of one kind.
#include "runtime/guard/rank_report.h"

#include <cstring>
#include <tuple>
#include <type_traits>

#include "absl/strings/str_cat.h"

namespace sgd::guard {
namespace {

struct Head {
  Change change;
  Alarm alarm;
  uint64_t is_different;
};
static_assert(std::is_trivially_copyable_v<Head>);

}  // namespace

std::string RankReport::Bytes() const {
  Head head;
  std::memset(static_cast<void*>(&head), 0, sizeof(head));
  head.change = change, head.alarm = alarm, head.is_different = is_different;
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof(head));
  bytes.append(reinterpret_cast<const char*>(digests.data()), digests.size() * sizeof(uint64_t));
  return bytes;
}

absl::StatusOr<RankReport> RankReport::FromBytes(std::string_view bytes, size_t classes) {
  if (bytes.size() != sizeof(Head) + classes * sizeof(uint64_t)) {
    return absl::InternalError(absl::StrCat("a rank's report has ", bytes.size(), " bytes; expected ",
                                            sizeof(Head) + classes * sizeof(uint64_t)));
  }
  Head head;
  std::memcpy(static_cast<void*>(&head), bytes.data(), sizeof(head));
  RankReport report{head.change, head.alarm, head.is_different, std::vector<uint64_t>(classes)};
  if (classes > 0) std::memcpy(report.digests.data(), bytes.data() + sizeof(head), classes * sizeof(uint64_t));
  return report;
}

FirstAlarm FindFirstAlarm(std::span<const RankReport> reports) {
  FirstAlarm first;
  for (uint32_t rank = 0; rank < reports.size(); ++rank) {
    const Alarm& alarm = reports[rank].alarm;
    if (!alarm.is_set()) continue;
    if (!first.alarm.is_set() || std::tie(alarm.step, alarm.kind) < std::tie(first.alarm.step, first.alarm.kind))
      first = {alarm, rank};
  }
  return first;
}

std::string RanksText(std::span<const uint32_t> ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size(); ++i) {
    const char* separator = i == 0 ? "" : i + 1 == ranks.size() ? " and " : ", ";
    absl::StrAppend(&text, separator, ranks[i]);
  }
  return text;
}

}  // namespace sgd::guard
