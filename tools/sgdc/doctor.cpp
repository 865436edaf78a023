// Each feature is tried as the runtime tries it, so that messages and advice are those of a run.
#include "tools/sgdc/doctor.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/comm/hosts/transport.h"
#include "runtime/device/target_plugin.h"
#include "targets/cpu/device/cpu_features.h"
#include "targets/cpu/device/linear_algebra/lapack_library.h"

namespace sgd::tools {
namespace {

namespace fs = std::filesystem;

struct Finding {
  std::string feature;
  std::string lack = {};    // the error and what to do; empty: the feature works
  std::string detail = {};  // of a feature that works
  bool is_essential = false;
};

Finding FromStatus(std::string feature, const absl::Status& status, std::string detail = "") {
  return {.feature = std::move(feature), .lack = std::string(status.message()), .detail = std::move(detail)};
}

std::string Gibibytes(uint64_t bytes) { return absl::StrCat(bytes >> 30, " GiB"); }

std::string FirstLine(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

Finding CheckCpus() {
  Finding finding{.feature = "CPU ranks", .is_essential = true};
  const absl::StatusOr<std::set<std::string>> flags = cpu::CpuFlags();
  if (!flags.ok()) {
    finding.lack = std::string(flags.status().message());
    return finding;
  }
  std::vector<std::string> missing;
  for (const char* needed : {"avx2", "fma", "f16c"})
    if (!flags->contains(needed)) missing.push_back(needed);
  if (!missing.empty())
    finding.lack = absl::StrCat("this CPU lacks ", absl::StrJoin(missing, ", "),
                                "; expected x86-64 with AVX2; run on another machine");
  finding.detail = absl::StrCat(
      flags->contains("avx512f") ? "AVX-512" : "AVX2", ", ", sysconf(_SC_NPROCESSORS_ONLN), " cores, ",
      Gibibytes(static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGE_SIZE))),
      " of memory");
  return finding;
}

// Ranks share files of memory, and watch each other by process descriptors.
Finding CheckKernel() {
  Finding finding{.feature = "several ranks on this host", .is_essential = true};
  const int memory = memfd_create("sgd-doctor", MFD_CLOEXEC);
  const int process = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
  if (memory < 0 || process < 0)
    finding.lack = absl::StrCat("this kernel or sandbox has no ", memory < 0 ? "memfd_create" : "pidfd_open",
                                "; expected Linux 5.3 or later; allow the system call in the container's profile");
  for (int descriptor : {memory, process})
    if (descriptor >= 0) close(descriptor);
  return finding;
}

Finding CheckRunner() {
  std::error_code error;
  const fs::path runner = fs::read_symlink("/proc/self/exe", error).parent_path() / "sgdrun";
  if (access(runner.c_str(), X_OK) == 0) return {.feature = "running artifacts", .detail = runner.string()};
  return {.feature = "running artifacts",
          .lack = absl::StrCat("there is no ", runner.string(), "; copy sgdrun beside sgdc, or build it")};
}

Finding CheckFiles() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  Finding finding{.feature = "many ranks and data files", .detail = absl::StrCat(limit.rlim_cur, " open files")};
  if (limit.rlim_cur < 1024)
    finding.lack =
        absl::StrCat("a process may open only ", limit.rlim_cur, " files; expected 1024 or more; raise ulimit -n");
  return finding;
}

Finding CheckHosts() {
  const std::string feature = "CPU ranks on several hosts";
  const absl::StatusOr<const comm::TransportPlugin*> plugin = comm::OpenTransportPlugin();
  if (!plugin.ok()) return FromStatus(feature, plugin.status());
  const absl::StatusOr<std::unique_ptr<comm::Transport>> transport = (*plugin)->Open({});
  if (!transport.ok()) return FromStatus(feature, transport.status());
  return {.feature = feature, .detail = absl::StrCat((*transport)->version(), ": ", (*transport)->devices())};
}

// Adapters of InfiniBand and RoCE lock the memory that they read.
Finding CheckLockedMemory() {
  std::error_code error;
  Finding finding{.feature = "RDMA between hosts"};
  if (fs::is_empty("/sys/class/infiniband", error) || error) {
    finding.lack = "there is no InfiniBand or RoCE adapter; messages between hosts go over TCP";
    return finding;
  }
  rlimit limit{};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  if (limit.rlim_cur != RLIM_INFINITY)
    finding.lack = absl::StrCat("a process may lock only ", limit.rlim_cur,
                                " bytes of memory; expected no limit; set 'memlock unlimited' in "
                                "/etc/security/limits.conf, or docker run --ulimit memlock=-1");
  return finding;
}

