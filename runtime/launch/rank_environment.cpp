// One reader per launcher, in falling order of precedence; then what they say is compared with each
// other and with the mesh.
#include "runtime/launch/rank_environment.h"

#include <stdlib.h>
#include <unistd.h>

#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "runtime/launch/master_address.h"

namespace sgd::launch {
namespace {

// The environment of one launcher.
struct Claim {
  std::string source;
  uint32_t rank = 0;
  uint32_t size = 1;
  std::string rendezvous;
  std::string several_hosts;  // the variable that says so; empty for one host
  std::optional<uint32_t> local_rank;
  // Slurm sets rank 0's variables in a batch script, too, where other launchers may be started.
  bool may_be_batch_script = false;
};

// Names of one launcher's variables; empty means that there is none.
struct Family {
  const char* source;
  std::vector<const char*> rank;  // the first that is set counts
  std::vector<const char*> size;
  std::vector<const char*> local_rank;  // among the ranks on this host
  std::vector<const char*> local_size;  // ranks on this host
  std::vector<const char*> hosts;       // number of hosts
  std::vector<const char*> job;         // all that are set make the rendezvous
};

const std::vector<Family>& Families() {
  static const std::vector<Family>* families = new std::vector<Family>{
      {"SGD_RANK", {"SGD_RANK"}, {"SGD_WORLD_SIZE"}, {"SGD_LOCAL_RANK"}, {}, {}, {}},
      {"torchrun",
       {"RANK"},
       {"WORLD_SIZE"},
       {"LOCAL_RANK"},
       {"LOCAL_WORLD_SIZE"},
       {"GROUP_WORLD_SIZE"},
       {"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"}},
      {"Slurm",
       {"SLURM_PROCID"},
       {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"},
       {"SLURM_LOCALID"},
       {},
       {"SLURM_STEP_NUM_NODES", "SLURM_NNODES", "SLURM_JOB_NUM_NODES"},
       {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
      {"Open MPI",
       {"OMPI_COMM_WORLD_RANK"},
       {"OMPI_COMM_WORLD_SIZE"},
       {"OMPI_COMM_WORLD_LOCAL_RANK"},
       {"OMPI_COMM_WORLD_LOCAL_SIZE"},
       {},
       {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
      {"PMI", {"PMI_RANK"}, {"PMI_SIZE"}, {"MPI_LOCALRANKID"}, {"MPI_LOCALNRANKS"}, {}, {"PMI_PORT", "PMI_JOBID"}},
      {"Kubernetes",
       {"JOB_COMPLETION_INDEX"},
       {"SGD_WORLD_SIZE", "WORLD_SIZE"},
       {},
       {},
       {},
       {"MASTER_ADDR", "MASTER_PORT"}},
  };
  return *families;
}

struct Variable {
  const char* name = nullptr;
  const char* value = nullptr;
};

Variable FirstSet(const std::vector<const char*>& names, const GetVariable& get) {
  for (const char* name : names) {
    const char* value = get(name);
    if (value != nullptr && *value != '\0') return {name, value};
  }
  return {};
}

absl::StatusOr<uint32_t> Number(const Variable& variable) {
  uint32_t number = 0;
  if (!absl::SimpleAtoi(variable.value, &number)) {
    return absl::InvalidArgumentError(absl::StrCat(variable.name, "=", variable.value,
                                                   " is out of range; expected an integer from 0 to ",
                                                   std::numeric_limits<uint32_t>::max()));
  }
  return number;
}

absl::Status CheckRank(const std::string& source, uint32_t rank, uint32_t size) {
  if (size > 0 && rank < size) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(source, ": rank ", rank, " is not below the number of ranks, which is ", size));
}

// The variable that says that ranks are on several hosts, "NAME=VALUE", or nothing.
absl::StatusOr<std::string> SeveralHosts(const Family& family, uint32_t size, const GetVariable& get) {
  const Variable hosts = FirstSet(family.hosts, get), local = FirstSet(family.local_size, get);
  for (const auto& [variable, of_one_host] : {std::pair(hosts, 1u), std::pair(local, size)}) {
    if (variable.name == nullptr) continue;
    absl::StatusOr<uint32_t> number = Number(variable);
    if (!number.ok()) return number.status();
    if (*number != of_one_host) return absl::StrCat(variable.name, "=", variable.value);
  }
  // A pod sees nothing of the others' hosts.
  const char* master = std::string_view(family.source) == "Kubernetes" && size > 1 ? get("MASTER_ADDR") : nullptr;
  return master == nullptr ? std::string() : absl::StrCat("MASTER_ADDR=", master);
}

std::string RendezvousOf(const Family& family, const GetVariable& get) {
  std::string name = family.source;
  bool identified = false;
  for (const char* variable : family.job) {
    if (const char* value = get(variable); value != nullptr) {
      absl::StrAppend(&name, "-", value);
      identified = true;
    }
  }
  if (!identified) absl::StrAppend(&name, "-", getppid());  // ranks of a simple launcher are siblings
  return name;
}

// Adds nothing when this launcher has not started the process. With -n, a rank without a size is
// none.
absl::Status ReadFamily(const Family& family, bool has_n, const GetVariable& get, std::vector<Claim>* claims) {
  const Variable rank = FirstSet(family.rank, get);
  if (rank.name == nullptr) return absl::OkStatus();
  const Variable size = FirstSet(family.size, get);
  if (size.name == nullptr && has_n) return absl::OkStatus();
  if (size.name == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(family.source, ": ", rank.name, " is set but ", family.size.front(), " is not"));
  }
  absl::StatusOr<uint32_t> rank_number = Number(rank), size_number = Number(size);
  if (!rank_number.ok()) return rank_number.status();
  if (!size_number.ok()) return size_number.status();
  absl::Status status = CheckRank(family.source, *rank_number, *size_number);
  if (!status.ok()) return status;
  absl::StatusOr<std::string> several_hosts = SeveralHosts(family, *size_number, get);
  if (!several_hosts.ok()) return several_hosts.status();
  Claim claim{family.source, *rank_number, *size_number, RendezvousOf(family, get), *several_hosts, std::nullopt};
  if (const Variable local = FirstSet(family.local_rank, get); local.name != nullptr) {
    absl::StatusOr<uint32_t> number = Number(local);
    if (!number.ok()) return number.status();
    claim.local_rank = *number;
  }
  claim.may_be_batch_script =
      std::string_view(rank.name) == "SLURM_PROCID" && *rank_number == 0 && get("SLURM_STEP_ID") == nullptr;
  claims->push_back(std::move(claim));
  return absl::OkStatus();
}

std::string Describe(const Claim& claim) {
  return absl::StrCat(claim.source, " says rank ", claim.rank, " of ", claim.size);
}

// A launcher of one process may stand around another one, as a Slurm step around torchrun.
absl::Status CheckAgreement(const std::vector<Claim>& claims) {
  for (size_t i = 1; i < claims.size(); ++i) {
    const Claim& first = claims[0];
    const Claim& other = claims[i];
    if (other.size == 1 || (other.rank == first.rank && other.size == first.size)) continue;
    if (other.may_be_batch_script && other.size == first.size) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(Describe(first), ", but ", Describe(other), ": unset the variables of one of them"));
  }
  return absl::OkStatus();
}

absl::Status CheckMeshRanks(const std::string& source, uint32_t size, uint32_t mesh_ranks) {
  if (size == mesh_ranks) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the artifact's mesh has ", mesh_ranks,
                                                 mesh_ranks == 1 ? " rank" : " ranks", ", but ", source, " says ", size,
                                                 ": compile for another mesh or start ", mesh_ranks));
}

absl::StatusOr<RankEnvironment> FromRankFlags(const RankFlags& flags) {
  if (!flags.rank.has_value() || !flags.world_size.has_value()) {
    return absl::InvalidArgumentError("--rank and --world-size go together");
  }
  if (flags.ranks.has_value() && *flags.ranks != *flags.world_size) {
    return absl::InvalidArgumentError(
        absl::StrCat("-n ", *flags.ranks, " contradicts --world-size ", *flags.world_size));
  }
  if (absl::Status status = CheckRank("flags", *flags.rank, *flags.world_size); !status.ok()) {
    return status;
  }
  RankEnvironment environment;
  environment.rank = *flags.rank;
  environment.size = *flags.world_size;
  environment.source = "flags";
  environment.rendezvous = absl::StrCat("flags-", getppid());
  return environment;
}

// One of several hosts that start as many ranks each.
absl::StatusOr<RankEnvironment> FromNodes(const RankFlags& flags, uint32_t mesh_ranks) {
  const uint32_t nodes = *flags.nodes;
  if (nodes == 0 || (nodes > 1 && !flags.node_rank.has_value()) ||
      flags.node_rank.value_or(0) >= uint64_t{nodes} + flags.spares) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--nnodes ", nodes, " needs --node-rank, the number of this host",
        flags.node_rank.has_value() ? absl::StrCat(", which is ", *flags.node_rank, "; expected a number") : "",
        " from 0 to ", nodes - 1,
        flags.spares == 0 ? "" : absl::StrCat(", of a spare from ", nodes, " to ", nodes + flags.spares - 1)));
  }
  if (!flags.ranks.has_value() && mesh_ranks % nodes != 0) {
    return absl::InvalidArgumentError(absl::StrCat("the artifact's mesh has ", mesh_ranks,
                                                   " ranks, which are no whole number on each of ", nodes, " hosts"));
  }
  const uint32_t started = flags.ranks.value_or(mesh_ranks / nodes);
  constexpr uint64_t kMostRanks = uint64_t{1} << 20;  // of a mesh
  if (uint64_t{nodes} * started > kMostRanks) {
    return absl::InvalidArgumentError(absl::StrCat("--nnodes ", nodes, " -n ", started, " are ",
                                                   uint64_t{nodes} * started, " ranks; expected at most ", kMostRanks));
  }
  RankEnvironment environment;
  environment.is_launcher = true;
  environment.nodes = nodes;
  environment.node = flags.node_rank.value_or(0);
  environment.is_spare = environment.node >= nodes;
  environment.rank = environment.is_spare ? 0 : environment.node * started;
  environment.size = nodes * started;
  environment.has_size_of_mesh = !flags.ranks.has_value();
  environment.source = absl::StrCat("--nnodes ", nodes, flags.ranks.has_value() ? absl::StrCat(" -n ", started) : "");
  return environment;
}

