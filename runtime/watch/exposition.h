// A job's status in the text format of Prometheus (exposition format 0.0.4), written and read.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "runtime/watch/job_status.h"

namespace sgd::watch {

// Names begin with "sgd_"; units are seconds and bytes. Unknown values are left out.
std::string ExpositionText(const JobStatus& status);

// The status of such a text. Other metrics are ignored; InvalidArgument for a line that is none, and for a text without
// any of a job.
absl::StatusOr<JobStatus> ParseExposition(std::string_view text);

}  // namespace sgd::watch
