// A table of environments and what they mean; contradictions by message.
#include "runtime/launch/rank_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

#include "absl/strings/str_cat.h"

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
  EXPECT_EQ(Message({}, 4, {{"RANK", "x"}, {"WORLD_SIZE", "4"}}), "RANK=x is not a number");
  EXPECT_EQ(Message({}, 4, {{"RANK", "-1"}, {"WORLD_SIZE", "4"}}), "RANK=-1 is not a number");
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

TEST(RankEnvironment, RefusesSeveralHosts) {
  const auto expect = [](const Variables& variables, const std::string& variable) {
    EXPECT_THAT(Message({}, 4, variables),
                HasSubstr(variable + " means ranks on several hosts, which is not supported yet"));
  };
  expect({{"RANK", "1"}, {"WORLD_SIZE", "4"}, {"LOCAL_WORLD_SIZE", "2"}}, "LOCAL_WORLD_SIZE=2");
  expect({{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "4"}, {"SLURM_NNODES", "2"}}, "SLURM_NNODES=2");
  expect({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"}},
         "OMPI_COMM_WORLD_LOCAL_SIZE=1");
}

}  // namespace
}  // namespace sgd::launch
