// Which buffers of hand-made programs hold the model's state, and sums of gradients.
#include "compiler/simulation/model_state.h"

#include "gtest/gtest.h"

using namespace mlir::sgd;
namespace artifact = ::sgd::artifact;

namespace {

/// Buffers of 64 bytes by number.
std::unique_ptr<artifact::Slice> getBuffer(uint64_t number) {
  return std::make_unique<artifact::Slice>(artifact::Space::Private, 64 * number, 64);
}

class Builder {
 public:
  Builder& zero(uint64_t buffer) {
    artifact::FillT fill;
    fill.target = getBuffer(buffer);
    fill.pattern = {0};
    return add(std::move(fill));
  }
  Builder& copy(uint64_t from, uint64_t to) {
    artifact::CopyT copy;
    copy.source = getBuffer(from);
    copy.target = getBuffer(to);
    return add(std::move(copy));
  }
  /// A loop whose body writes `buffer`.
  Builder& accumulate(uint64_t buffer) {
    artifact::LoopT loop;
    loop.body = 1;
    loop.trips = 4;
    return add(std::move(loop)).copy(9, buffer);
  }
  Builder& input(uint64_t buffer, bool isState) {
    auto input = std::make_unique<artifact::InputT>();
    input->name = "x";
    input->type = std::make_unique<artifact::TensorInfoT>();
    input->slice = getBuffer(buffer);
    input->state = isState;
    program.inputs.push_back(std::move(input));
    return *this;
  }

  ModelState measure() {
    program.name = "main";
    flatbuffers::FlatBufferBuilder builder;
    builder.Finish(artifact::Program::Pack(builder, &program));
    return measureModelState(*flatbuffers::GetRoot<artifact::Program>(builder.GetBufferPointer()));
  }

 private:
  template <typename Op>
  Builder& add(Op op) {
    program.instructions.push_back(std::make_unique<artifact::InstructionT>());
    program.instructions.back()->op.Set(std::move(op));
    return *this;
  }

  artifact::ProgramT program;
};

TEST(ModelState, CarriedInputsAreKept) {
  ModelState state = Builder().input(1, true).input(2, false).input(3, true).measure();
  EXPECT_EQ(state.kept, 128u);
  EXPECT_EQ(state.gradients, 0u);
}

TEST(ModelState, ASumIsZeroedChangedInALoopAndRead) {
  EXPECT_EQ(Builder().zero(1).accumulate(1).copy(1, 5).measure().gradients, 64u);
  EXPECT_EQ(Builder().zero(1).accumulate(1).measure().gradients, 0u);             // nobody reads it
  EXPECT_EQ(Builder().zero(1).accumulate(2).copy(1, 5).measure().gradients, 0u);  // zeros
  EXPECT_EQ(Builder().accumulate(1).copy(1, 5).measure().gradients, 0u);          // a result of the last trip
}

TEST(ModelState, EachSumCountsOnce) {
  EXPECT_EQ(Builder().zero(1).zero(2).accumulate(1).accumulate(2).copy(1, 5).copy(2, 6).copy(1, 7).measure().gradients,
            128u);
}

TEST(ModelState, CopiesOfZerosAreZeros) {
  EXPECT_EQ(Builder().zero(1).copy(1, 2).accumulate(2).copy(2, 5).measure().gradients, 64u);
}

TEST(ModelState, AnOverwrittenSumIsNone) {
  EXPECT_EQ(Builder().zero(1).accumulate(1).copy(9, 1).copy(1, 5).measure().gradients, 0u);
}

}  // namespace
