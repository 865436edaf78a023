// Jobs whose ranks meet over TCP, on loopback: as two launchers of two ranks each, and one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "job_process.h"
#include "runtime/comm/hosts/transport.h"

namespace sgd::process {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

comm::HostAndPort FreePlace() {
  const comm::UniqueFd socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  if (bind(socket.get(), reinterpret_cast<sockaddr*>(&address), length) != 0) std::abort();
  getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length);
  return {"127.0.0.1", ntohs(address.sin_port)};
}

void WaitForListener(const comm::HostAndPort& place) {
  const comm::SocketAddress address = comm::Resolve(place)->front();
  while (true) {
    const comm::UniqueFd socket(::socket(address.family(), SOCK_STREAM, 0));
    if (connect(socket.get(), address.get(), address.length) == 0) return;
    absl::SleepFor(absl::Milliseconds(2));
  }
}

JobOptions WithoutWindow() {
  JobOptions options = Options();
  options.window_bytes = 0;
  return options;
}

// Four ranks, started by two launchers or each alone.
class TcpJobs : public testing::TestWithParam<bool> {
 protected:
  std::vector<JobProcess> Start(const RankMain& rank_main, const JobOptions& options = WithoutWindow()) {
    const comm::HostAndPort place = FreePlace();
    std::vector<JobProcess> jobs;
    for (uint32_t i = 0; i < (GetParam() ? 2u : 4u); ++i) {
      RankEnvironment environment = Alone(i, 4);
      environment.master = place;
      if (GetParam()) {
        environment.is_launcher = true;
        environment.nodes = 2;
        environment.rank = 2 * i;
      }
      jobs.emplace_back(environment, options, rank_main);
    }
    return jobs;
  }
};

INSTANTIATE_TEST_SUITE_P(Launch, TcpJobs, testing::Bool(),
                         [](const auto& info) { return info.param ? "TwoLaunchers" : "OneByOne"; });

TEST_P(TcpJobs, EndWell) {
  const auto rank_main = [](RankContext& context) -> absl::Status {
    const auto all = context.control->AllGatherBytes(absl::StrCat(context.rank), kTimeout);
    if (!all.ok()) return all.status();
    if (*all != std::vector<std::string>{"0", "1", "2", "3"}) return absl::InternalError("wrong ranks");
    if (context.size != 4 || context.local_size != 4) return absl::InternalError("wrong sizes");
    absl::SleepFor(absl::Milliseconds(context.rank * 50));  // rank 0 first, through which the others talk
    return absl::OkStatus();
  };
  for (JobProcess& job : Start(rank_main)) {
    EXPECT_EQ(job.Wait(), 0);
    EXPECT_EQ(job.ReadErrors(), "");
  }
}

TEST_P(TcpJobs, AllReportTheFirstError) {
  const auto rank_main = [](RankContext& context) -> absl::Status {
    if (context.rank == 3) return absl::InvalidArgumentError("step 3: mlp.py:31:8: bad input");
    return context.control->Barrier(kTimeout);
  };
  for (JobProcess& job : Start(rank_main)) {
    EXPECT_EQ(job.Wait(), 1);
    EXPECT_THAT(job.ReadErrors(), HasSubstr("rank 3: step 3: mlp.py:31:8: bad input"));
  }
}

TEST_P(TcpJobs, ADeathEndsRanksThatCompute) {
  for (uint32_t dead : {0u, 2u}) {
    PidBoard board;
    const auto rank_main = [&](RankContext& context) -> absl::Status {
      if (absl::Status status = context.control->Barrier(kTimeout); !status.ok()) return status;
      board.Announce(context.rank);
      ComputeForever();
    };
    std::vector<JobProcess> jobs = Start(rank_main);
    std::vector<comm::UniqueFd> processes;
    for (uint32_t rank = 0; rank < 4; ++rank) processes.push_back(board.Open(rank));
    kill(board.WaitFor(dead), SIGKILL);
    for (const comm::UniqueFd& process : processes) EXPECT_TRUE(EndsWithin(process, kLoaded));
    for (size_t i = 0; i < jobs.size(); ++i) {
      const int code = jobs[i].Wait();
      if (code == -SIGKILL) continue;  // the dead one itself
      EXPECT_EQ(code, 1);
      EXPECT_THAT(jobs[i].ReadErrors(), HasSubstr(absl::StrCat("rank ", dead, ": ")));
    }
  }
}