RankEnvironment LauncherOf(uint32_t size, const std::string& source) {
  RankEnvironment environment;
  environment.is_launcher = true;
  environment.size = size;
  environment.source = source;
  return environment;
}

// The address of rank 0, for ranks that are on several hosts according to `why` or the flags.
absl::Status FindMasterOf(const std::string& why, const RankFlags& flags, const GetVariable& get,
                          RankEnvironment& environment) {
  absl::StatusOr<std::vector<comm::HostAndPort>> told = ToldMasters(flags.master, get);
  if (!told.ok()) return told.status();
  const std::string source = flags.master.has_value() ? "--master" : "SGD_MASTER";
  if (told->size() > 1 && !environment.is_launcher) {
    return absl::InvalidArgumentError(absl::StrCat(
        source, ": several places are for launchers (--nnodes); expected one HOST:PORT; give that of rank 0"));
  }
  environment.places = *told;
  if (!told->empty()) environment.master = told->front();
  if (environment.master.has_value() && !why.empty()) {
    for (const comm::HostAndPort& place : environment.places) {
      if (absl::Status status = CheckReachable(place, source); !status.ok()) return status;
    }
    return absl::OkStatus();
  }
  if (environment.master.has_value()) return absl::OkStatus();
  absl::StatusOr<std::optional<comm::HostAndPort>> found = MasterOfLauncher(get);
  if (!found.ok()) return found.status();
  if (why.empty()) return absl::OkStatus();
  environment.master = *found;
  if (environment.master.has_value()) environment.places = {*environment.master};
  if (environment.master.has_value())
    return CheckReachable(*environment.master, get("MASTER_ADDR") != nullptr ? "MASTER_ADDR" : "Slurm");
  return absl::InvalidArgumentError(
      absl::StrCat(environment.source, ": ", why,
                   " means ranks on several hosts: say where rank 0 is, with --master HOST:PORT, SGD_MASTER, or "
                   "MASTER_ADDR and MASTER_PORT"));
}

