// A table of environments and what they mean; contradictions by message.
#include "runtime/launch/rank_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "runtime/launch/master_address.h"

namespace sgd::launch {
namespace {

using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

absl::StatusOr<RankEnvironment> Detect(const RankFlags& flags, uint32_t mesh_ranks, const Variables& variables) {
  return DetectRankEnvironment(flags, mesh_ranks, [&](const char* name) {
    const auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second.c_str();
  });
}

std::optional<uint32_t> RanksOf(const RankFlags& flags, const Variables& variables) {
  const auto ranks = DetectRanks(flags, [&](const char* name) {
    const auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second.c_str();
  });
  EXPECT_TRUE(ranks.ok()) << ranks.status();
  return ranks.ok() ? *ranks : std::nullopt;
}

TEST(DetectRanks, SaysWhoLeavesThemToTheMesh) {
  RankFlags launcher, host, hosts, rank;
  launcher.ranks = 4;
  host.nodes = 1, host.node_rank = 0;
  hosts.ranks = 4, hosts.nodes = 2, hosts.node_rank = 0, hosts.master = "host0:29500";
  rank.rank = 1, rank.world_size = 3;
  EXPECT_EQ(RanksOf({}, {}), std::nullopt);
  EXPECT_EQ(RanksOf(launcher, {}), 4u);
  EXPECT_EQ(RanksOf(host, {}), std::nullopt);
  EXPECT_EQ(RanksOf(hosts, {}), 8u);
  EXPECT_EQ(RanksOf(rank, {}), 3u);
  EXPECT_EQ(RanksOf({}, {{"SGD_RANK", "1"}, {"SGD_WORLD_SIZE", "2"}, {"SGD_RENDEZVOUS", "job"}}), 2u);
}

struct RankCase {
  std::string name;
  Variables variables;
  uint32_t rank;
  uint32_t size;
  std::string rendezvous;
};

class OneRank : public testing::TestWithParam<RankCase> {};

TEST_P(OneRank, IsRecognised) {
  const RankCase& test = GetParam();
  auto environment = Detect({}, test.size, test.variables);
  ASSERT_TRUE(environment.ok()) << environment.status();
  EXPECT_FALSE(environment->is_launcher);
  EXPECT_EQ(environment->rank, test.rank);
  EXPECT_EQ(environment->size, test.size);
  EXPECT_EQ(environment->rendezvous, test.rendezvous);
}

const std::string kSiblings = absl::StrCat("-", getppid());

INSTANTIATE_TEST_SUITE_P(
    Families, OneRank,
    testing::Values(
        RankCase{"own", {{"SGD_RANK", "1"}, {"SGD_WORLD_SIZE", "4"}, {"SGD_RENDEZVOUS", "job-7"}}, 1, 4, "job-7"},
        RankCase{"torchrun",
                 {{"RANK", "3"},
                  {"WORLD_SIZE", "4"},
                  {"LOCAL_RANK", "3"},
                  {"LOCAL_WORLD_SIZE", "4"},
                  {"MASTER_ADDR", "127.0.0.1"},
                  {"MASTER_PORT", "29500"}},
                 3,
                 4,
                 "torchrun-127.0.0.1-29500"},
        RankCase{"torchrun_without_port", {{"RANK", "0"}, {"WORLD_SIZE", "2"}}, 0, 2, "torchrun" + kSiblings},
        RankCase{"slurm",
                 {{"SLURM_PROCID", "2"},
                  {"SLURM_NTASKS", "8"},
                  {"SLURM_LOCALID", "2"},
                  {"SLURM_NNODES", "1"},
                  {"SLURM_JOB_ID", "99"},
                  {"SLURM_STEP_ID", "0"}},
                 2,
                 8,
                 "Slurm-99-0"},
        RankCase{"slurm_step_of_an_allocation",
                 {{"SLURM_PROCID", "1"},
                  {"SLURM_NTASKS", "8"},
                  {"SLURM_STEP_NUM_TASKS", "2"},
                  {"SLURM_NNODES", "2"},
                  {"SLURM_STEP_NUM_NODES", "1"},
                  {"SLURM_JOB_ID", "99"},
                  {"SLURM_STEP_ID", "1"}},
                 1,
                 2,
                 "Slurm-99-1"},
        RankCase{"openmpi",
                 {{"OMPI_COMM_WORLD_RANK", "1"},
                  {"OMPI_COMM_WORLD_SIZE", "2"},
                  {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                  {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                  {"PMIX_NAMESPACE", "prterun-1"}},
                 1,
                 2,
                 "Open MPI-prterun-1"},
        RankCase{"pmi", {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}, 1, 2, "PMI" + kSiblings},
        RankCase{"kubernetes",
                 {{"JOB_COMPLETION_INDEX", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "job-0"}},
                 1,
                 2,
                 "Kubernetes-job-0"},
        RankCase{
            "torchrun_in_a_slurm_step_of_one",
            {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "1"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}},
            1,
            2,
            "torchrun-1"},
        RankCase{
            "torchrun_in_a_batch_script",
            {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", "1"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}},
            1,
            2,
            "torchrun-1"},
        RankCase{
            "slurm_with_pmi",
            {{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}, {"SLURM_JOB_ID", "5"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}},
            1,
            2,
            "Slurm-5"}),
    [](const testing::TestParamInfo<RankCase>& info) { return info.param.name; });

TEST(RankEnvironment, WithoutALauncherTheMeshDecides) {
  auto environment = Detect({}, 4, {});
  ASSERT_TRUE(environment.ok());
  EXPECT_TRUE(environment->is_launcher);
  EXPECT_EQ(environment->size, 4u);
}

TEST(RankEnvironment, FlagsComeFirst) {
  RankFlags flags;
  flags.ranks = 4;
  auto launcher = Detect(flags, 4, {});
  ASSERT_TRUE(launcher.ok());
  EXPECT_TRUE(launcher->is_launcher);
  launcher = Detect(flags, 4, {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}});  // a batch script
  ASSERT_TRUE(launcher.ok());
  EXPECT_TRUE(launcher->is_launcher);
  launcher = Detect(flags, 4, {{"JOB_COMPLETION_INDEX", "1"}});  // a pod of its own
  ASSERT_TRUE(launcher.ok());
  EXPECT_TRUE(launcher->is_launcher);
  auto rank = Detect(flags, 4, {{"RANK", "2"}, {"WORLD_SIZE", "4"}});
  ASSERT_TRUE(rank.ok());
  EXPECT_FALSE(rank->is_launcher);
  EXPECT_EQ(rank->rank, 2u);

  RankFlags one;
  one.rank = 1;
  one.world_size = 2;
  one.rendezvous = "mine";
  auto explicit_rank = Detect(one, 2, {{"RANK", "0"}, {"WORLD_SIZE", "4"}});
  ASSERT_TRUE(explicit_rank.ok());
  EXPECT_EQ(explicit_rank->rank, 1u);
  EXPECT_EQ(explicit_rank->rendezvous, "mine");
}

std::string Message(const RankFlags& flags, uint32_t mesh_ranks, const Variables& variables) {
  const absl::Status status = Detect(flags, mesh_ranks, variables).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(RankEnvironment, RefusesContradictions) {
  EXPECT_EQ(Message({}, 4, {{"RANK", "4"}, {"WORLD_SIZE", "4"}}),
            "torchrun: rank 4 is not below the number of ranks, which is 4");
  EXPECT_EQ(Message({}, 4, {{"RANK", "x"}, {"WORLD_SIZE", "4"}}),
            "RANK=x is out of range; expected an integer from 0 to 4294967295");
  EXPECT_EQ(Message({}, 4, {{"RANK", "-1"}, {"WORLD_SIZE", "4"}}),
            "RANK=-1 is out of range; expected an integer from 0 to 4294967295");
  EXPECT_EQ(Message({}, 4, {{"RANK", "4294967296"}, {"WORLD_SIZE", "4"}}),
            "RANK=4294967296 is out of range; expected an integer from 0 to 4294967295");
  EXPECT_EQ(Message({}, 4, {{"RANK", "1"}}), "torchrun: RANK is set but WORLD_SIZE is not");
  EXPECT_EQ(Message({}, 4,
                    {{"RANK", "1"}, {"WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}}),
            "torchrun says rank 1 of 4, but Open MPI says rank 2 of 4: unset the variables of one of "
            "them");
  EXPECT_THAT(Message({}, 4, {{"RANK", "1"}, {"WORLD_SIZE", "4"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}),
              HasSubstr("Slurm says rank 0 of 8"));
  EXPECT_EQ(Message({}, 4, {{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}}),
            "the artifact's mesh has 4 ranks, but Slurm says 2: compile for another mesh or start 4");
  RankFlags flags;
  flags.ranks = 2;
  EXPECT_THAT(Message(flags, 4, {}), HasSubstr("the artifact's mesh has 4 ranks, but -n says 2"));
  EXPECT_THAT(Message(flags, 2, {{"RANK", "1"}, {"WORLD_SIZE", "4"}}),
              HasSubstr("-n 2, but torchrun says rank 1 of 4"));
  flags.rank = 0;
  EXPECT_THAT(Message(flags, 2, {}), HasSubstr("--rank and --world-size go together"));
  flags.world_size = 3;
  EXPECT_THAT(Message(flags, 2, {}), HasSubstr("-n 2 contradicts --world-size 3"));
}

TEST(RankEnvironment, SeveralHostsMustSayWhereRank0Is) {
  const auto expect = [](const Variables& variables, const std::string& variable) {
    EXPECT_THAT(Message({}, 4, variables),
                HasSubstr(variable + " means ranks on several hosts: say where rank 0 is, with --master HOST:PORT"));
  };
  expect({{"RANK", "1"}, {"WORLD_SIZE", "4"}, {"LOCAL_WORLD_SIZE", "2"}}, "LOCAL_WORLD_SIZE=2");
  expect({{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "4"}, {"SLURM_NNODES", "2"}}, "SLURM_NNODES=2");
  expect({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}},
         "OMPI_COMM_WORLD_LOCAL_SIZE=1");
}

struct HostsCase {
  std::string name;
  Variables variables;
  std::string master;  // empty: all ranks are on one host
  std::optional<uint32_t> local_rank;
};

class SeveralHosts : public testing::TestWithParam<HostsCase> {};

TEST_P(SeveralHosts, MeetAtRank0) {
  const HostsCase& test = GetParam();
  auto environment = Detect({}, 4, test.variables);
  ASSERT_TRUE(environment.ok()) << environment.status();
  EXPECT_FALSE(environment->is_launcher);
  EXPECT_EQ(environment->master.has_value() ? environment->master->Text() : "", test.master);
  EXPECT_EQ(environment->local_rank, test.local_rank);
}

INSTANTIATE_TEST_SUITE_P(
    Families, SeveralHosts,
    testing::Values(
        HostsCase{"told",
                  {{"SGD_RANK", "1"}, {"SGD_WORLD_SIZE", "4"}, {"SGD_LOCAL_RANK", "0"}, {"SGD_MASTER", "[fd00::1]:77"}},
                  "[fd00::1]:77",
                  0},
        HostsCase{"torchrun",
                  {{"RANK", "3"},
                   {"WORLD_SIZE", "4"},
                   {"LOCAL_RANK", "1"},
                   {"LOCAL_WORLD_SIZE", "2"},
                   {"MASTER_ADDR", "node0"},
                   {"MASTER_PORT", "29600"}},
                  "node0:29600",
                  1},
        HostsCase{"torchrun_whose_store_has_the_port",
                  {{"RANK", "3"},
                   {"WORLD_SIZE", "4"},
                   {"LOCAL_WORLD_SIZE", "2"},
                   {"MASTER_ADDR", "node0"},
                   {"MASTER_PORT", "29600"},
                   {"TORCHELASTIC_USE_AGENT_STORE", "True"}},
                  "node0:29601",
                  std::nullopt},
        HostsCase{"torchrun_on_one_host",
                  {{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"LOCAL_WORLD_SIZE", "4"}, {"MASTER_ADDR", "node0"}},
                  "",
                  std::nullopt},
        HostsCase{"slurm",
                  {{"SLURM_PROCID", "2"},
                   {"SLURM_NTASKS", "4"},
                   {"SLURM_LOCALID", "0"},
                   {"SLURM_NNODES", "2"},
                   {"SLURM_STEP_NODELIST", "gpu[07-08]"},
                   {"SLURM_JOB_ID", "100"},
                   {"SLURM_STEP_ID", "1"}},
                  "gpu07:23101",
                  0},
        HostsCase{"open_mpi",
                  {{"OMPI_COMM_WORLD_RANK", "2"},
                   {"OMPI_COMM_WORLD_SIZE", "4"},
                   {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                   {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                   {"MASTER_ADDR", "10.0.0.1"}},
                  "10.0.0.1:29500",
                  0},
        HostsCase{"kubernetes",
                  {{"JOB_COMPLETION_INDEX", "2"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "job-0.job"}},
                  "job-0.job:29500",
                  std::nullopt}),
    [](const testing::TestParamInfo<HostsCase>& info) { return info.param.name; });

TEST(RankEnvironment, HostsThatStartAsManyRanksEach) {
  RankFlags flags;
  flags.nodes = 2;
  flags.node_rank = 1;
  flags.master = "host0:29500";
  auto environment = Detect(flags, 6, {{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}});
  ASSERT_TRUE(environment.ok()) << environment.status();
  EXPECT_TRUE(environment->is_launcher);
  EXPECT_EQ(environment->rank, 3u);
  EXPECT_EQ(environment->size, 6u);
  EXPECT_EQ(environment->StartedHere(), 3u);
  EXPECT_EQ(environment->master->Text(), "host0:29500");
  flags.nodes = 1;
  flags.node_rank = 0;
  environment = Detect(flags, 6, {});
  ASSERT_TRUE(environment.ok()) << environment.status();
  EXPECT_EQ(environment->StartedHere(), 6u);
}

TEST(RankEnvironment, SparesAndSeveralPlacesOfLaunchers) {
  RankFlags flags;
  flags.nodes = 2;
  flags.node_rank = 2;
  flags.spares = 1;
  flags.master = "host0:29500,[::1]:29501";
  EXPECT_THAT(Message(flags, 6, {}), HasSubstr("'::1' is loopback"));
  flags.master = "host0:29500,host1:29501";
  auto environment = Detect(flags, 6, {});
  ASSERT_TRUE(environment.ok()) << environment.status();
  EXPECT_TRUE(environment->is_launcher && environment->is_spare);
  EXPECT_EQ(environment->node, 2u);
  EXPECT_EQ(environment->master->Text(), "host0:29500");
  ASSERT_EQ(environment->places.size(), 2u);
  EXPECT_EQ(environment->places[1].Text(), "host1:29501");
  flags.node_rank = 3;
  EXPECT_EQ(Message(flags, 6, {}),
            "--nnodes 2 needs --node-rank, the number of this host, which is 3; expected a number from 0 to 1, of a "
            "spare from "
            "2 to 2");
  RankFlags rank;
  rank.rank = 0;
  rank.world_size = 6;
  rank.master = flags.master;
  EXPECT_EQ(Message(rank, 6, {}),
            "--master: several places are for launchers (--nnodes); expected one HOST:PORT; give that of rank 0");
}

TEST(RankEnvironment, RefusesHostsThatDoNotFit) {
  RankFlags flags;
  flags.nodes = 2;
  EXPECT_EQ(Message(flags, 4, {}), "--nnodes 2 needs --node-rank, the number of this host from 0 to 1");
  flags.node_rank = 2;
  EXPECT_EQ(Message(flags, 4, {}),
            "--nnodes 2 needs --node-rank, the number of this host, which is 2; expected a number from 0 to 1");
  flags.node_rank = 1;
  EXPECT_THAT(Message(flags, 4, {}), HasSubstr("--nnodes means ranks on several hosts: say where rank 0 is"));
  EXPECT_EQ(Message(flags, 3, {}), "the artifact's mesh has 3 ranks, which are no whole number on each of 2 hosts");
  flags.master = "host0";
  EXPECT_EQ(Message(flags, 4, {}),
            "--master: 'host0' is no address; expected HOST:PORT, or [ADDRESS]:PORT for an IPv6 number");
  flags.master = "host0:1";
  flags.ranks = 4;
  EXPECT_EQ(Message(flags, 4, {}),
            "the artifact's mesh has 4 ranks, but --nnodes 2 -n 4 says 8: compile for another mesh or start 4");
}

TEST(MasterAddress, MustBeReachableForOtherHosts) {
  RankFlags flags;
  flags.ranks = 2;
  flags.nodes = 2;
  flags.node_rank = 1;
  flags.master = "localhost:29500";
  EXPECT_EQ(Message(flags, 4, {}),
            "--master: 'localhost' is loopback, which other hosts cannot reach; expected an address of rank 0's host; "
            "give that");
  flags.master = "0.0.0.0:29500";
  EXPECT_EQ(Message(flags, 4, {}),
            "--master: '0.0.0.0' stands for all addresses of a host; expected one that other hosts can reach; give "
            "that");
  Variables variables = {{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"LOCAL_WORLD_SIZE", "2"}, {"MASTER_ADDR", "10.0.0.300"}};
  EXPECT_EQ(Message({}, 4, variables), "MASTER_ADDR: '10.0.0.300' is no host; expected a name or a number; correct it");
  variables["MASTER_ADDR"] = "127.0.0.1";
  EXPECT_THAT(Message({}, 4, variables), testing::HasSubstr("MASTER_ADDR: '127.0.0.1' is loopback"));
}

TEST(MasterAddress, TakesTheFirstHostOfASlurmList) {
  EXPECT_EQ(FirstHost("node7"), "node7");
  EXPECT_EQ(FirstHost("node7,node9"), "node7");
  EXPECT_EQ(FirstHost("node[07-09,12],login"), "node07");
  EXPECT_EQ(FirstHost("rack[2,4]n[1-8].cluster,x"), "rack2n1.cluster");
  EXPECT_EQ(FirstHost(""), "");
}

}  // namespace
}  // namespace sgd::launch
