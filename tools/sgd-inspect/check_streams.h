// The proof that streams and threads cannot get in each other's way, as text.
#pragma once

#include <string>

#include "runtime/artifact/reader.h"

namespace sgd::inspect {

struct StreamsReport {
  std::string
      text;  // a line for each program and each way to execute it, and one for each problem; ends with a line end
  bool is_clean = true;
};

// Checks every program both as a device with streams executes it and as a host's two threads do
// (runtime/device/check_streams.h).
StreamsReport CheckStreams(const artifact::ArtifactFile& file);

}  // namespace sgd::inspect
