// Kernel objects that the checker accepts and refuses; it refuses damaged ones
// without reading outside of them.
#include "runtime/artifact/elf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/artifact/sample_artifact.h"

namespace sgd::artifact {
namespace {

using ::testing::HasSubstr;

absl::Status Check(const std::string& object, const std::vector<std::string>& functions) {
  // A copy of the exact size, so that a sanitizer sees a read behind the end.
  const std::vector<uint8_t> bytes(object.begin(), object.end());
  return CheckKernelObject(bytes, functions);
}

std::string ErrorOf(const std::string& name) {
  return std::string(Check(testing::BadKernels(name), {"kernel"}).message());
}

TEST(KernelObject, AcceptsKernels) {
  const absl::Status status = Check(testing::TestKernels(), {"scale", "parts"});
  EXPECT_TRUE(status.ok()) << status;
}

TEST(KernelObject, NamesTheMissingFunction) {
  EXPECT_THAT(std::string(Check(testing::TestKernels(), {"scale", "gelu"}).message()),
              HasSubstr("does not define the function 'gelu'"));
}

TEST(KernelObject, RefusesWhatCouldReachOutside) {
  EXPECT_THAT(ErrorOf("undefined_symbol"), HasSubstr("undefined symbol 'elsewhere'"));
  EXPECT_THAT(ErrorOf("calls_through_relocations"), HasSubstr("through relocations"));
  EXPECT_THAT(ErrorOf("needs_library"), HasSubstr("needs another library"));
  EXPECT_THAT(ErrorOf("writable_data"), HasSubstr("writable data"));
  EXPECT_THAT(ErrorOf("constructor"), HasSubstr("runs code when it is loaded"));
  EXPECT_THAT(ErrorOf("executable_stack"), HasSubstr("executable stack"));
  EXPECT_THAT(ErrorOf("thread_local"), HasSubstr("thread-local"));
}

TEST(KernelObject, RefusesOtherFiles) {
  EXPECT_THAT(std::string(Check("", {}).message()), HasSubstr("not an ELF object"));
  EXPECT_THAT(std::string(Check(std::string(64, 'x'), {}).message()), HasSubstr("not an ELF object"));
  std::string arm = testing::TestKernels();
  arm[18] = '\xb7';
  EXPECT_THAT(std::string(Check(arm, {}).message()), HasSubstr("not a shared object for x86-64"));
}

TEST(KernelObject, SurvivesEveryFlippedByte) {
  std::string object = testing::TestKernels();
  for (size_t i = 0; i < object.size(); ++i) {
    for (int mask : {0x01, 0x80, 0xff}) {
      object[i] = static_cast<char>(object[i] ^ mask);
      Check(object, {"scale", "parts"}).IgnoreError();
      object[i] = static_cast<char>(object[i] ^ mask);
    }
  }
}

TEST(KernelObject, SurvivesEveryTruncation) {
  const std::string object = testing::TestKernels();
  for (size_t size = 0; size < object.size(); ++size) {
    Check(object.substr(0, size), {"scale", "parts"}).IgnoreError();
  }
}

}  // namespace
}  // namespace sgd::artifact
