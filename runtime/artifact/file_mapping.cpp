// Mappings are kept in a list that only grows, so that a signal handler can walk it at any time; records are used
// again.
#include "runtime/artifact/file_mapping.h"

#include <signal.h>
#include <sys/mman.h>

#include <atomic>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/comm/leave.h"

namespace sgd::artifact {

struct FileMapping::Record {
  std::atomic<uintptr_t> begin = 0;
  std::atomic<uintptr_t> end = 0;  // 0: free
  std::string path;                // valid while in use
  Record* next = nullptr;
  static inline std::atomic<Record*> head = nullptr;
  static inline std::mutex mutex;  // for taking records

  static Record* Take(uintptr_t begin, uintptr_t end, const std::string& path) {
    const std::lock_guard lock(mutex);
    Record* record = head.load();
    while (record != nullptr && record->end.load() != 0) record = record->next;
    const bool is_new = record == nullptr;
    if (is_new) record = new Record;
    record->path = path;
    record->begin.store(begin);
    record->end.store(end);
    if (is_new) {
      record->next = head.load();
      head.store(record);
    }
    return record;
  }

  // On the thread that has touched the page, which holds no lock of the allocator then: the handler may allocate.
  static void OnBusError(int, siginfo_t* info, void*) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(info->si_addr);
    for (const Record* record = head.load(); record != nullptr; record = record->next) {
      if (address < record->begin.load() || address >= record->end.load()) continue;
      comm::LeaveAtOnce(absl::DataLossError(
          absl::StrCat(record->path,
                       ": was cut short by another program, or its disk failed, while this run had it mapped; "
                       "replace files by renaming new ones over them")));
    }
    signal(SIGBUS, SIG_DFL);  // not of a file: the access is repeated and has its usual end
  }
};

void LeaveWhenFilesShrink() {
  struct sigaction action = {};
  action.sa_sigaction = FileMapping::Record::OnBusError;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGBUS, &action, nullptr);
}

FileMapping::FileMapping(void* data, uint64_t size, const std::string& path)
    : data_(data),
      size_(size),
      record_(Record::Take(reinterpret_cast<uintptr_t>(data), reinterpret_cast<uintptr_t>(data) + size, path)) {}

FileMapping::FileMapping(FileMapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      record_(std::exchange(other.record_, nullptr)) {}

FileMapping& FileMapping::operator=(FileMapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(record_, other.record_);
  return *this;
}

FileMapping::~FileMapping() {
  if (data_ == nullptr) return;
  // Before its addresses can be another's.
  record_->end.store(0);
  munmap(data_, size_);
}

}  // namespace sgd::artifact
