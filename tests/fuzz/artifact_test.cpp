// Artifacts of generated programs, damaged where only the inner checks of the reader see it: hashes are made right
// again. Whatever the reader accepts must be described and run without a crash. Kernels are machine code, which no
// reader can judge: they are not called.
#include <gtest/gtest.h>

#include "compiler/driver/driver.h"
#include "runtime/artifact/bundle.h"
#include "tests/differential/ranks.h"
#include "tests/fuzz/families.h"
#include "tests/fuzz/isolation.h"
#include "tests/runtime/artifact/program_mutator.h"
#include "tools/sgd-inspect/describe.h"

namespace mlir::sgd::fuzz {
namespace {

namespace artifact = ::sgd::artifact;

constexpr uint64_t kSeed = 7;
constexpr int kArtifacts = 16, kDamagesOfEach = 120;

/// Some generated program's artifact; empty when it is refused.
std::string compileProgram(uint64_t seed) {
  Choices choices(seed);
  std::string text = generate(seed % getFamilies().size(), choices).text, messages;
  llvm::raw_string_ostream stream(messages);
  CompileOptions options;
  options.threads = 1;
  FailureOr<Compilation> compilation = compile({{"main", "program.mlir", text}}, options, stream);
  return succeeded(compilation) ? compilation->artifact : "";
}

/// Changes one to three bytes or words of the program section, or what the schema knows in it.
std::string forge(const std::string& bytes, Choices& choices) {
  if (choices.below(2) == 0) {
    std::mt19937_64 random(choices.below(~uint64_t{0}));
    return ::sgd::testing::Mutate(bytes, random).artifact;
  }
  std::vector<artifact::Sections> plans =
      *artifact::OpenContainer({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  artifact::Sections& sections = plans[choices.below(plans.size())];
  std::vector<uint8_t> program(sections.program.begin(), sections.program.end());
  for (uint64_t times = 1 + choices.below(3); times > 0; --times) {
    size_t at = choices.below(program.size());
    switch (choices.below(3)) {
      case 0:
        program[at] ^= static_cast<uint8_t>(1u << choices.below(8));
        break;
      case 1:
        program[at] = choices.pick<uint8_t>({0, 1, 2, 4, 8, 64, 127, 128, 255});
        break;
      default:
        for (size_t i = at; i < std::min(at + 4, program.size()); ++i)
          program[i] = static_cast<uint8_t>(choices.below(256));
    }
  }
  sections.program = program;
  return *artifact::BuildContainer(plans);
}

/// Loads, describes and runs a plan; returns what became of it.
std::string usePlan(const std::string& bytes, const artifact::Bundle& bundle, const std::string& plan) {
  auto file = bundle.Load({.name = plan});
  if (!file.ok()) return "refused";
  ::sgd::inspect::Describe(**file, {.program = true, .memory = true, .collectives = true, .explain = true});
  const artifact::Artifact& root = (*file)->root();
  if ((*file)->ranks() > 16 || root.private_bytes() > (64u << 20) || root.window_bytes() > (64u << 20))
    return "too large to run";
  if (!(*file)->FindProgram("main").ok()) return "without main";
  const differential::RunOptions options{.nullKernels = true, .timeoutSeconds = 1, .plan = plan};
  return differential::runOnRanks(bytes, /*inputs=*/{}, options).ok() ? "ran" : "failed";
}

/// What became of the last plan.
std::string use(const std::string& bytes) {
  auto bundle = artifact::Bundle::FromBytes(bytes, "forged.sgda");
  if (!bundle.ok()) return "refused";
  std::string outcome;
  for (const artifact::Plan& plan : bundle->plans()) outcome = usePlan(bytes, *bundle, plan.name);
  return outcome;
}

std::string makeBundle(const std::string& bytes) { return *artifact::BundlePlans({{"first", bytes}, {"last", bytes}}); }

TEST(Artifacts, DamagedOnesDoNotCrash) {
  size_t ran = 0, refused = 0;
  for (uint64_t seed = kSeed, done = 0; done < kArtifacts; ++seed) {
    std::string bytes = compileProgram(seed);
    if (bytes.empty()) continue;
    if (++done % 4 == 0) bytes = makeBundle(bytes);
    size_t count = 0;
    Worker worker([&](const Worker::Report& report) {
      Choices choices(seed);
      for (int i = 0; i < kDamagesOfEach; ++i) report(use(forge(bytes, choices)));
    });
    while (!worker.hasEnded()) {
      for (const std::string& line : worker.readLines(/*waits=*/true)) {
        ++count;
        ran += line == "ran";
        refused += line == "refused";
      }
    }
    EXPECT_EQ(worker.wait(), "") << "artifact of seed " << seed << ", damage " << count;
  }
  // Both sides of the reader's checks were reached.
  EXPECT_GT(ran, 50u);
  EXPECT_GT(refused, 50u);
}

}  // namespace
}  // namespace mlir::sgd::fuzz
