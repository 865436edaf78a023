// Who this process is in the job: from flags, our own variables, or the launcher's environment.
// Starts nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace sgd::launch {

// What the command line says; absent means not given.
struct RankFlags {
  std::optional<uint32_t> ranks;          // -n: start that many ranks on this host
  std::optional<uint32_t> rank;           // this process is one rank started by someone else
  std::optional<uint32_t> world_size;     // with `rank`
  std::optional<std::string> rendezvous;  // name shared by the ranks of one job, with `rank`
};

struct RankEnvironment {
  // True: this process is to start `size` ranks on this host. False: it is rank `rank` of `size`.
  bool is_launcher = false;
  uint32_t rank = 0;
  uint32_t size = 1;
  // How the ranks of this job find each other, equal on all of them and different from other jobs'
  // of this host.
  std::string rendezvous;
  // Where it was read from, for messages: "flags", "torchrun", "Slurm", ...
  std::string source;
};

// Returns a variable's value, or nullptr.
using GetVariable = std::function<const char*(const char* name)>;

// In falling order: flags, SGD_RANK, torchrun, Slurm, Open MPI, PMI, Kubernetes, else a launcher of
// `mesh_ranks` ranks. Errors (kInvalidArgument): rank not below size, numbers that do not parse,
// sources that disagree, ranks on several hosts (not supported), a size that is not `mesh_ranks`,
// the number of ranks of the artifact's mesh.
absl::StatusOr<RankEnvironment> DetectRankEnvironment(const RankFlags& flags, uint32_t mesh_ranks,
                                                      const GetVariable& get_variable);

// The same over this process's environment.
absl::StatusOr<RankEnvironment> DetectRankEnvironment(const RankFlags& flags, uint32_t mesh_ranks);

}  // namespace sgd::launch
