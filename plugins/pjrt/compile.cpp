// Drives the compiler, and keeps its recent results.
#include "plugins/pjrt/compile.h"

#include <cstdlib>
#include <list>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "absl/strings/strip.h"
#include "compiler/driver/compile_cache.h"
#include "compiler/driver/driver.h"

namespace sgd::pjrt {
namespace {

constexpr uint64_t kFolderBytes = uint64_t{2} << 30;
constexpr uint64_t kMemoryBytes = uint64_t{256} << 20;

// Compilations by their text, the most recently used first.
class RecentCompilations {
 public:
  std::shared_ptr<const CompiledText> Find(std::string_view text) {
    const std::lock_guard lock(mutex_);
    const auto found = by_text_.find(text);
    if (found == by_text_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return found->second->compiled;
  }

  void Add(std::string_view text, std::shared_ptr<const CompiledText> compiled) {
    const std::lock_guard lock(mutex_);
    if (by_text_.contains(text)) return;
    entries_.push_front({std::string(text), std::move(compiled)});
    by_text_.emplace(entries_.front().text, entries_.begin());
    bytes_ += entries_.front().bytes();
    while (bytes_ > kMemoryBytes && entries_.size() > 1) {
      bytes_ -= entries_.back().bytes();
      by_text_.erase(entries_.back().text);
      entries_.pop_back();
    }
  }

 private:
  struct Entry {
    std::string text;
    std::shared_ptr<const CompiledText> compiled;
    uint64_t bytes() const { return text.size() + compiled->artifact.size(); }
  };

  std::mutex mutex_;
  std::list<Entry> entries_;
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_text_;
  uint64_t bytes_ = 0;
};

RecentCompilations& Recent() {
  static auto& recent = *new RecentCompilations();
  return recent;
}

mlir::FailureOr<mlir::sgd::Compilation> Compile(std::string_view text, const std::string& name,
                                                llvm::raw_ostream& errors) {
  const mlir::sgd::ProgramSource source{"main", name, std::string(text)};
  const mlir::sgd::CompileOptions options;
  const char* folder = std::getenv("SGD_COMPILE_CACHE");
  if (folder == nullptr || *folder == 0) return mlir::sgd::compile(source, options, errors);
  return mlir::sgd::compileCached(source, options, folder, kFolderBytes, errors);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const CompiledText>> CompileText(std::string_view text, const std::string& name) {
  if (auto found = Recent().Find(text)) return found;
  std::string messages;
  llvm::raw_string_ostream errors(messages);
  mlir::FailureOr<mlir::sgd::Compilation> compilation = Compile(text, name, errors);
  if (failed(compilation)) return absl::InvalidArgumentError(absl::StripTrailingAsciiWhitespace(messages));
  auto compiled = std::make_shared<CompiledText>();
  compiled->artifact = std::move(compilation->artifact);
  compiled->flops = static_cast<double>(compilation->report.flops);
  const mlir::sgd::MemoryReport& memory = compilation->report.memory;
  compiled->arguments = memory.arguments;
  compiled->outputs = memory.outputs;
  compiled->aliased = memory.aliased;
  compiled->temporaries = memory.temporaries;
  compiled->peak = memory.peak;
  Recent().Add(text, compiled);
  return compiled;
}

}  // namespace sgd::pjrt
