// Keys, entries and the look-up. An entry is a header, the SHA-256 of what follows, and six parts with their lengths.
#include "compiler/driver/compile_cache.h"

#include <chrono>

#include "compiler/driver/build_identity.h"
#include "compiler/driver/create_request.h"
#include "compiler/target/target.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "passes/cost/topology.h"
#include "runtime/artifact/cache_file.h"
#include "runtime/artifact/container.h"
#include "runtime/artifact/short_message.h"
#include "runtime/json/json_text.h"
#include "runtime/text/text_file.h"

using namespace mlir;
using namespace mlir::sgd;

static constexpr llvm::StringLiteral kHeader = "sgdc cache entry 2\n";
static constexpr size_t kHashBytes = 32;
static constexpr llvm::StringLiteral kSuffix = ".sgdc";

/// Texts one after another, each behind its length: no two lists of texts give the same bytes.
static void append(std::string& to, StringRef text) {
  char length[8];
  llvm::support::endian::write64le(length, text.size());
  to.append(length, sizeof(length));
  to += text;
}

static std::optional<StringRef> take(StringRef& from) {
  if (from.size() < 8) return std::nullopt;
  uint64_t length = llvm::support::endian::read64le(from.data());
  from = from.drop_front(8);
  if (from.size() < length) return std::nullopt;
  StringRef text = from.take_front(length);
  from = from.drop_front(length);
  return text;
}

