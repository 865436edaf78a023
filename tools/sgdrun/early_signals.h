// Handles SIGINT and SIGTERM before ranks do.
#pragma once

namespace sgd::sgdrun {

// From now on they end the process at once, with one line and `exit_code`: nothing has been begun that could be kept.
void EndOnSignals(int exit_code);

}  // namespace sgd::sgdrun
