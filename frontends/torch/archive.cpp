// Reads members by libzip, which checks their CRC.
#include "frontends/torch/archive.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include <cerrno>

#include "frontends/frontend.h"

using namespace mlir::sgd::torch;
using llvm::StringRef;
using llvm::Twine;

static llvm::Error fail(const Twine& message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

bool mlir::sgd::torch::isZip(StringRef bytes) { return bytes.starts_with(StringRef("PK\003\004", 4)); }

void Archive::Closer::operator()(zip* archive) const { zip_discard(archive); }

/// Finds the top folder. Refuses names with `..` and names outside of it.
static llvm::Expected<std::string> findFolder(zip* archive) {
  std::string folder;
  for (zip_int64_t index = 0, count = zip_get_num_entries(archive, 0); index < count; ++index) {
    const char* raw = zip_get_name(archive, index, 0);
    StringRef name = raw ? raw : "";
    if (folder.empty()) folder = (name.split('/').first + "/").str();
    bool isSafe = name.starts_with(folder) && !name.contains("..") && !name.contains('\\');
    if (!isSafe)
      return fail("has a member '" + name +
                  "'; expected names in one folder, as torch.export.save writes them; export the model anew");
  }
  if (folder.size() < 2)
    return fail("has no members; expected those that torch.export.save writes; export the model anew");
  return folder;
}

llvm::Expected<Archive> Archive::check(zip* opened, zip_error* error) {
  std::string why = opened ? "" : zip_error_strerror(error);
  zip_error_fini(error);
  if (!opened)
    return fail("is a damaged zip archive (" + why + "); expected a whole .pt2 file; export or copy the model anew");
  std::unique_ptr<zip, Closer> archive(opened);
  llvm::Expected<std::string> folder = findFolder(opened);
  if (!folder) return folder.takeError();
  return Archive(std::move(archive), *folder);
}

/// Opens the regular file `path`; waits for no other. Null after an error.
static zip_t* openFile(const std::string& path, zip_error_t& error) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status;
  if (descriptor < 0 || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    zip_error_set(&error, ZIP_ER_OPEN, descriptor < 0 ? errno : EINVAL);
    if (descriptor >= 0) ::close(descriptor);
    return nullptr;
  }
  int code = 0;
  zip_t* opened = zip_fdopen(descriptor, ZIP_CHECKCONS, &code);
  if (opened) return opened;
  ::close(descriptor);
  zip_error_init_with_code(&error, code);
  return nullptr;
}

llvm::Expected<Archive> Archive::open(llvm::MemoryBufferRef source) {
  zip_error_t error;
  zip_error_init(&error);
  StringRef bytes = source.getBuffer();
  if (bytes.ends_with(kRestInFile)) return check(openFile(source.getBufferIdentifier().str(), error), &error);
  zip_source_t* buffer = zip_source_buffer_create(bytes.data(), bytes.size(), /*freep=*/0, &error);
  zip_t* opened = buffer ? zip_open_from_source(buffer, ZIP_RDONLY | ZIP_CHECKCONS, &error) : nullptr;
  if (!opened && buffer) zip_source_free(buffer);
  return check(opened, &error);
}

llvm::Expected<uint64_t> Archive::findSize(const std::string& path) const {
  zip_stat_t stat;
  zip_stat_init(&stat);
  constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD;
  if (zip_stat(archive.get(), path.c_str(), 0, &stat) != 0 || (stat.valid & kNeeded) != kNeeded)
    return fail("has no member '" + path +
                "'; expected an archive that torch.export.save wrote; export the model by it");
  if (stat.comp_method != ZIP_CM_STORE)
    return fail("has '" + path +
                "' compressed; expected stored members, as torch.export.save writes them; export the model anew");
  return stat.size;
}

llvm::Expected<std::string> Archive::read(StringRef name, uint64_t mostBytes) const {
  std::string path = folder + name.str();
  llvm::Expected<uint64_t> size = findSize(path);
  if (!size) return size.takeError();
  if (*size > mostBytes)
    return fail("has " + Twine(*size) + " bytes in '" + path + "'; expected " + Twine(mostBytes) + " at most");
  std::string bytes(*size, '\0');
  zip_file_t* file = zip_fopen(archive.get(), path.c_str(), 0);
  zip_int64_t count = file ? zip_fread(file, bytes.data(), bytes.size()) : -1;
  char behind = 0;
  // The CRC is checked where the member ends.
  bool isWhole = count == static_cast<zip_int64_t>(bytes.size()) && zip_fread(file, &behind, 1) == 0;
  bool isRead = file && zip_fclose(file) == 0 && isWhole;
  if (!isRead) return fail("has a damaged member '" + path + "'; export or copy the model anew");
  return bytes;
}

llvm::Expected<std::string> Archive::readStart(StringRef name, uint64_t mostBytes) const {
  std::string path = folder + name.str();
  llvm::Expected<uint64_t> size = findSize(path);
  if (!size) return size.takeError();
  std::string bytes(std::min(*size, mostBytes), '\0');
  zip_file_t* file = zip_fopen(archive.get(), path.c_str(), 0);
  zip_int64_t count = file ? zip_fread(file, bytes.data(), bytes.size()) : -1;
  if (file) zip_fclose(file);
  if (count != static_cast<zip_int64_t>(bytes.size()))
    return fail("has a damaged member '" + path + "'; export or copy the model anew");
  return bytes;
}