static std::optional<::sgd::artifact::Hash> hash(StringRef bytes) {
  auto result = ::sgd::artifact::Sha256({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  return result.ok() ? std::optional(*result) : std::nullopt;
}

static StringRef textOf(const ::sgd::artifact::Hash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}

static llvm::Error addTopology(std::string& key, const CompileOptions& options) {
  if (isBuiltInTopology(options.topology)) return llvm::Error::success();
  std::string text;
  if (auto fault = ::sgd::text::ReadTextFile(options.topology, text))
    return llvm::createStringError("cannot read " + options.topology + ": " + *fault);
  append(key, text);
  return llvm::Error::success();
}

/// The entry's name: the request, and all that it refers to.
static llvm::Expected<std::string> getKey(ArrayRef<ProgramSource> sources, const CompileOptions& options) {
  llvm::Expected<std::string> build = getBuildIdentity();
  if (!build) return build.takeError();
  llvm::Expected<std::unique_ptr<Target>> target = Target::create(options);
  if (!target) return target.takeError();
  Request request = createRequest(sources, options, **target);
  std::string key;
  for (const std::string& text : {*build, (*target)->getIdentity(), request.getKey()}) append(key, text);
  if (llvm::Error error = addTopology(key, request.options)) return error;
  append(key, options.emitsStablehlo ? "stablehlo" : options.emit ? getName(*options.emit) : "");
  append(key, options.writeArtifact ? "artifact" : "");
  append(key, options.emitsRequest ? "request" : "");
  for (const ProgramSource& source : sources) append(key, source.text);
  std::optional<::sgd::artifact::Hash> name = hash(key);
  if (!name) return llvm::createStringError("SHA-256 is not available");
  return ::sgd::artifact::HexHash(*name);
}

std::string mlir::sgd::packCompilation(const Compilation& compilation, StringRef messages) {
  std::string parts;
  for (StringRef part :
       {StringRef(compilation.emitted), StringRef(compilation.request), StringRef(compilation.artifact), messages})
    append(parts, part);
  append(parts, ::sgd::json::WriteJson(compilation.report.toJson()));
  append(parts, ::sgd::json::WriteJson(compilation.explanation.toJson()));
  std::optional<::sgd::artifact::Hash> sum = hash(parts);
  return sum ? (kHeader + textOf(*sum) + parts).str() : std::string();
}

std::optional<std::pair<Compilation, std::string>> mlir::sgd::unpackCompilation(StringRef bytes) {
  if (!bytes.consume_front(kHeader) || bytes.size() < kHashBytes) return std::nullopt;
  StringRef parts = bytes.drop_front(kHashBytes);
  std::optional<::sgd::artifact::Hash> sum = hash(parts);
  if (!sum || textOf(*sum) != bytes.take_front(kHashBytes)) return std::nullopt;
  std::optional<StringRef> emitted = take(parts), request = take(parts), artifact = take(parts), messages = take(parts),
                           report = take(parts), explanation = take(parts);
  if (!explanation || !parts.empty()) return std::nullopt;
  Compilation compilation{emitted->str(), request->str(), artifact->str(), {}, {}};
  auto parse = [](StringRef text) {
    return nlohmann::json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  };
  if (!fromJson(parse(*report), compilation.report) || !fromJson(parse(*explanation), compilation.explanation))
    return std::nullopt;
  return std::pair(std::move(compilation), messages->str());
}

/// 64 hexadecimal digits and `.sgdc`; while it is written, followed by the suffix of WriteCacheFile.
static bool isEntryName(StringRef name, bool& isTemporary) {
  StringRef key = name.take_front(64);
  isTemporary = name.size() > key.size() + kSuffix.size();
  return key.size() == 64 && llvm::all_of(key, [](char c) { return llvm::isHexDigit(c); }) &&
         name.drop_front(64).starts_with(kSuffix);
}

void mlir::sgd::trimCache(StringRef folder, uint64_t limit) {
  struct Entry {
    llvm::sys::TimePoint<> used;
    std::string path;
    uint64_t bytes;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code problem;
  auto now = std::chrono::system_clock::now();
  for (llvm::sys::fs::directory_iterator it(folder, problem), end; it != end && !problem; it.increment(problem)) {
    bool isTemporary = false;
    llvm::ErrorOr<llvm::sys::fs::basic_file_status> status = it->status();
    if (!status || !isEntryName(llvm::sys::path::filename(it->path()), isTemporary)) continue;
    if (!isTemporary) {
      entries.push_back({status->getLastModificationTime(), it->path(), status->getSize()});
      total += status->getSize();
    } else if (now - status->getLastModificationTime() > std::chrono::hours(1)) {
      llvm::sys::fs::remove(it->path());
    }
  }
  llvm::sort(entries,
             [](const Entry& a, const Entry& b) { return std::tie(a.used, a.path) < std::tie(b.used, b.path); });
  for (const Entry& entry : entries) {
    if (total <= limit) return;
    // A reader keeps the file open; if another process deletes it first, it has made room as well.
    llvm::sys::fs::remove(entry.path);
    total -= entry.bytes;
  }
}

/// Its place in the order of deletion follows from when it was used; a folder that only lends entries keeps its order.
static void markAsUsed(const std::string& path) {
  int file = -1;
  if (llvm::sys::fs::openFileForRead(path, file)) return;
  (void)llvm::sys::fs::setLastAccessAndModificationTime(file, std::chrono::system_clock::now());
  (void)llvm::sys::Process::SafelyCloseFileDescriptor(file);
}

static void store(StringRef folder, uint64_t limit, const std::string& path, const std::string& entry,
                  llvm::raw_ostream& errors) {
  if (entry.size() > limit) return;
  if (std::error_code problem = llvm::sys::fs::create_directories(folder)) {
    errors << "sgdc: warning: --cache: cannot create " << ::sgd::artifact::ShortMessage(folder) << ": "
           << problem.message() << "; nothing is kept\n";
    return;
  }
  absl::Status status = ::sgd::artifact::WriteCacheFile(path, entry);
  if (status.ok())
    trimCache(folder, limit);
  else
    errors << "sgdc: warning: --cache: " << ::sgd::artifact::ShortMessage(std::string(status.message()))
           << "; nothing is kept\n";
}

FailureOr<Compilation> mlir::sgd::compileCached(ArrayRef<ProgramSource> sources, const CompileOptions& options,
                                                StringRef folder, uint64_t limit, llvm::raw_ostream& errors,
                                                Timings* timings) {
  Timings::Scope scope(timings, "cache");
  auto start = std::chrono::steady_clock::now();
  llvm::Expected<std::string> key = getKey(sources, options);
  if (!key) {
    errors << "sgdc: warning: --cache is not used: " << llvm::toString(key.takeError()) << "\n";
    return compile(sources, options, errors, timings);
  }
  SmallString<256> path(folder);
  llvm::sys::path::append(path, *key + kSuffix);
  auto file = ::sgd::artifact::ReadCacheFile(path.str().str());
  if (file.ok()) {
    if (auto entry = unpackCompilation(*file)) {
      markAsUsed(path.str().str());
      errors << entry->second;
      entry->first.report.compileSeconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      return std::move(entry->first);
    }
  } else if (absl::IsPermissionDenied(file.status())) {
    errors << "sgdc: warning: --cache: " << ::sgd::artifact::ShortMessage(std::string(file.status().message())) << "\n";
  }
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  FailureOr<Compilation> compilation = compile(sources, options, stream, timings);
  errors << messages;
  if (failed(compilation)) return failure();
  // Equal compilations leave equal entries: the compile time is not kept.
  double seconds = std::exchange(compilation->report.compileSeconds, 0);
  store(folder, limit, path.str().str(), packCompilation(*compilation, messages), errors);
  compilation->report.compileSeconds = seconds;
  return compilation;
}
