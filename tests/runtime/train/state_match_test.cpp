// State goes from program to program by its paths; position alone is told.
#include "runtime/train/state_match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

namespace sgd::train {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Names; those that end with "#N" have N elements, others 2.
std::vector<data::InputType> Tensors(std::initializer_list<const char*> names) {
  std::vector<data::InputType> tensors;
  for (std::string name : names) {
    uint64_t size = 2;
    if (const size_t hash = name.find('#'); hash != std::string::npos) {
      size = std::stoul(name.substr(hash + 1));
      name.resize(hash);
    }
    tensors.push_back({name, {data::ElementType::F32, {size}, {size}, {}}});
  }
  return tensors;
}

Signature Outputs(std::initializer_list<const char*> names) {
  Signature program;
  program.outputs = Tensors(names);
  return program;
}

Signature Inputs(std::initializer_list<const char*> names) {
  Signature program;
  program.inputs = Tensors(names);
  return program;
}

TEST(StateMatch, InitByNames) {
  const StateMatch match = MatchInit(Outputs({"result['momentum']['w']", "result['params']['w']", "result['seed']"}),
                                     Inputs({"params['w']", "momentum['w']", "x"}), {true, true, false});
  EXPECT_THAT(match.pairs, ElementsAre(Pair(0, 1), Pair(1, 0)));
  EXPECT_THAT(match.by_position, IsEmpty());
}

TEST(StateMatch, InitOfAStateObject) {
  const StateMatch match = MatchInit(Outputs({"result.opt_state[0].mu['w']", "result.params['w']"}),
                                     Inputs({"state.params['w']", "state.opt_state[0].mu['w']"}), {true, true});
  EXPECT_THAT(match.pairs, ElementsAre(Pair(0, 1), Pair(1, 0)));
  EXPECT_THAT(match.by_position, IsEmpty());
}

TEST(StateMatch, InitOfEqualTreesIsToldAsByPosition) {
  const StateMatch match =
      MatchInit(Outputs({"result[0]['w']", "result[0]['b']#3", "result[1]['w']", "result[1]['b']#3"}),
                Inputs({"params['w']", "params['b']#3", "momentum['w']", "momentum['b']#3"}), {true, true, true, true});
  EXPECT_THAT(match.pairs, ElementsAre(Pair(0, 0), Pair(1, 1), Pair(2, 2), Pair(3, 3)));
  EXPECT_EQ(match.by_position.size(), 4u);
}

TEST(StateMatch, InitByTypeGivesStateAlone) {
  const StateMatch match = MatchInit(Outputs({"result[0]#5", "result[1]#6"}), Inputs({"x#6", "w#5"}), {false, true});
  EXPECT_THAT(match.pairs, ElementsAre(Pair(0, 1)));
  EXPECT_THAT(match.by_position, IsEmpty());
}

TEST(StateMatch, InitByPositionWhereNumbersAgree) {
  const StateMatch match = MatchInit(Outputs({"result[0]", "result[1]"}), Inputs({"w", "m", "x"}), {true, true, false});
  EXPECT_THAT(match.pairs, ElementsAre(Pair(0, 0), Pair(1, 1)));
  EXPECT_EQ(match.by_position.size(), 2u);
  EXPECT_THAT(MatchInit(Outputs({"result[0]", "result[1]", "result[2]"}), Inputs({"w", "m"}), {true, true}).pairs,
              IsEmpty());
}

TEST(StateMatch, EvalFindsStateBelowOtherNames) {
  EXPECT_THAT(MatchEval(Inputs({"state.params['w']", "state.average['w']", "batch['x']#7"}),
                        Inputs({"params['w']", "x#7"}), {true, false}),
              ElementsAre(Pair(0, 0)));
  // Parameters or their average: nobody knows.
  EXPECT_THAT(MatchEval(Inputs({"state.params['w']", "state.average['w']"}), Inputs({"weights['w']"}), {true}),
              IsEmpty());
}

}  // namespace
}  // namespace sgd::train
