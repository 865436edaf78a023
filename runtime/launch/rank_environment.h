// The rank of this process in the job, from flags, our own variables, or the launcher's environment.
// Starts nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/comm/tcp/socket_address.h"

namespace sgd::launch {

// Ranks by the command line; nullopt where a flag is missing.
struct RankFlags {
  std::optional<uint32_t> ranks;       // -n: start that many ranks on this host
  std::optional<uint32_t> nodes;       // --nnodes: hosts that start as many ranks each
  std::optional<uint32_t> node_rank;   // with `nodes`: which of them this one is
  uint32_t spares = 0;                 // with `nodes`: hosts beyond them, which wait until one is lost
  std::optional<std::string> master;   // HOST:PORT where rank 0 listens, of ranks on several hosts; of launchers that
                                       // restart ranks several, by commas
  std::optional<uint32_t> rank;        // this process is one rank started by someone else
  std::optional<uint32_t> world_size;  // with `rank`
  std::optional<std::string> rendezvous;  // name shared by the ranks of one job, with `rank`
};

struct RankEnvironment {
  // True: this process is to start ranks [rank, rank + StartedHere()) on this host. False: it is rank `rank`.
  bool is_launcher = false;
  uint32_t rank = 0;
  uint32_t size = 1;  // ranks of the job
  // Nobody says how many ranks there are: they are those of the mesh.
  bool has_size_of_mesh = false;
  // Of several hosts that start ranks as this one does; 1 for a launcher of the whole job.
  uint32_t nodes = 1;
  uint32_t StartedHere() const { return size / nodes; }
  uint32_t node = 0;      // this host's number among them
  bool is_spare = false;  // it is none of them yet: `node` is `nodes` or more, and `rank` says nothing
  // As of comm::TcpMeetingOptions.
  uint32_t ToldNodes() const { return is_launcher ? nodes : 0; }
  // Where rank 0 listens for the others; set when ranks may be on several hosts.
  std::optional<comm::HostAndPort> master;
  // Of launchers: `master`, and further places where they may meet when others are lost.
  std::vector<comm::HostAndPort> places;
  // This rank among those of its host, where its launcher says so.
  std::optional<uint32_t> local_rank;
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
// sources that disagree, ranks on several hosts that do not say where rank 0 is, a size that is not `mesh_ranks`,
// the number of ranks of the artifact's mesh.
absl::StatusOr<RankEnvironment> DetectRankEnvironment(const RankFlags& flags, uint32_t mesh_ranks,
                                                      const GetVariable& get_variable);

// The same over this process's environment.
absl::StatusOr<RankEnvironment> DetectRankEnvironment(const RankFlags& flags, uint32_t mesh_ranks);

// How many ranks flags or the launcher's environment say; nullopt where they leave it to the mesh. Errors as above.
absl::StatusOr<std::optional<uint32_t>> DetectRanks(const RankFlags& flags, const GetVariable& get_variable);
absl::StatusOr<std::optional<uint32_t>> DetectRanks(const RankFlags& flags);

// The same for a process that could not read its artifact: as if the mesh had as many ranks as are said to be there.
absl::StatusOr<RankEnvironment> DetectWithoutArtifact(const RankFlags& flags);

}  // namespace sgd::launch
