// Changes that break the sample artifact, and what the verifier says of them. The instructions are those of
// sample_artifact.h.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/artifact/writer.h"
#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::artifact {

// The message for the sample after a change; empty when it is still accepted.
inline std::string ErrorAfter(const std::function<void(ArtifactT&, ProgramT&)>& change) {
  ArtifactWriter writer;
  testing::FillSample(writer, 2);
  change(writer.artifact(), *writer.artifact().programs[0]);
  return std::string(writer.Serialize().status().message());
}

inline constexpr size_t kMatmul = 0, kLaunch = 1, kCopy = 2, kAllReduce = 3, kFill = 6;

inline MatmulT& MatmulIn(ProgramT& program) { return *program.instructions[kMatmul]->op.AsMatmul(); }
inline LaunchT& LaunchIn(ProgramT& program) { return *program.instructions[kLaunch]->op.AsLaunch(); }
inline CopyT& CopyIn(ProgramT& program) { return *program.instructions[kCopy]->op.AsCopy(); }
inline CollectiveT& AllReduceIn(ProgramT& program) { return *program.instructions[kAllReduce]->op.AsCollective(); }
inline FillT& FillIn(ProgramT& program) { return *program.instructions[kFill]->op.AsFill(); }

// Makes a shift by one element of the all-reduce.
inline TileRangeT& RangeIn(ProgramT& program) {
  CollectiveT& collective = AllReduceIn(program);
  collective.kind = CollectiveKind::GatherRange;
  CollectiveOperandT& operand = *collective.operands[0];
  operand.source = testing::SliceAt(Space::Window, 0, 128);
  operand.target = testing::SliceAt(Space::Window, 128, 128);
  operand.count = 32;
  operand.inner = 1;
  operand.range = std::make_unique<TileRangeT>();
  operand.range->size = operand.range->tile = operand.range->length = 32;
  operand.range->scale = 32;
  operand.range->offset = 1;
  return *operand.range;
}

// Makes a group of the launch and a copy of it.
inline LaunchGroupT& GroupIn(ProgramT& program) {
  LaunchGroupT group;
  for (int i = 0; i < 2; ++i) group.launches.push_back(std::make_unique<LaunchT>(LaunchIn(program)));
  program.instructions[kLaunch]->op.Set(std::move(group));
  return *program.instructions[kLaunch]->op.AsLaunchGroup();
}

// The launches of such a group as one launch of kernel 0.
inline CombinedLaunchesT& CombinedIn(ProgramT& program) {
  LaunchGroupT& group = GroupIn(program);
  group.combined.push_back(std::make_unique<CombinedLaunchesT>());
  return *group.combined.back();
}

struct Violation {
  const char* name;
  std::function<void(ArtifactT&, ProgramT&)> change;
  const char* message;
};

inline void ExpectRefused(const std::vector<Violation>& cases) {
  for (const Violation& c : cases) EXPECT_THAT(ErrorAfter(c.change), ::testing::HasSubstr(c.message)) << c.name;
}

}  // namespace sgd::artifact
