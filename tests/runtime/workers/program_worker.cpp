// The worker of program_test: executes an artifact's two programs. Requests:
//   prepare FILE          opens the artifact and prepares both programs
//   main|sum STEP FOLDER  runs a step and writes its output, as raw floats, to FOLDER/RANK
//   stop FILE             makes rank 1 create FILE and stop in its next copy
#include <unistd.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/process/worker.h"
#include "tests/runtime/exec/two_programs.h"

namespace sgd::process {
namespace {

struct Job {
  std::unique_ptr<artifact::ArtifactFile> file;
  std::string stop_file;  // empty: does not stop
  testing::TwoProgramsRank rank;
};

absl::Status StopIn(const Job& job) {
  if (job.stop_file.empty()) return absl::OkStatus();
  std::ofstream(job.stop_file).flush();
  for (;;) pause();
}

class ProgramWorker : public Worker {
 public:
  absl::Status Run(uint64_t number, launch::RankContext& context, std::string_view request) override {
    const std::vector<std::string> words = absl::StrSplit(std::string(request), ' ');
    Job& job = jobs_[number];
    if (words[0] == "prepare") return Prepare(job, context, words[1]);
    if (words[0] == "stop") {
      if (context.rank == 1) job.stop_file = words[1];
      return absl::OkStatus();
    }
    uint64_t step = 0;
    if (!absl::SimpleAtoi(words[1], &step)) return absl::InvalidArgumentError(std::string(request));
    job.rank.Fill(context.rank, step);
    if (absl::Status status = job.rank.Run(words[0], step); !status.ok()) return status;
    const auto bytes = (words[0] == "main" ? job.rank.t : job.rank.s).bytes();
    std::ofstream(absl::StrCat(words[2], "/", context.rank), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return absl::OkStatus();
  }
  void Close(uint64_t number) override { jobs_.erase(number); }

 private:
  static absl::Status Prepare(Job& job, launch::RankContext& context, const std::string& path) {
    auto file = artifact::ArtifactFile::Open(path);
    if (!file.ok()) return file.status();
    job.file = *std::move(file);
    return job.rank.Prepare(*job.file, *context.communicator, {.threads = context.threads, .cores = context.cores},
                            [&job] { return StopIn(job); });
  }

  std::map<uint64_t, Job> jobs_;  // by number
};

}  // namespace
}  // namespace sgd::process

int main() {
  sgd::process::ProgramWorker worker;
  return sgd::process::Serve(sgd::workers::kWorkerSocket, worker).ok() ? 0 : 1;
}
