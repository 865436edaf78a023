// Refusals of collectives when they are prepared, by message.
#include "runtime/comm/collectives/collective_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sgd::comm {
namespace {

using ::testing::HasSubstr;

const Mesh kMesh{{4}};

CollectiveSpec AllReduce() {
  CollectiveSpec spec;
  spec.axes = {{0, 1, 4}};
  spec.location = "mlp.py:31:8";
  CollectiveOperand operand;
  operand.count = 16;
  operand.target_offset = 64;
  spec.operands = {operand};
  return spec;
}

std::string Message(const CollectiveSpec& spec) { return std::string(CheckSpec(kMesh, spec, 256).message()); }

TEST(CollectiveSpec, AcceptsAnAllReduceInPlaceOrNot) {
  CollectiveSpec spec = AllReduce();
  EXPECT_EQ(Message(spec), "");
  spec.operands[0].target_offset = 0;
  EXPECT_EQ(Message(spec), "");
}

TEST(CollectiveSpec, NamesKindAndLocation) {
  CollectiveSpec spec = AllReduce();
  spec.axes = {{1, 1, 4}};
  EXPECT_EQ(Message(spec), "all_reduce (mlp.py:31:8): axis 1 is not in a mesh of 1 axes");
}

TEST(CollectiveSpec, RefusesOffsetsOutsideTheWindow) {
  CollectiveSpec spec = AllReduce();
  spec.operands[0].target_offset = 196;
  EXPECT_THAT(Message(spec), HasSubstr("16 elements at offset 196 do not fit in a window of 256"));
  spec.operands[0].target_offset = ~uint64_t{3};
  EXPECT_THAT(Message(spec), HasSubstr("do not fit"));
  spec.operands[0].target_offset = 66;
  EXPECT_THAT(Message(spec), HasSubstr("offset 66 is not a multiple of 4, the size of f32"));
}

TEST(CollectiveSpec, RefusesOverlaps) {
  CollectiveSpec spec = AllReduce();
  spec.operands[0].target_offset = 32;
  EXPECT_THAT(Message(spec), HasSubstr("the target of operand 0 overlaps operand 0"));
  spec = AllReduce();
  spec.operands.push_back(spec.operands[0]);
  EXPECT_THAT(Message(spec), HasSubstr("the target of operand 0 overlaps operand 1"));
  spec = AllReduce();
  spec.kind = CollectiveKind::kPermute;
  spec.operands[0].target_offset = 0;
  EXPECT_THAT(Message(spec), HasSubstr("overlaps"));
}

TEST(CollectiveSpec, RefusesUndefinedReductions) {
  CollectiveSpec spec = AllReduce();
  spec.reduce = ReduceKind::kOr;
  EXPECT_THAT(Message(spec), HasSubstr("the reduction or is not defined for f32"));
  spec.reduce = ReduceKind::kAdd;
  spec.operands[0].element = ElementType::kBool;
  EXPECT_THAT(Message(spec), HasSubstr("the reduction add is not defined for bool"));
}

TEST(CollectiveSpec, RefusesCountsThatContradictDimensions) {
  CollectiveSpec spec = AllReduce();
  spec.kind = CollectiveKind::kReduceScatter;
  spec.operands[0].outer = 2;
  spec.operands[0].inner = 3;
  EXPECT_THAT(Message(spec), HasSubstr("16 elements where its dimensions say 24"));
  spec.kind = CollectiveKind::kAllGather;
  EXPECT_THAT(Message(spec), HasSubstr("16 elements where its dimensions say 6"));
  spec.operands[0].inner = ~uint64_t{0};
  EXPECT_THAT(Message(spec), HasSubstr("more than 2^62 bytes"));
  spec.kind = CollectiveKind::kAllToAll;
  spec.operands[0].dims = {8, 2};
  spec.operands[0].split = 2;
  EXPECT_THAT(Message(spec), HasSubstr("split 2 or concat 0 is not one of 2 dimensions"));
  spec.operands[0].split = 1;
  EXPECT_THAT(Message(spec), HasSubstr("dimension 1 of size 2 cannot be cut in 4 parts"));
  spec.operands[0].dims = {8, 3};
  EXPECT_THAT(Message(spec), HasSubstr("16 elements where its dimensions say 24"));
}

}  // namespace
}  // namespace sgd::comm