absl::StatusOr<RankEnvironment> FromVariables(const RankFlags& flags, uint32_t mesh_ranks, const GetVariable& get) {
  std::vector<Claim> claims;
  for (const Family& family : Families()) {
    absl::Status status = ReadFamily(family, flags.ranks.has_value(), get, &claims);
    if (!status.ok()) return status;
  }
  if (absl::Status status = CheckAgreement(claims); !status.ok()) return status;
  if (claims.empty()) {
    if (flags.ranks.has_value()) return LauncherOf(*flags.ranks, "-n");
    RankEnvironment environment = LauncherOf(mesh_ranks, "the mesh");
    environment.has_size_of_mesh = true;
    return environment;
  }
  const Claim& claim = claims.front();
  if (flags.ranks.has_value() && (claim.size == 1 || claim.may_be_batch_script)) {
    return LauncherOf(*flags.ranks, "-n");
  }
  if (flags.ranks.has_value() && *flags.ranks != claim.size) {
    return absl::InvalidArgumentError(absl::StrCat("-n ", *flags.ranks, ", but ", Describe(claim),
                                                   ": leave out -n where a launcher starts the ranks"));
  }
  RankEnvironment environment;
  environment.rank = claim.rank;
  environment.size = claim.size;
  environment.rendezvous = claim.rendezvous;
  environment.source = claim.source;
  environment.local_rank = claim.local_rank;
  if (absl::Status status = FindMasterOf(claim.several_hosts, flags, get, environment); !status.ok()) return status;
  return environment;
}

