// One HTML file with pictures of an artifact: timeline, memory, collectives, roofline, shardings, and what differs from
// another one. It needs no other file and no network.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/artifact/reader.h"

namespace sgd::page {

using Plans = std::vector<std::unique_ptr<artifact::ArtifactFile>>;

// Pictures beside those of the artifact's own plans.
struct PageOptions {
  const Plans* compared = nullptr;  // plans of the same names are compared; of one plan each these two
  std::string trace = {};           // file of sgdrun --trace, measured with the first plan; empty: none
};

// The document. Errors are those of PlanData and ReadMeasuredTrace, and InvalidArgument where no plans go together.
absl::StatusOr<std::string> WritePage(const Plans& plans, const PageOptions& options);

// The same comparison as text.
absl::StatusOr<std::string> CompareText(const Plans& plans, const Plans& compared);

}  // namespace sgd::page