Finding CheckLapack() {
  const std::string feature = "decompositions and solvers";
  const absl::StatusOr<std::unique_ptr<const cpu::LapackLibrary>> library = cpu::LapackLibrary::Open();
  if (!library.ok()) return FromStatus(feature, library.status());
  Finding finding{.feature = feature, .detail = (*library)->version()};
  if (!(*library)->is_concurrent())
    finding.lack = absl::StrCat((*library)->version(),
                                " is built without threads, so matrices are computed one after the other; install "
                                "libopenblas0-pthread");
  return finding;
}

// Of memory that an arena asks to be in huge pages (madvise).
Finding CheckHugePages() {
  constexpr char kFile[] = "/sys/kernel/mm/transparent_hugepage/enabled";
  Finding finding{.feature = "huge pages"};
  const std::string modes = FirstLine(kFile);
  if (absl::StrContains(modes, "[never]") || modes.empty())
    finding.lack =
        absl::StrCat("transparent huge pages are off, so large tensors are slower; echo madvise > ", kFile, " as root");
  return finding;
}

std::vector<Finding> CheckGpus() {
  const absl::StatusOr<const device::TargetPlugin*> plugin = device::OpenTargetPlugin("cuda");
  if (!plugin.ok()) return {FromStatus("GPU ranks", plugin.status())};
  const absl::StatusOr<device::Topology> topology = (*plugin)->Describe();
  std::vector<std::string> names;
  if (topology.ok())
    for (const device::Accelerator& gpu : topology->accelerators) names.push_back(gpu.name);
  std::vector<Finding> findings = {FromStatus("GPU ranks", topology.status(), absl::StrJoin(names, ", "))};
  for (const device::PluginLibrary& library : (*plugin)->CheckLibraries())
    findings.push_back(FromStatus(absl::StrCat("GPU ", library.purpose), library.status, library.name));
  // NCCL's segments between GPUs of one host.
  struct statvfs shared{};
  const uint64_t bytes = statvfs("/dev/shm", &shared) == 0 ? uint64_t{shared.f_blocks} * shared.f_frsize : 0;
  Finding segments{.feature = "GPUs of one host", .detail = absl::StrCat(Gibibytes(bytes), " in /dev/shm")};
  if (bytes < uint64_t{1} << 30)
    segments.lack = absl::StrCat("/dev/shm has ", bytes >> 20,
                                 " MiB, and NCCL needs up to 1 GiB; mount it larger, or "
                                 "docker run --shm-size=4g");
  findings.push_back(std::move(segments));
  return findings;
}

// Tests of several hosts give each host its own network.
Finding CheckNamespaces() {
  Finding finding{.feature = "tests of several hosts"};
  const pid_t child = fork();
  if (child == 0) _exit(unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 ? 0 : 1);
  int status = 1;
  if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
    finding.lack =
        "users may not create network namespaces, so these tests are skipped; sysctl "
        "kernel.unprivileged_userns_clone=1 (Ubuntu: kernel.apparmor_restrict_unprivileged_userns=0), or docker run "
        "--privileged";
  return finding;
}

Finding CheckPtxas() {
  const char* home = getenv("CUDA_HOME");
  const char* path = getenv("PATH");
  std::vector<std::string> folders = absl::StrSplit(path == nullptr ? "" : path, ':', absl::SkipEmpty());
  folders.push_back(absl::StrCat(home == nullptr ? "/usr/local/cuda" : home, "/bin"));
  for (const std::string& folder : folders)
    if (access((fs::path(folder) / "ptxas").c_str(), X_OK) == 0)
      return {.feature = "tests of GPU kernels", .detail = (fs::path(folder) / "ptxas").string()};
  return {.feature = "tests of GPU kernels",
          .lack =
              "there is no ptxas in PATH or CUDA_HOME/bin, so these tests are skipped; compiling for GPUs does not "
              "need it; pip install nvidia-cuda-nvcc-cu12, or install CUDA"};
}

}  // namespace

int Doctor(std::ostream& out) {
  std::vector<Finding> findings = {CheckCpus(),   CheckKernel(),    CheckRunner(), CheckFiles(),
                                   CheckLapack(), CheckHugePages(), CheckHosts(),  CheckLockedMemory()};
  for (Finding& finding : CheckGpus()) findings.push_back(std::move(finding));
  findings.push_back(CheckNamespaces());
  findings.push_back(CheckPtxas());
  bool is_usable = true;
  for (const Finding& finding : findings) {
    const bool works = finding.lack.empty();
    is_usable &= works || !finding.is_essential;
    const std::string& text = works ? finding.detail : finding.lack;
    out << (works                  ? "ok       "
            : finding.is_essential ? "MISSING  "
                                   : "lacking  ")
        << finding.feature << (text.empty() ? "" : ": ") << text << "\n";
  }
  out << (is_usable ? "This machine can compile and run on its CPUs.\n"
                    : "This machine cannot run ranks: see the lines that begin with MISSING.\n");
  return is_usable ? 0 : 1;
}

}  // namespace sgd::tools
