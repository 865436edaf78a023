// Every pair of shardings on small meshes: plans are right by value and not worse than gathering; and the plans of
// known situations.
#include "passes/sharding/reshard/reshard_planner.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reshard_simulator.h"

using namespace mlir::sgd;
using namespace mlir::sgd::test;
using Kind = ReshardStep::Kind;
using testing::ElementsAre;

namespace {
/// All ways to put `parts` on the dimensions (in every order), into the partial set or nowhere.
void enumerateStates(llvm::ArrayRef<AxisPart> parts, ShardState& state,
                     llvm::function_ref<void(const ShardState&)> visit) {
  if (parts.empty()) return visit(state);
  enumerateStates(parts.drop_front(), state, visit);
  state.partial.push_back(parts.front());
  enumerateStates(parts.drop_front(), state, visit);
  state.partial.pop_back();
  for (AxisParts& dim : state.dims) {
    for (size_t position = 0; position <= dim.size(); ++position) {
      dim.insert(dim.begin() + position, parts.front());
      enumerateStates(parts.drop_front(), state, visit);
      dim.erase(dim.begin() + position);
    }
  }
}

std::vector<ShardState> getAllStates(llvm::ArrayRef<AxisPart> parts, size_t rank) {
  std::vector<ShardState> states;
  ShardState state;
  state.dims.resize(rank);
  enumerateStates(parts, state, [&](const ShardState& each) { states.push_back(each); });
  return states;
}

std::string describe(const ShardState& state) {
  std::string text;
  auto add = [&](const AxisParts& parts) {
    text += "{";
    for (const AxisPart& part : parts)
      text += " " + std::to_string(part.axis) + ":(" + std::to_string(part.begin) + ")" + std::to_string(part.size);
    text += " }";
  };
  for (const AxisParts& dim : state.dims) add(dim);
  text += " partial ";
  add(state.partial);
  return text;
}

std::string describe(const ReshardPlan& plan) {
  std::string text;
  for (const ReshardStep& step : plan.steps) text += getStepName(step.kind).str() + " ";
  return text;
}

bool isWhole(llvm::ArrayRef<int64_t> shape, const ShardState& state) {
  return llvm::all_of(llvm::zip(shape, state.dims), [](const auto& dim) {
    const auto& [size, parts] = dim;
    return parts.empty() || size <= 1;
  });
}

void checkPairs(MeshSizes mesh, llvm::ArrayRef<ShardState> froms, llvm::ArrayRef<ShardState> tos,
                std::vector<int64_t> shape) {
  CostModel cost(getHostTopology(), mesh);
  ReshardPlanner planner(cost);
  ReshardSimulator simulator(mesh, shape);
  // Large elements: bytes decide, not the latency of a step.
  uint64_t elementBytes = 1 << 20;
  for (const ShardState& from : froms) {
    for (const ShardState& to : tos) {
      llvm::Expected<ReshardPlan> plan = planner.plan(shape, elementBytes, from, to);
      ASSERT_TRUE(bool(plan)) << llvm::toString(plan.takeError());
      std::string what = describe(from) + " -> " + describe(to) + ": " + describe(*plan);
      ASSERT_EQ(simulator.check(*plan, from, to), "") << what;
      ReshardPlan gathering = planner.planByGathering(shape, elementBytes, from, to);
      ASSERT_EQ(simulator.check(gathering, from, to), "") << what;
      bool mayBeWhole = isWhole(shape, from) || isWhole(shape, to);
      if (mayBeWhole || !gathering.materialises)
        ASSERT_LE(plan->seconds, gathering.seconds * 1.0000001) << what << " or " << describe(gathering);
      if (!mayBeWhole) ASSERT_FALSE(plan->materialises) << what;
      if (from == to) ASSERT_TRUE(plan->steps.empty()) << what;
    }
  }
}

void checkAllPairs(MeshSizes mesh, llvm::ArrayRef<AxisPart> parts, std::vector<int64_t> shape) {
  std::vector<ShardState> states = getAllStates(parts, shape.size());
  checkPairs(mesh, states, states, shape);
}

const AxisPart kX{0, 1, 2}, kY{1, 1, 2}, kY4{1, 1, 4};

TEST(ReshardPlanner, TheHeadersExample) {
  CostModel cost(getHostTopology(), {4});
  ReshardPlanner planner(cost);
  const AxisPart x{0, 1, 4};
  const ShardState rows{{{x}, {}}, {}}, columns{{{}, {x}}, {}}, partial{{{}, {}}, {x}}, replicated{{{}, {}}, {}};
  const auto sent = [&](const ShardState& from, const ShardState& to, Kind kind) {
    ReshardPlan plan = llvm::cantFail(planner.plan({8, 8}, 4, from, to));
    EXPECT_EQ(plan.steps.size(), 1u) << describe(plan);
    EXPECT_EQ(plan.steps[0].kind, kind) << describe(plan);
    return plan.sentBytes;
  };
  EXPECT_EQ(sent(rows, columns, Kind::AllToAll), 48u);
  EXPECT_EQ(planner.planByGathering({8, 8}, 4, rows, columns).sentBytes, 192u);
  EXPECT_EQ(sent(partial, rows, Kind::ReduceScatter), 192u);
  EXPECT_EQ(sent(partial, replicated, Kind::AllReduce), 384u);
}

TEST(ReshardPlanner, AllPairsOn4) {
  for (std::vector<int64_t> shape : {std::vector<int64_t>{8}, {4, 4}, {4, 8, 4}}) {
    checkAllPairs({4}, {AxisPart{0, 1, 4}}, shape);
    checkAllPairs({4}, {AxisPart{0, 1, 2}, AxisPart{0, 2, 2}}, shape);
  }
}

TEST(ReshardPlanner, AllPairsOn2x2) {
  for (std::vector<int64_t> shape : {std::vector<int64_t>{4}, {4, 4}, {4, 4, 4}})
    checkAllPairs({2, 2}, {kX, kY}, shape);
}

TEST(ReshardPlanner, AllPairsOn2x4) {
  for (std::vector<int64_t> shape : {std::vector<int64_t>{8}, {8, 8}, {8, 8, 8}})
    checkAllPairs({2, 4}, {kX, kY4}, shape);
}

TEST(ReshardPlanner, AllPairsOn2x4WithSubAxes) {
  checkAllPairs({2, 4}, {kX, AxisPart{1, 1, 2}, AxisPart{1, 2, 2}}, {8});
  checkAllPairs({2, 4}, {kX, AxisPart{1, 1, 2}, AxisPart{1, 2, 2}}, {8, 8});
}

TEST(ReshardPlanner, AllPairsOn8) {
  for (std::vector<int64_t> shape : {std::vector<int64_t>{8}, {8, 8}, {8, 8, 8}}) {
    checkAllPairs({8}, {AxisPart{0, 1, 8}}, shape);
    checkAllPairs({8}, {AxisPart{0, 1, 2}, AxisPart{0, 2, 4}}, shape);
  }
}

using Shape = std::vector<int64_t>;

TEST(ReshardPlanner, AllUnevenPairsOn4) {
  for (const Shape& shape : {Shape{0}, {1}, {2}, {3}, {5}, {7}, {5, 7}, {4, 7}, {3, 1}, {3, 5, 2}}) {
    checkAllPairs({4}, {AxisPart{0, 1, 4}}, shape);
    checkAllPairs({4}, {AxisPart{0, 1, 2}, AxisPart{0, 2, 2}}, shape);
  }
}

TEST(ReshardPlanner, AllUnevenPairsOn2x2) {
  for (const Shape& shape : {Shape{1}, {3}, {5}, {7, 3}, {1, 5}, {5, 3, 2}}) checkAllPairs({2, 2}, {kX, kY}, shape);
}

TEST(ReshardPlanner, AllUnevenPairsOn2x3) {
  for (const Shape& shape : {Shape{2}, {6}, {7}, {4, 9}, {5, 4, 3}})
    checkAllPairs({2, 3}, {kX, AxisPart{1, 1, 3}}, shape);
}

TEST(ReshardPlanner, AllUnevenPairsOn2x4WithSubAxes) {
  for (const Shape& shape : {Shape{7}, {9, 5}})
    checkAllPairs({2, 4}, {kX, AxisPart{1, 1, 2}, AxisPart{1, 2, 2}}, shape);
}

TEST(ReshardPlanner, PartsWithoutCommonRefinement) {
  for (const Shape& shape : {Shape{6}, {7}, {6, 6}, {5, 13}, {4, 3, 5}}) {
    std::vector<ShardState> twos = getAllStates({AxisPart{0, 1, 2}, AxisPart{0, 2, 3}}, shape.size());
    std::vector<ShardState> threes = getAllStates({AxisPart{0, 1, 3}, AxisPart{0, 3, 2}}, shape.size());
    checkPairs({6}, twos, threes, shape);
  }
}

class KnownSituations : public testing::Test {
 protected:
  std::vector<std::string> plan(MeshSizes mesh, llvm::ArrayRef<int64_t> shape, const ShardState& from,
                                const ShardState& to, uint64_t elementBytes = 1 << 16) {
    CostModel cost(getHostTopology(), mesh);
    llvm::Expected<ReshardPlan> plan = ReshardPlanner(cost).plan(shape, elementBytes, from, to);
    if (!plan) return {llvm::toString(plan.takeError())};
    last = *plan;
    std::vector<std::string> names;
    for (const ReshardStep& step : plan->steps) names.push_back(getStepName(step.kind).str());
    return names;
  }
  ReshardPlan last;
};

TEST_F(KnownSituations, MovingAnAxisIsOneAllToAll) {
  EXPECT_THAT(plan({2}, {8, 8}, {{{kX}, {}}, {}}, {{{}, {kX}}, {}}), ElementsAre("all_to_all"));
  EXPECT_EQ(last.sentBytes, 8u * 8 / 2 * 65536 / 2);
}

TEST_F(KnownSituations, UnshardAndShard) {
  EXPECT_THAT(plan({2}, {8}, {{{kX}}, {}}, {{{}}, {}}), ElementsAre("all_gather"));
  EXPECT_THAT(plan({2}, {8}, {{{}}, {}}, {{{kX}}, {}}), ElementsAre("shard_slice"));
}

TEST_F(KnownSituations, SeveralAxesAreSlicedAtOnce) {
  EXPECT_THAT(plan({2, 2}, {8}, {{{}}, {}}, {{{kX, kY}}, {}}), ElementsAre("shard_slice"));
  EXPECT_EQ(last.steps[0].axes.size(), 2u);
}

TEST_F(KnownSituations, TileToPartlyReplicatedGathersInSubgroups) {
  EXPECT_THAT(plan({2, 2}, {8, 8}, {{{kX}, {kY}}, {}}, {{{kX}, {}}, {}}), ElementsAre("all_gather"));
  EXPECT_EQ(last.steps[0].axes, AxisParts{kY});
}

TEST_F(KnownSituations, PartOfAnAxisMoves) {
  // [8,4] -> [2,16] on 32 ranks.
  AxisPart major{0, 1, 2}, minor{0, 2, 4}, y{1, 1, 4};
  EXPECT_THAT(plan({8, 4}, {64, 64}, {{{AxisPart{0, 1, 8}}, {y}}, {}}, {{{major}, {y, minor}}, {}}),
              ElementsAre("all_to_all"));
}

TEST_F(KnownSituations, MergingOntoAnotherDimensionNeverGathers) {
  AxisPart y{0, 1, 4};
  EXPECT_THAT(plan({4, 2}, {8, 8, 8, 8}, {{{}, {y}, {}, {kY}}, {}}, {{{}, {}, {}, {kY, y}}, {}}),
              ElementsAre("all_to_all"));
  EXPECT_THAT(plan({4, 2}, {8, 8, 8, 8}, {{{}, {y}, {}, {kY}}, {}}, {{{}, {}, {}, {y, kY}}, {}}),
              ElementsAre("all_to_all", "collective_permute"));
}

TEST_F(KnownSituations, SeveralDimensionsMoveAtOnce) {
  EXPECT_THAT(plan({2, 2}, {8, 8, 8}, {{{kX}, {kY}, {}}, {}}, {{{}, {}, {kX, kY}}, {}}), ElementsAre("all_to_all"));
  EXPECT_EQ(last.sentBytes, 8u * 8 * 8 / 4 * 65536 * 3 / 4);
  EXPECT_THAT(plan({2, 2}, {8, 8, 8}, {{{}, {}, {kX, kY}}, {}}, {{{kX}, {kY}, {}}, {}}), ElementsAre("all_to_all"));
  EXPECT_THAT(plan({2, 2}, {8, 8, 8, 8}, {{{kX}, {kY}, {}, {}}, {}}, {{{}, {}, {kX}, {kY}}, {}}),
              ElementsAre("all_to_all"));
  EXPECT_EQ(last.steps[0].axes, (AxisParts{kX, kY}));
}

TEST_F(KnownSituations, OtherDeviceOrderIsAPermute) {
  EXPECT_THAT(plan({2, 2}, {8}, {{{kX, kY}}, {}}, {{{kY, kX}}, {}}), ElementsAre("collective_permute"));
  EXPECT_THAT(plan({2, 2}, {8, 8}, {{{kX}, {kY}}, {}}, {{{kY}, {kX}}, {}}), ElementsAre("collective_permute"));
  EXPECT_THAT(plan({2, 2}, {8}, {{{kX}}, {}}, {{{kY}}, {}}), ElementsAre("collective_permute"));
}

TEST_F(KnownSituations, GatheringAMajorAxisPermutesFirst) {
  EXPECT_THAT(plan({2, 2}, {8}, {{{kX, kY}}, {}}, {{{kY}}, {}}), ElementsAre("collective_permute", "all_gather"));
  EXPECT_THAT(plan({2, 2}, {8}, {{{kX, kY}}, {}}, {{{kX}}, {}}), ElementsAre("all_gather"));
}

TEST_F(KnownSituations, PartialValues) {
  EXPECT_THAT(plan({2}, {8}, {{{}}, {kX}}, {{{}}, {}}), ElementsAre("all_reduce"));
  EXPECT_THAT(plan({2}, {8}, {{{}}, {kX}}, {{{kX}}, {}}), ElementsAre("reduce_scatter"));
  EXPECT_THAT(plan({2, 2}, {8}, {{{}}, {kX, kY}}, {{{kX, kY}}, {}}), ElementsAre("reduce_scatter"));
  EXPECT_THAT(plan({2, 2}, {8}, {{{}}, {kX, kY}}, {{{kX}}, {}}), ElementsAre("reduce_scatter", "all_reduce"));
  EXPECT_THAT(plan({2}, {8}, {{{}}, {}}, {{{}}, {kX}}), ElementsAre("mask"));
}

TEST_F(KnownSituations, ShardsBecomeSummandsInPlace) {
  EXPECT_THAT(plan({2}, {8}, {{{kX}}, {}}, {{{}}, {kX}}), ElementsAre("place"));
  EXPECT_THAT(plan({2, 2}, {8}, {{{kX, kY}}, {}}, {{{kX}}, {kY}}), ElementsAre("place"));
  EXPECT_THAT(plan({2, 2}, {8, 8}, {{{kX}, {kY}}, {}}, {{{}, {}}, {kX, kY}}), ElementsAre("place", "place"));
  EXPECT_THAT(plan({2}, {7}, {{{kX}}, {}}, {{{}}, {kX}}), ElementsAre("place", "resize"));
  EXPECT_EQ(last.sentBytes, 0u);
}

TEST_F(KnownSituations, GradientsOverTwoAxesShareTheStartOfReductions) {
  EXPECT_THAT(plan({2, 2}, {4096}, {{{}}, {kX, kY}}, {{{kX}}, {}}, 4), ElementsAre("reduce_scatter", "all_reduce"));
  EXPECT_EQ(last.sentBytes, 2 * 4096u * 4 / 2);
  EXPECT_THAT(plan({2, 2}, {64}, {{{}}, {kX, kY}}, {{{kX}}, {}}, 4), ElementsAre("all_reduce", "shard_slice"));
}

TEST_F(KnownSituations, TooFewElementsForBothAxesSplitsOne) {
  // 4 elements on 4 x 2 ranks: the axes cannot share the dimension, half of the first can stay while the other comes.
  AxisPart four{0, 1, 4};
  EXPECT_EQ(plan({4, 2}, {4}, {{{four}}, {}}, {{{kY}}, {}}).size(), 2u);
  EXPECT_FALSE(last.materialises);
}

TEST_F(KnownSituations, NoCommonSubAxisIsWholeInBetween) {
  AxisPart two{0, 1, 2}, three{0, 1, 3};
  EXPECT_THAT(plan({6}, {6}, {{{two}}, {}}, {{{three}}, {}}), ElementsAre("shard_slice", "all_gather"));
  EXPECT_FALSE(last.materialises);
}

TEST_F(KnownSituations, UnevenMoveIsOneAllToAll) {
  EXPECT_THAT(plan({2}, {7, 31}, {{{}, {kX}}, {}}, {{{kX}, {}}, {}}), ElementsAre("resize", "all_to_all", "resize"));
  EXPECT_EQ(last.sentBytes, 8u * 32 / 2 / 2 * 65536);
}

TEST_F(KnownSituations, UnevenShardAndUnshard) {
  EXPECT_THAT(plan({4}, {5}, {{{}}, {}}, {{{AxisPart{0, 1, 4}}}, {}}), ElementsAre("resize", "shard_slice"));
  EXPECT_THAT(plan({4}, {5}, {{{AxisPart{0, 1, 4}}}, {}}, {{{}}, {}}), ElementsAre("gather_range"));
}

TEST_F(KnownSituations, UnevenReduction) {
  EXPECT_THAT(plan({2}, {7}, {{{}}, {kX}}, {{{kX}}, {}}), ElementsAre("resize", "reduce_scatter"));
}

TEST_F(KnownSituations, TilesThatDoNotNestFetchWhatTheyLack) {
  // 5 over 2 has tiles [0,3) [3,5), over 4 [0,2) [2,4) [4,5): rank (0, 1) lacks element 3.
  EXPECT_THAT(plan({2, 2}, {5}, {{{kX}}, {}}, {{{kX, kY}}, {}}), ElementsAre("gather_range"));
  EXPECT_EQ(last.sentBytes, 65536u);
}

TEST_F(KnownSituations, Refusals) {
  EXPECT_THAT(plan({2}, {8, 8}, {{{kX}, {kX}}, {}}, {{{}, {}}, {}}),
              ElementsAre("parts of mesh axes do not divide their axis, or overlap"));
  EXPECT_THAT(plan({2}, {8}, {{{}, {}}, {}}, {{{}}, {}}), ElementsAre("sharding has 2 dimensions, the tensor 1"));
}

TEST_F(KnownSituations, ManyAxesStayQuick) {
  ShardState from, to;
  from.dims.resize(4);
  to.dims.resize(4);
  MeshSizes mesh(10, 2);
  for (unsigned axis = 0; axis < 10; ++axis) {
    from.dims[axis % 4].push_back({axis, 1, 2});
    to.dims[(axis + 1) % 4].push_back({axis, 1, 2});
  }
  EXPECT_FALSE(plan(mesh, {64, 64, 64, 64}, from, to).empty());
}
}  // namespace