// Whichever process is asked to, and though ranks wait for nobody in their steps.
TEST_P(TcpJobs, ASignalStopsAllAfterTheSameStep) {
  for (const size_t asked : {0, 1}) {
    StepBoard steps;
    const auto rank_main = [&](RankContext& context) -> absl::Status {
      for (uint64_t step = 0;; ++step) {
        const absl::StatusOr<bool> goes_on = context.control->BeginStep(step, kTimeout);
        if (!goes_on.ok()) return goes_on.status();
        if (!*goes_on) return Interrupted();
        absl::SleepFor(absl::Microseconds(100 + 30 * context.rank));
        steps.done[context.rank] = step + 1;
      }
    };
    JobOptions options = WithoutWindow();
    options.stops_between_steps = true;
    std::vector<JobProcess> jobs = Start(rank_main, options);
    steps.WaitForSome(4);
    kill(jobs[asked].pid(), SIGTERM);
    for (JobProcess& job : jobs) {
      EXPECT_EQ(job.Wait(), kExitInterrupted);
      EXPECT_EQ(job.ReadErrors(), "");
    }
    for (uint32_t rank = 1; rank < 4; ++rank) EXPECT_EQ(steps.done[rank], steps.done[0]);
  }
}

TEST_P(TcpJobs, AStoppedRankIsNamedAtTheDeadline) {
  PidBoard board;
  const auto rank_main = [&](RankContext& context) -> absl::Status {
    if (absl::Status status = context.control->Barrier(kTimeout); !status.ok()) return status;
    board.Announce(context.rank);
    if (context.rank == 1) kill(getpid(), SIGSTOP);
    return context.control->Barrier(absl::Milliseconds(500));
  };
  std::vector<JobProcess> jobs = Start(rank_main);
  const pid_t stopped = board.WaitFor(1);
  for (size_t i = 0; i < jobs.size(); ++i) {
    if (!GetParam() && i == 1) continue;
    EXPECT_EQ(jobs[i].Wait(), 1);
    EXPECT_THAT(jobs[i].ReadErrors(), HasSubstr("rank 1 did not arrive within 500ms"));
  }
  kill(stopped, SIGCONT);
}

// Nobody on the first host could know of it but from the launcher of the second.
TEST(TcpLaunch, ARankThatIsKilledBeforeItConnectsIsNamedOnAllHosts) {
  const comm::HostAndPort place = FreePlace();
  const auto start = [&](uint32_t node) {
    RankEnvironment environment = Alone(2 * node, 4);
    environment.master = place;
    environment.is_launcher = true;
    environment.nodes = 2;
    return JobProcess(environment, WithoutWindow(),
                      [](RankContext& context) { return context.control->Barrier(kTimeout); });
  };
  std::vector<JobProcess> jobs;
  jobs.push_back(start(1));
  // Rank 0 is not there yet, so it cannot have connected.
  const pid_t victim = LastChildOf(jobs[0].pid(), 2);
  kill(victim, SIGSTOP);
  jobs.push_back(start(0));
  WaitForListener(place);
  const absl::Time begin = absl::Now();
  kill(victim, SIGKILL);
  for (JobProcess& job : jobs) {
    EXPECT_EQ(job.Wait(), 1);
    EXPECT_THAT(job.ReadErrors(), HasSubstr(absl::StrCat("rank 3: killed by signal 9 (Killed), process ", victim)));
  }
  EXPECT_LT(absl::Now() - begin, kLoaded);
}

absl::Status SumRanks(RankContext& context) {
  comm::CollectiveSpec spec;
  spec.axes = {{0, 1, 4}};
  spec.operands.emplace_back().count = 1000;
  auto sum = context.communicator->Prepare(comm::Mesh{{4}}, spec);
  if (!sum.ok()) return sum.status();
  float* values = reinterpret_cast<float*>(context.communicator->window());
  for (int i = 0; i < 1000; ++i) values[i] = static_cast<float>(context.rank + i);
  if (absl::Status status = context.communicator->Execute(*sum, kTimeout); !status.ok()) return status;
  for (int i = 0; i < 1000; ++i) {
    if (values[i] != static_cast<float>(6 + 4 * i)) return absl::InternalError("wrong sum");
  }
  return absl::OkStatus();
}

// Those of one launcher, or started one by one on one host, share its memory; launchers reach each other by a
// transport.
TEST_P(TcpJobs, RanksWithWindowsReduce) {
  if (GetParam() && !comm::OpenTransportPlugin().ok()) GTEST_SKIP() << "no transport here";
  for (JobProcess& job : Start(SumRanks, Options())) {
    EXPECT_EQ(job.Wait(), 0);
    EXPECT_EQ(job.ReadErrors(), "");
  }
}

}  // namespace
}  // namespace sgd::process
