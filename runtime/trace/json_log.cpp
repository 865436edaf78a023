// Formatting and writing of JSON lines.
#include "runtime/trace/json_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "runtime/artifact/replace_file.h"

namespace sgd::trace {
namespace {

absl::Status SystemError(const std::string& path, const char* action, int error_number) {
  return absl::Status(absl::ErrnoToStatusCode(error_number),
                      absl::StrCat(path, ": cannot ", action, ": ", strerror(error_number)));
}

bool IsRegularFile(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

// Whether the run that wrote the file at `path` died within a line.
bool EndsWithinLine(const std::string& path) {
  if (!IsRegularFile(path)) return false;
  std::ifstream file(path);
  return file.seekg(-1, std::ios::end) && file.peek() != '\n';
}

absl::Status CheckMayStart(const std::string& path, LogStart start) {
  if (start != LogStart::kRefuse || !IsRegularFile(path)) return absl::OkStatus();
  return absl::AlreadyExistsError(
      absl::StrCat(path, ": exists; expected no file there; give another path, or delete it; --resume appends"));
}

}  // namespace

std::string JsonString(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string StepJson(const StepRecord& record) {
  std::string json =
      absl::StrCat("{\"step\": ", record.step, ", \"seconds\": ", NumberJson(absl::ToDoubleSeconds(record.duration)));
  if (record.input) absl::StrAppend(&json, ", \"input_seconds\": ", NumberJson(absl::ToDoubleSeconds(*record.input)));
  if (record.loss) absl::StrAppend(&json, ", \"loss\": ", ScalarJson(*record.loss));
  absl::StrAppend(&json, ", \"outputs\": {");
  for (size_t i = 0; i < record.outputs.size(); ++i) {
    const auto& [name, scalar] = record.outputs[i];
    absl::StrAppend(&json, i == 0 ? "" : ", ", JsonString(name), ": ", ScalarJson(scalar));
  }
  return absl::StrCat(json, "}}");
}

std::string RankLostJson(std::optional<uint32_t> rank, uint64_t step, std::string_view cause) {
  return absl::StrCat("{\"event\": \"rank_lost\"", rank ? absl::StrCat(", \"rank\": ", *rank) : "",
                      ", \"step\": ", step, ", \"cause\": ", JsonString(cause), "}");
}

std::string ResumedJson(uint64_t step, uint32_t ranks, absl::Duration after, std::string_view from) {
  return absl::StrCat("{\"event\": \"resumed\", \"step\": ", step, ", \"ranks\": ", ranks,
                      ", \"seconds\": ", NumberJson(absl::ToDoubleSeconds(after)), ", \"from\": ", JsonString(from),
                      "}");
}

std::string SavedJson(uint64_t steps_done, absl::Duration stall, absl::Duration duration, absl::Duration cpu,
                      uint64_t bytes, std::optional<uint64_t> bytes_on_disk) {
  const std::string on_disk = bytes_on_disk ? absl::StrCat(", \"bytes_on_disk\": ", *bytes_on_disk) : "";
  return absl::StrCat("{\"event\": \"saved\", \"step\": ", steps_done,
                      ", \"stall_seconds\": ", NumberJson(absl::ToDoubleSeconds(stall)),
                      ", \"seconds\": ", NumberJson(absl::ToDoubleSeconds(duration)),
                      ", \"cpu_seconds\": ", NumberJson(absl::ToDoubleSeconds(cpu)), ", \"bytes\": ", bytes, on_disk,
                      "}");
}

JsonLog::JsonLog(JsonLog&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

JsonLog::~JsonLog() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::StatusOr<JsonLog> JsonLog::Open(const std::string& path, LogStart start, SlowReader reader) {
  if (absl::Status status = CheckMayStart(path, start); !status.ok()) return status;
  const bool is_cut = start == LogStart::kAppend && EndsWithinLine(path);
  const int truncates = start == LogStart::kReplace ? O_TRUNC : 0;
  const int waits = reader == SlowReader::kFail ? O_NONBLOCK : 0;
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND | truncates | waits, 0666);
  if (descriptor < 0) return SystemError(path, "open", errno);
  JsonLog log(path, descriptor);
  absl::Status status = is_cut ? log.WriteLine("") : absl::OkStatus();
  if (!status.ok()) return status;
  return log;
}

absl::Status JsonLog::CheckWritable(const std::string& path, LogStart start) {
  if (absl::Status status = CheckMayStart(path, start); !status.ok()) return status;
  const bool exists = access(path.c_str(), F_OK) == 0;
  // A link to where no file is yet stays.
  const absl::StatusOr<std::string> target = artifact::ResolveLinks(path);
  if (!target.ok()) return target.status();
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND | O_NONBLOCK, 0666);
  if (descriptor < 0) return SystemError(path, "open", errno);
  close(descriptor);
  if (!exists) unlink(target->c_str());
  return absl::OkStatus();
}

absl::Status JsonLog::WriteLine(const std::string& json) {
  const std::string line = json + "\n";
  const off_t end = lseek(descriptor_, 0, SEEK_END);  // -1 for a pipe
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t written = write(descriptor_, line.data() + done, line.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      const bool is_whole = done == 0 || (end >= 0 && ftruncate(descriptor_, end) == 0);
      return SystemError(path_, is_whole ? "write" : "write a whole line", error);
    }
    done += written;
  }
  return absl::OkStatus();
}

}  // namespace sgd::trace
