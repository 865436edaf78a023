// One program, compiled and run on all its ranks in this process, against the reference evaluator: at the graph level,
// at the SPMD level with all ranks interpreted, and as an artifact.
#ifndef SGD_TESTS_DIFFERENTIAL_CHECK_H
#define SGD_TESTS_DIFFERENTIAL_CHECK_H

#include <string>

#include "compiler/report/report.h"

namespace mlir::sgd::differential {

enum class Verdict {
  Agrees,
  Refused,  // by the compiler, with a message for a user
  Differs,  // a wrong value, or an error that no user should see
};

struct CheckOptions {
  bool onOneRank = true;  // also compiled without any sharding
  uint32_t threads = 1;   // of each rank
  /// As for sgdc --target: cpu, or cuda:emulated for the GPU's kernels, perhaps with more architectures.
  /// SGD_CHECK_TARGET, where it is set, changes the default, so that everything that checks programs does so for that
  /// target.
  std::string target = getDefaultTarget();

  /// As for sgdc --topology, empty for the target's own; SGD_CHECK_TOPOLOGY likewise.
  std::string topology = getDefaultTopology();

  /// Whether the artifact runs again with ranks on several hosts; where SGD_CHECK_HOSTS is set.
  bool onHosts = getDefaultOnHosts();

  static std::string getDefaultTarget();
  static bool getDefaultOnHosts();
  static std::string getDefaultTopology();
};

struct CheckResult {
  Verdict verdict = Verdict::Agrees;
  std::string message;  // one line, unless everything agrees
  Report report;        // of the compilation for all ranks
};

/// Checks program `text`, StableHLO or the graph level, on inputs as its directives (inputs.h) say. Padding of uneven
/// inputs holds NaN. A program with tensors of more than a million elements is compiled only. Every rank's shard of
/// every result is compared, replicas too.
CheckResult check(const std::string& text, const CheckOptions& options = {});

}  // namespace mlir::sgd::differential

#endif