absl::StatusOr<RankEnvironment> Detect(const RankFlags& flags, uint32_t mesh_ranks, const GetVariable& get) {
  if (flags.nodes.has_value()) {
    absl::StatusOr<RankEnvironment> environment = FromNodes(flags, mesh_ranks);
    if (!environment.ok() || environment->nodes == 1) return environment;
    absl::Status status = FindMasterOf("--nnodes", flags, get, *environment);
    return status.ok() ? environment : status;
  }
  if (!flags.rank.has_value() && !flags.world_size.has_value()) return FromVariables(flags, mesh_ranks, get);
  absl::StatusOr<RankEnvironment> environment = FromRankFlags(flags);
  if (!environment.ok()) return environment;
  absl::Status status = FindMasterOf("", flags, get, *environment);
  return status.ok() ? environment : status;
}

absl::StatusOr<RankEnvironment> DetectWithName(const RankFlags& flags, uint32_t mesh_ranks,
                                               const GetVariable& get_variable) {
  absl::StatusOr<RankEnvironment> environment = Detect(flags, mesh_ranks, get_variable);
  if (!environment.ok()) return environment;
  if (flags.rendezvous.has_value()) {
    environment->rendezvous = *flags.rendezvous;
  } else if (const char* name = get_variable("SGD_RENDEZVOUS"); name != nullptr) {
    environment->rendezvous = name;
  }
  return environment;
}

const char* GetEnvironmentVariable(const char* name) { return getenv(name); }

absl::StatusOr<RankEnvironment> DetectWithoutArtifact(const RankFlags& flags, const GetVariable& get_variable) {
  return DetectWithName(flags, /*mesh_ranks=*/flags.nodes.value_or(1), get_variable);
}

}  // namespace

absl::StatusOr<RankEnvironment> DetectRankEnvironment(const RankFlags& flags, uint32_t mesh_ranks,
                                                      const GetVariable& get_variable) {
  absl::StatusOr<RankEnvironment> environment = DetectWithName(flags, mesh_ranks, get_variable);
  if (!environment.ok()) return environment;
  absl::Status status = CheckMeshRanks(environment->source, environment->size, mesh_ranks);
  if (!status.ok()) return status;
  return environment;
}

absl::StatusOr<RankEnvironment> DetectRankEnvironment(const RankFlags& flags, uint32_t mesh_ranks) {
  return DetectRankEnvironment(flags, mesh_ranks, GetEnvironmentVariable);
}

absl::StatusOr<RankEnvironment> DetectWithoutArtifact(const RankFlags& flags) {
  return DetectWithoutArtifact(flags, GetEnvironmentVariable);
}

absl::StatusOr<std::optional<uint32_t>> DetectRanks(const RankFlags& flags, const GetVariable& get_variable) {
  absl::StatusOr<RankEnvironment> environment = DetectWithoutArtifact(flags, get_variable);
  if (!environment.ok()) return environment.status();
  return environment->has_size_of_mesh ? std::nullopt : std::optional(environment->size);
}

absl::StatusOr<std::optional<uint32_t>> DetectRanks(const RankFlags& flags) {
  return DetectRanks(flags, GetEnvironmentVariable);
}

}  // namespace sgd::launch
