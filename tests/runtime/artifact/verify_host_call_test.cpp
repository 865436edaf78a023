// Each rule of host calls refuses its violation, with a message that says what and where.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "runtime/artifact/writer.h"
#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::artifact {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<HostTensorT> Tensor(ElementType element, std::vector<uint64_t> dims, uint64_t offset, uint64_t bytes) {
  auto tensor = std::make_unique<HostTensorT>();
  tensor->element = element;
  tensor->dims = std::move(dims);
  tensor->slice = testing::SliceAt(Space::Private, offset, bytes);
  return tensor;
}

// Of 2x3 f32 and a flag, with a result of 4 i32.
HostCallT Sample() {
  HostCallT call;
  call.id = 7;
  call.name = "f";
  call.each_rank = true;
  call.when = testing::SliceAt(Space::Private, 0, 1);
  call.inputs.push_back(Tensor(ElementType::F32, {2, 3}, 64, 24));
  call.outputs.push_back(Tensor(ElementType::I32, {4}, 128, 16));
  return call;
}

std::string ErrorAfter(const std::function<void(HostCallT&)>& change) {
  ArtifactWriter writer;
  testing::FillSample(writer, 2);
  HostCallT call = Sample();
  change(call);
  testing::Append(*writer.artifact().programs[0], std::move(call));
  return std::string(writer.Serialize().status().message());
}

TEST(VerifyHostCall, RefusesWhatIsWrong) {
  struct Case {
    const char* name;
    std::function<void(HostCallT&)> change;
    const char* message;  // "": accepted
  };
  const Case cases[] = {
      {"unchanged", [](HostCallT&) {}, ""},
      {"no tensors", [](HostCallT& c) { c.inputs.clear(), c.outputs.clear(), c.when = nullptr; }, ""},
      {"empty", [](HostCallT& c) { c.inputs[0]->dims = {0, UINT64_MAX}; }, ""},
      {"element", [](HostCallT& c) { c.inputs[0]->element = static_cast<ElementType>(99); },
       "(host_call): input 0 has an element type"},
      {"complex", [](HostCallT& c) { c.outputs[0]->element = ElementType::C64; }, "output 0 has an element type"},
      {"large", [](HostCallT& c) { c.inputs[0]->dims = {2, 4}; }, "input 0 reaches 8 elements"},
      {"huge", [](HostCallT& c) { c.inputs[0]->dims = {UINT64_MAX, UINT64_MAX}; }, "more than 2^48 elements"},
      {"dimensions", [](HostCallT& c) { c.inputs[0]->dims.assign(65, 1); }, "more than 64 dimensions"},
      {"outside", [](HostCallT& c) { c.outputs[0]->slice = testing::SliceAt(Space::Private, 1 << 30, 16); },
       "are outside of"},
      {"constants", [](HostCallT& c) { c.outputs[0]->slice = testing::SliceAt(Space::Constant, 0, 16); }, "output"},
      {"flag", [](HostCallT& c) { c.when = testing::SliceAt(Space::Private, 0, 0); },
       "the condition reaches 1 elements"},
      {"condition of all", [](HostCallT& c) { c.each_rank = false; }, "a condition of a call that rank 0 makes"},
      {"overlap", [](HostCallT& c) { c.outputs[0]->slice = testing::SliceAt(Space::Private, 80, 16); },
       "output 0 overlaps input 0"},
      {"overlapping outputs", [](HostCallT& c) { c.outputs.push_back(Tensor(ElementType::I8, {1}, 130, 1)); },
       "output 0 overlaps output 1"},
  };
  for (const Case& c : cases) {
    const std::string error = ErrorAfter(c.change);
    if (*c.message == 0)
      EXPECT_EQ(error, "") << c.name;
    else
      EXPECT_THAT(error, HasSubstr(c.message)) << c.name;
  }
}

}  // namespace
}  // namespace sgd::artifact
