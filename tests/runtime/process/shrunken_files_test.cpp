// A process that touches a page which its file has no longer ends with exit code 1 and the file's name, as the command
// line has it.
#include "runtime/process/shrunken_files.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

#include "runtime/data/mapped_file.h"
#include "tests/runtime/data/tensor_files.h"

namespace sgd::process {
namespace {

class ShrunkenFiles : public ::testing::Test {
 protected:
  ShrunkenFiles() {
    std::filesystem::create_directory(folder_ / "run");
    data::WriteText(file_, std::string(3 * 4096, 'x'));
  }

  // A program with this argument, which is resolved in the test's folder.
  [[noreturn]] void TouchWhatIsGone(const char* argument) {
    if (chdir((folder_ / "").c_str()) != 0) _exit(3);
    const char* const argv[] = {"program", "--data", argument};
    LeaveWhenFilesShrink(3, argv);
    const absl::StatusOr<data::MappedFile> mapped = data::MappedFile::OpenForReading(file_);
    if (!mapped.ok() || truncate(file_.c_str(), 4096) != 0) _exit(3);
    const volatile std::byte* const bytes = mapped->bytes().data();
    static_cast<void>(bytes[2 * 4096]);
    _exit(4);
  }

  data::TemporaryFolder folder_;
  const std::string file_ = folder_ / "run/data.bin";
};

TEST_F(ShrunkenFiles, AreNamedAsTheCommandLineNamesThem) {
  for (const auto& [argument, name] : {std::pair("run/data.bin", "run/data.bin"),
                                       {"./run/data.bin", "\\./run/data.bin"},
                                       {"run/", "run/data.bin"},
                                       {"other", "/.*/run/data.bin"}}) {
    EXPECT_EXIT(TouchWhatIsGone(argument), testing::ExitedWithCode(1),
                std::string("^sgdrun: ") + name + ": was cut short by another program, or its disk failed");
    data::WriteText(file_, std::string(3 * 4096, 'x'));
  }
}

TEST_F(ShrunkenFiles, OtherMemoryHasItsUsualEnd) {
  const auto touch = [] {
    LeaveWhenFilesShrink(0, nullptr);
    const int memory = memfd_create("memory", 0);
    const volatile std::byte* const bytes =
        static_cast<std::byte*>(mmap(nullptr, 4096, PROT_READ, MAP_SHARED, memory, 0));
    static_cast<void>(bytes[0]);
  };
  EXPECT_EXIT(touch(), testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace sgd::process
