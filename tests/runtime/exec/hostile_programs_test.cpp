// Artifacts whose hashes are right and whose programs lie: each is refused, or does as it says within its own memory
// and time. Runs in child processes, so that a crash and a hang are failures of the test that name the seed and the
// case:
//   SGD_HOSTILE_SEED=S SGD_HOSTILE_CASES=N SGD_HOSTILE_FIRST=C sgd_runtime_hostile_test --gtest_filter=TEST
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "runtime/artifact/accesses.h"
#include "runtime/artifact/control_flow.h"
#include "runtime/artifact/saturating.h"
#include "runtime/artifact/verify_work.h"
#include "runtime/exec/executor.h"
#include "tests/runtime/artifact/program_mutator.h"
#include "tests/runtime/artifact/varied_artifacts.h"
#include "tests/runtime/comm/rank_threads.h"
#include "tests/runtime/exec/guarded_device.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SGD_HAS_ADDRESS_SANITIZER
// A scratch memory that is too large is refused, as malloc does.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1:max_allocation_size_mb=1024"; }
#endif
#endif

namespace sgd::exec {
namespace {

#ifdef SGD_HAS_ADDRESS_SANITIZER
constexpr uint64_t kCases = 10'000;
#else
constexpr uint64_t kCases = 2'000;
#endif
// Of the changes of single numbers, the first of so many is made.
constexpr uint64_t kStride = 11;
// Longer ones are not executed: bytes and multiplications of a step.
constexpr uint64_t kMostWork = uint64_t{1} << 25;
constexpr uint64_t kMostArenaBytes = uint64_t{1} << 24;
constexpr uint64_t kMostRanks = 2;
// Of a case, on a busy machine.
constexpr absl::Duration kMostTime = absl::Seconds(60);
constexpr uint64_t kCasesPerChild = 250;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Memory in which child processes report.
struct Shared {
  std::atomic<uint64_t> next_case;
  std::atomic<uint64_t> accepted, executed;
};

// Whether a step ends soon; loops of unknown trips may not end at all.
bool IsShort(const artifact::Program& program) {
  uint64_t work = 0;
  const std::vector<uint64_t> executions = artifact::ExecutionsOf(program);
  for (uint64_t i = 0; i < artifact::Size(program.instructions()); ++i) {
    const artifact::Instruction& instruction = *program.instructions()->Get(static_cast<uint32_t>(i));
    const artifact::Loop* loop = instruction.op_as_Loop();
    if (loop != nullptr && (loop->predicate() != nullptr || loop->trips() > kMostWork)) return false;
    const artifact::Accesses accesses = artifact::AccessesOf(instruction);
    uint64_t once = artifact::SaturatingSum(artifact::MultiplicationsOf(instruction), 1000);
    for (const auto* slices : {&accesses.reads, &accesses.writes}) {
      for (const artifact::Slice& slice : *slices) once = artifact::SaturatingSum(once, slice.size());
    }
    work = artifact::SaturatingSum(work, artifact::SaturatingProduct({executions[i], once}));
  }
  return work <= kMostWork;
}

absl::Status RunProgram(ExecutionContext& context, const artifact::Program& program) {
  absl::StatusOr<std::unique_ptr<Executor>> executor =
      Executor::Create(context, program.name()->string_view(), {.timeout = absl::Seconds(2)});
  if (!executor.ok()) return executor.status();
  for (uint64_t step = 0; step < 2; ++step) {
    if (absl::Status status = (*executor)->Run(step); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// The private memory of a rank: what no instruction says that it writes stays as it is.
class WrittenBytes {
 public:
  explicit WrittenBytes(ExecutionContext& context)
      : memory_(context.memory().private_base), written_(PrivateBytes(context)) {
    std::memset(memory_, kUntouched, written_.size());
    for (const artifact::Program* program : *context.file().root().programs()) {
      if (program->stage() != context.stage()) continue;
      for (uint32_t i = 0; i < artifact::Size(program->instructions()); ++i) {
        for (const artifact::Slice& slice : artifact::AccessesOf(*program->instructions()->Get(i)).writes) {
          if (slice.space() == artifact::Space::Private)
            std::fill_n(written_.begin() + static_cast<int64_t>(slice.offset()), slice.size(), true);
        }
      }
    }
  }

  void Check() const {
    for (size_t at = 0; at < written_.size(); ++at) {
      if (!written_[at]) ASSERT_EQ(memory_[at], std::byte{kUntouched}) << "byte " << at << " of the private memory";
    }
  }

 private:
  static uint64_t PrivateBytes(const ExecutionContext& context) {
    const artifact::Artifact& root = context.file().root();
    if (context.stage() < 0) return root.private_bytes();
    return root.stages()->Get(static_cast<uint32_t>(context.stage()))->private_bytes();
  }

  // Of two bytes a small float, of four a number that is none for an index.
  static constexpr uint8_t kUntouched = 0x2d;
  std::byte* memory_;
  std::vector<bool> written_;
};

void RunRank(const artifact::ArtifactFile& file, bool has_kernels, comm::SharedMemoryCommunicator& communicator) {
  auto cpu = cpu::CpuDevice::Create({.threads = 2, .null_kernels = !has_kernels});
  ASSERT_TRUE(cpu.ok()) << cpu.status();
  testing::GuardedDevice device(*std::move(cpu));
  absl::StatusOr<std::unique_ptr<ExecutionContext>> context = ExecutionContext::Create(file, device, communicator);
  absl::Status status = context.status();
  if (status.ok()) {
    const WrittenBytes written(**context);
    for (const artifact::Program* program : *file.root().programs()) {
      if (status.ok() && IsShort(*program)) status = RunProgram(**context, *program);
    }
    written.Check();
  }
  if (!status.ok()) communicator.EndJob(status);
}

// The artifact of a case, by its number.
using MakeCase = std::function<testing::Mutation(uint64_t number)>;

void RunCase(const testing::Mutation& mutation, Shared& shared) {
  absl::StatusOr<std::unique_ptr<artifact::ArtifactFile>> file =
      artifact::ArtifactFile::FromBytes(mutation.artifact, "hostile.sgda");
  if (!file.ok()) {
    // One line that says what it is about.
    const std::string message(file.status().message());
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_EQ(message.find("hostile.sgda: "), 0u) << message;
    return;
  }
  ++shared.accepted;
  const artifact::Artifact& root = (*file)->root();
  if ((*file)->ranks() > kMostRanks || root.private_bytes() > kMostArenaBytes || root.window_bytes() > kMostArenaBytes)
    return;
  ++shared.executed;
  comm::RunAsThreads(
      static_cast<uint32_t>((*file)->ranks()), root.window_bytes(),
      [&](comm::SharedMemoryCommunicator& communicator) { RunRank(**file, mutation.keeps_kernels, communicator); });
}

[[noreturn]] void RunChild(const MakeCase& make, uint64_t end, Shared& shared) {
  for (; shared.next_case < end; ++shared.next_case) {
    RunCase(make(shared.next_case), shared);
    if (::testing::Test::HasFailure()) break;
  }
  std::fflush(nullptr);
  _exit(::testing::Test::HasFailure() ? 1 : 0);
}

// Waits for the child, which must come to its next case within the time of one.
std::string OutcomeOf(pid_t child, const Shared& shared) {
  uint64_t seen = shared.next_case;
  absl::Time since = absl::Now();
  while (true) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) {
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
      return WIFSIGNALED(status) ? "killed by signal " + std::to_string(WTERMSIG(status))
                                 : "left with exit code " + std::to_string(WEXITSTATUS(status));
    }
    if (shared.next_case != seen) seen = shared.next_case, since = absl::Now();
    if (absl::Now() - since > kMostTime) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return "does not end";
    }
    absl::SleepFor(absl::Milliseconds(2));
  }
}

// Runs cases `first` to `end` in child processes; `describe` says which one it was.
void RunCases(uint64_t first, uint64_t end, const MakeCase& make,
              const std::function<std::string(uint64_t number)>& describe) {
  auto* shared =
      static_cast<Shared*>(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(shared, MAP_FAILED);
  shared->next_case = first;
  while (shared->next_case < end && !::testing::Test::HasFailure()) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) RunChild(make, std::min(end, shared->next_case + kCasesPerChild), *shared);
    const std::string outcome = OutcomeOf(child, *shared);
    EXPECT_EQ(outcome, "") << describe(shared->next_case);
  }
  std::printf("%llu cases, %llu accepted, %llu executed\n", static_cast<unsigned long long>(shared->next_case - first),
              static_cast<unsigned long long>(shared->accepted), static_cast<unsigned long long>(shared->executed));
  if (end - first >= 100) {
    EXPECT_GT(shared->accepted, (end - first) / 50) << "hardly anything is accepted: changes are too coarse";
    EXPECT_GT(shared->executed, 0u);
  }
  munmap(shared, sizeof(Shared));
}

TEST(HostilePrograms, AreRefusedOrStayInTheirMemory) {
  if (!comm::CanRunAsProcesses()) GTEST_SKIP() << "needs processes";
  const uint64_t seed = FromEnvironment("SGD_HOSTILE_SEED", 1), first = FromEnvironment("SGD_HOSTILE_FIRST", 0);
  const uint64_t end = first + FromEnvironment("SGD_HOSTILE_CASES", kCases);
  const std::vector<testing::VariedArtifact> originals = testing::VariedArtifacts();
  const auto original = [&](uint64_t number) { return originals[number % originals.size()]; };
  const MakeCase make = [&](uint64_t number) {
    std::mt19937_64 random(seed * 0x9e3779b97f4a7c15u + number);
    return testing::Mutate(original(number).bytes, random);
  };
  RunCases(first, end, make, [&](uint64_t number) {
    return absl::StrCat("SGD_HOSTILE_SEED=", seed, " SGD_HOSTILE_FIRST=", number, " SGD_HOSTILE_CASES=1 (",
                        original(number).name, ")");
  });
}

// Every number of every program, one at a time; SGD_HOSTILE_STRIDE=1 takes all changes.
TEST(HostilePrograms, EachNumberMayBeAnything) {
  if (!comm::CanRunAsProcesses()) GTEST_SKIP() << "needs processes";
  const std::vector<testing::VariedArtifact> originals = testing::VariedArtifacts();
  struct Change {
    const testing::VariedArtifact* original;
    uint64_t index, change;
  };
  std::vector<Change> changes;
  for (const testing::VariedArtifact& original : originals) {
    const uint64_t count = testing::CountNumbers(original.bytes);
    for (uint64_t i = 0; i < count * testing::kNumberChanges; ++i)
      changes.push_back({&original, i / testing::kNumberChanges, i % testing::kNumberChanges});
  }
  // Prime to the number of changes, so that every number is changed in some way before one is in two.
  const uint64_t stride = FromEnvironment("SGD_HOSTILE_STRIDE", kStride);
  const uint64_t first = FromEnvironment("SGD_HOSTILE_FIRST", 0);
  const uint64_t end = std::min(changes.size() / stride, first + FromEnvironment("SGD_HOSTILE_CASES", changes.size()));
  const MakeCase make = [&](uint64_t number) {
    const Change& change = changes[number * stride];
    return testing::ChangeNumber(change.original->bytes, change.index, change.change);
  };
  RunCases(first, end, make, [&](uint64_t number) {
    const Change& change = changes[number * stride];
    return absl::StrCat("SGD_HOSTILE_STRIDE=", stride, " SGD_HOSTILE_FIRST=", number, " SGD_HOSTILE_CASES=1 (number ",
                        change.index, " of ", change.original->name, ", change ", change.change, ")");
  });
}

}  // namespace
}  // namespace sgd::exec
