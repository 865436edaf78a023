// Build ids are read from the notes of the objects that the dynamic linker has mapped: no file is opened.
#include "compiler/driver/build_identity.h"

#include <elf.h>
#include <link.h>

#include <cstring>

#include "llvm/Support/MathExtras.h"

using namespace mlir::sgd;

namespace {

struct Search {
  std::string identity;
  std::string objectWithout;  ///< name of an object without a build id
  bool isComplete = true;
};

/// The descriptor of the first NT_GNU_BUILD_ID among the notes of one segment; empty when there is none.
llvm::StringRef findBuildId(const char* notes, size_t size) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes, sizeof(header));
    size_t name = sizeof(header), description = name + llvm::alignTo(header.n_namesz, 4);
    size_t end = description + llvm::alignTo(header.n_descsz, 4);
    if (end > size) break;
    if (header.n_type == NT_GNU_BUILD_ID &&
        llvm::StringRef(notes + name, header.n_namesz) == llvm::StringRef("GNU\0", 4))
      return {notes + description, header.n_descsz};
    notes += end;
    size -= end;
  }
  return {};
}

int addObject(dl_phdr_info* object, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  // The kernel's own object changes with the kernel and holds no code of ours.
  if (llvm::StringRef(object->dlpi_name).starts_with("linux-vdso")) return 0;
  for (const ElfW(Phdr) & segment : llvm::ArrayRef(object->dlpi_phdr, object->dlpi_phnum)) {
    if (segment.p_type != PT_NOTE) continue;
    llvm::StringRef id =
        findBuildId(reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr), segment.p_memsz);
    if (id.empty()) continue;
    search.identity += id;
    return 0;
  }
  search.isComplete = false;
  search.objectWithout = object->dlpi_name;
  return 1;
}

}  // namespace

llvm::Expected<std::string> mlir::sgd::getBuildIdentity() {
  Search search;
  dl_iterate_phdr(addObject, &search);
  if (search.isComplete) return search.identity;
  return llvm::createStringError("'%s' has no build id",
                                 search.objectWithout.empty() ? "the executable" : search.objectWithout.c_str());
}
