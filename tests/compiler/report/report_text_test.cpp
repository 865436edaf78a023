// The text of reports that are made by hand: parts that appear only where there is something to say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/report/report.h"

namespace mlir::sgd {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string print(const Report& report) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  report.print(stream);
  return text;
}

TEST(ReportText, ShortWhereNothingIsSent) {
  std::string text = print(Report());
  for (const char* part : {"loss", "host", "stage", "compressed", "recomputed", "above it", "of what is sent", "wait"})
    EXPECT_THAT(text, Not(HasSubstr(part)));
  EXPECT_THAT(text, HasSubstr("  lower bound  0 B (docs/communication.md)\n"));
}

TEST(ReportText, BytesInTheUnitThatFits) {
  Report report;
  report.memory.peak = 1023;
  report.memory.arguments = 1024;
  report.memory.outputs = 5 << 20;
  report.memory.temporaries = uint64_t{3} << 50;
  EXPECT_THAT(print(report), HasSubstr("1023 B (arguments 1.00 KiB, outputs 5.00 MiB of which 0 B in arguments' place, "
                                       "constants 0 B, temporaries 3072.00 TiB)"));
}

TEST(ReportText, ProgramsParametersAndAdvice) {
  Report report;
  report.program = "train";
  report.programs = {{"train", 300, 2, 1, 1024, 1}};
  EXPECT_THAT(print(report), Not(HasSubstr("programs")));
  EXPECT_THAT(print(report), Not(HasSubstr("advice")));
  report.programs.push_back({"eval", 100, 1, 1, 0, 0});
  for (int i = 0; i < 7; ++i) report.parameters.push_back({"w" + std::to_string(i), "f32[4]", "[data]", 16, 4});
  report.advice = {"memory is tight", "stages wait"};
  report.collectives.push_back({.kind = "all_reduce",
                                .groupSize = 4,
                                .location = "a.py:3",
                                .tensors = {"gradient of w0", "gradient of w1"},
                                .scope = "mlp"});
  std::string text = print(report);
  EXPECT_THAT(text, HasSubstr("\nprograms\n  train: 300 flops in 2 kernels and 1 library calls, 1.00 KiB sent in 1 "
                              "collective\n  eval: 100 flops in 1 kernels and 1 library calls, 0 B sent in 0 "
                              "collectives\nper rank and step of program 'train':\n"));
  EXPECT_THAT(text, HasSubstr("  parameters   112 B in 7 tensors, 28 B of a rank\n    16 B of w0, f32[4] [data]\n"));
  EXPECT_THAT(text, HasSubstr("    16 B of w4, f32[4] [data]\n    and 2 smaller ones\n"));
  EXPECT_THAT(text, HasSubstr("    all_reduce over 4 ranks, 0 B sent, a.py:3, gradient of w0 and 1 more, in mlp\n"));
  EXPECT_THAT(text, HasSubstr("\nadvice\n  memory is tight\n  stages wait\ncompiled in "));
  Report again;
  ASSERT_TRUE(fromJson(report.toJson(), again));
  EXPECT_EQ(print(again), text);
}

TEST(ReportText, LossAndSequentialAxis) {
  Report report;
  report.ranks = 2;
  report.mesh = {{"data", 2}};
  report.sequential = {{"micro", 8}};
  report.loss = "mean";
  report.hasUnknownTrips = true;
  EXPECT_THAT(print(report), testing::StartsWith("ranks          2 data=2, 8 iterations of micro\nloss           mean\n"
                                                 "per rank and step, one trip of each loop of unknown trips:\n"));
}

TEST(ReportText, BoundNamesFiveTermsAndCountsTheRest) {
  Report report;
  report.sentBytes = 400;
  report.lowerBound.bytes = 100;
  for (uint64_t term = 0; term < 7; ++term)
    report.lowerBound.terms.push_back(
        {"sums", "tensor<" + std::to_string(term) + "xf32>", term == 1 ? "a.py:3" : "", 7 - term});
  for (uint64_t gap = 0; gap < 6; ++gap) report.gaps.push_back({"step " + std::to_string(gap), 60 - gap});
  std::string text = print(report);
  EXPECT_THAT(text, HasSubstr("100 B, 25 % of what is sent"));
  EXPECT_THAT(text, HasSubstr("    7 B of sums (tensor<0xf32>)\n    6 B of sums (tensor<1xf32>), a.py:3\n"));
  EXPECT_THAT(text, HasSubstr("tensor<4xf32>)\n    and 2 smaller ones\n  above it\n    60 B by step 0\n"));
  EXPECT_THAT(text, HasSubstr("    56 B by step 4\n    and 1 smaller steps\n"));
}

TEST(ReportText, CompressionsByKind) {
  Report report;
  report.compressions = {{"w", "bf16", 100, 200, "a.py:1", ""},
                         {"v", "bf16", 50, 100, "a.py:2", ""},
                         {"u", "", 0, 0, "a.py:3", "it is an integer"}};
  EXPECT_THAT(print(report), Not(HasSubstr("compressed")));  // no bytes are saved
  report.savedBytes = 150;
  EXPECT_THAT(print(report), HasSubstr("  compressed   saves 150 B\n"
                                       "    1 reduction over these axes as they are (--explain says why)\n"
                                       "    2 reductions as bf16, 150 B instead of 300 B\n"));
}

TEST(ReportText, WhatIsOnTheHost) {
  Report report;
  report.memory.host = 4096;
  report.hostWaitSeconds = 1e-3;
  report.offloaded = {{"state", "momentum", "", 2, 3072, 2e-3}, {"activation", "", "a.py:5:1", 4, 1024, 1e-3}};
  std::string text = print(report);
  EXPECT_THAT(text, HasSubstr("  host memory  4.00 KiB, pinned\n"));
  EXPECT_THAT(text,
              HasSubstr("  on the host  4.00 KiB, for the memory limit, by 6 copies of 3 ms, of which the device waits "
                        "for 1 ms\n"
                        "    3.00 KiB of state momentum, 2 ms of copies\n"
                        "    1.00 KiB of activation at a.py:5:1, 1 ms of copies\n"));
  report.offloaded.resize(7, report.offloaded.back());
  EXPECT_THAT(print(report), HasSubstr("    and 2 others\n"));
}

TEST(ReportText, RecomputedCountsInstructions) {
  Report report;
  report.recomputed = {{"kernel", "", 3, 2048, 10, 0, 1e-3}};
  report.recomputed.resize(6, report.recomputed.front());
  EXPECT_THAT(print(report),
              HasSubstr("recomputed   18 instructions, for the memory limit: 12.00 KiB not kept, 60 flops and "
                        "6 ms more\n    2.00 KiB by 3 of kernel, 1 ms\n"));
  EXPECT_THAT(print(report), HasSubstr("    and 1 other lines\n"));
}

}  // namespace
}  // namespace mlir::sgd
