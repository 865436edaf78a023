// Drives the compiler, and keeps its recent results.
#include "plugins/pjrt/compile.h"

#include <cstdlib>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace sgd::pjrt {
namespace {

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

  void Add(std::shared_ptr<const CompiledText> compiled) {
    const std::lock_guard lock(mutex_);
    if (by_text_.contains(compiled->text)) return;
    entries_.push_front({std::move(compiled)});
    by_text_.emplace(entries_.front().compiled->text, entries_.begin());
    bytes_ += entries_.front().bytes();
    while (bytes_ > kMemoryBytes && entries_.size() > 1) {
      bytes_ -= entries_.back().bytes();
      by_text_.erase(entries_.back().compiled->text);
      entries_.pop_back();
    }
  }

 private:
  struct Entry {
    std::shared_ptr<const CompiledText> compiled;
    uint64_t bytes() const { return compiled->text.size() + compiled->artifact.size(); }
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

// `program` is the text's name in what is compiled, `name` that in messages. With `flag`, unless it is empty, beside
// those that all programs are compiled with.
compiler::CompileResult Compile(std::string_view text, const std::string& program, const std::string& name,
                                const std::string& target, const std::string& flag) {
  compiler::CompileRequest request{
      .programs = {{program, name, std::string(text)}}, .flags = {}, .recipes = {}, .is_described = false};
  // Functions are those of this process, so no later one could use the program.
  const bool calls_host = text.find("@sgd.host_call") != std::string_view::npos;
  if (const char* folder = std::getenv("SGD_COMPILE_CACHE"); folder != nullptr && *folder != 0 && !calls_host)
    request.flags = {absl::StrCat("--cache=", folder), "--cache-size=2GiB"};
  request.flags.push_back(absl::StrCat("--target=", target));
  request.flags.push_back("--keep-unreduced");
  // JAX refuses a program whose arguments have other shardings than it asked for, such as sharded optimizer state.
  request.flags.push_back("--shard-updates=never");
  if (!flag.empty()) request.flags.push_back(flag);
  return compiler::Compile(request);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const CompiledText>> CompileText(std::string_view text, const std::string& name,
                                                                const std::string& target) {
  if (auto found = Recent().Find(text)) return found;
  compiler::CompileResult result = Compile(text, "main", name, target, "");
  if (result.code != 0) return absl::InvalidArgumentError(absl::StripTrailingAsciiWhitespace(result.messages));
  auto compiled = std::make_shared<CompiledText>();
  compiled->text = text;
  compiled->artifact = std::move(result.artifact);
  compiled->metrics = result.metrics;
  Recent().Add(compiled);
  return compiled;
}

absl::StatusOr<std::string> PartitionText(std::string_view text, const std::string& name, const std::string& target) {
  compiler::CompileResult result = Compile(text, name, name, target, "--emit=stablehlo");
  if (result.code != 0) return absl::InvalidArgumentError(absl::StripTrailingAsciiWhitespace(result.messages));
  return std::move(result.emitted);
}

}  // namespace sgd::pjrt
