// The log of a training run: one JSON object a line, written out after every line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "runtime/trace/scalar.h"

namespace sgd::trace {

// The logged facts of a step. `outputs` are the scalar ones, under the names they are written with.
struct StepRecord {
  uint64_t step = 0;
  absl::Duration duration;
  std::optional<absl::Duration> input;  // how long the host waited for the step's inputs and copied them
  std::optional<Scalar> loss;
  std::vector<std::pair<std::string, Scalar>> outputs;
};

// {"step": 0, "seconds": 0.001, "input_seconds": 1e-06, "loss": 2.57, "outputs": {"result0": 2.57}}, without a line
// end. A missing loss is left out, and so is a missing time; numbers that JSON does not have are null.
std::string StepJson(const StepRecord& record);

// {"event": "rank_lost", "rank": 2, "step": 17, "cause": "killed by signal 9"}; without a rank where none is at fault.
std::string RankLostJson(std::optional<uint32_t> rank, uint64_t step, std::string_view cause);

// {"event": "resumed", "step": 17, "ranks": 4, "seconds": 0.2, "from": "peer"}: after which time `ranks` ranks go on
// with `step`, and from what.
std::string ResumedJson(uint64_t step, uint32_t ranks, absl::Duration after, std::string_view from);

// {"event": "saved", "step": 20, "stall_seconds": 0.001, "seconds": 0.2, "cpu_seconds": 0.05, "bytes": 1024}: a
// checkpoint after so many steps, how long steps waited for it, how long it took, and the processor time of its thread.
// Of a compressed one, "bytes_on_disk" follows "bytes".
std::string SavedJson(uint64_t steps_done, absl::Duration stall, absl::Duration duration, absl::Duration cpu,
                      uint64_t bytes, std::optional<uint64_t> bytes_on_disk);

// Quotes, escapes and, where need be, repairs `text` for JSON.
std::string JsonString(std::string_view text);

// The treatment of a file that exists at the path. Devices and pipes are written to.
enum class LogStart {
  kReplace,  // its lines are lost
  kRefuse,
  kAppend,  // new lines follow its own
};

// The treatment of a pipe that is full.
enum class SlowReader { kWaitFor, kFail };

class JsonLog {
 public:
  JsonLog(const JsonLog&) = delete;
  JsonLog& operator=(const JsonLog&) = delete;
  JsonLog(JsonLog&& other) noexcept;
  ~JsonLog();

  // AlreadyExists for a file that `start` refuses. Appends behind a line that a dead run left unfinished, on a line of
  // its own.
  static absl::StatusOr<JsonLog> Open(const std::string& path, LogStart start,
                                      SlowReader reader = SlowReader::kWaitFor);

  // Returns the error that Open would return; does not change a file that exists, and leaves none behind.
  static absl::Status CheckWritable(const std::string& path, LogStart start);

  // Appends one line by one write. Where a disk becomes full, takes back the part that was written.
  absl::Status WriteLine(const std::string& json);

 private:
  JsonLog(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

  std::string path_;
  int descriptor_;
};

}  // namespace sgd::trace
