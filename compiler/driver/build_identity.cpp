// Build ids are read from the notes of the objects that the dynamic linker has mapped: no file is opened.
#include "compiler/driver/build_identity.h"

#include <elf.h>
#include <link.h>

#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir::sgd;

namespace {

struct Search {
  std::vector<std::string> ids;
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

bool hasThisFunction(const dl_phdr_info& object) {
  auto here = reinterpret_cast<ElfW(Addr)>(&hasThisFunction);
  return llvm::any_of(llvm::ArrayRef(object.dlpi_phdr, object.dlpi_phnum), [&](const ElfW(Phdr) & segment) {
    ElfW(Addr) begin = object.dlpi_addr + segment.p_vaddr;
    return segment.p_type == PT_LOAD && begin <= here && here < begin + segment.p_memsz;
  });
}

/// Whether the compiler's results depend on the object. Others in the process, such as Python's, may come and go.
bool isOfCompiler(const dl_phdr_info& object) {
  if (hasThisFunction(object)) return true;
  llvm::StringRef name = llvm::sys::path::filename(object.dlpi_name);
  return llvm::any_of(std::initializer_list<llvm::StringRef>{"libMLIR", "libLLVM", "libstdc++.", "libm.", "libc."},
                      [&](llvm::StringRef start) { return name.starts_with(start); });
}

int addObject(dl_phdr_info* object, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  if (!isOfCompiler(*object)) return 0;
  for (const ElfW(Phdr) & segment : llvm::ArrayRef(object->dlpi_phdr, object->dlpi_phnum)) {
    if (segment.p_type != PT_NOTE) continue;
    llvm::StringRef id =
        findBuildId(reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr), segment.p_memsz);
    if (id.empty()) continue;
    search.ids.push_back(id.str());
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
  // In no order of loading, which depends on what else is in the process.
  llvm::sort(search.ids);
  if (search.isComplete) return llvm::join(search.ids, "");
  return llvm::createStringError("'%s' has no build id",
                                 search.objectWithout.empty() ? "the executable" : search.objectWithout.c_str());
}
