// Reads the program headers and the dynamic section, which is what the loader goes by; section
// headers are not looked at.
#include "runtime/artifact/elf.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace sgd::artifact {
namespace {

constexpr uint64_t kMaxAddress = uint64_t{1} << 40;
constexpr uint16_t kMaxProgramHeaders = 64;

absl::Status Refuse(const std::string& what) { return absl::InvalidArgumentError(absl::StrCat("kernels: ", what)); }

template <typename T>
std::optional<T> Read(Bytes bytes, uint64_t offset) {
  if (offset > bytes.size() || sizeof(T) > bytes.size() - offset) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// The contents of the dynamic section; addresses are virtual.
struct Dynamic {
  uint64_t symbols = 0;
  uint64_t strings = 0;
  uint64_t strings_size = 0;
  uint64_t gnu_hash = 0;
  uint64_t hash = 0;  // the System V table, read when there is no GNU one
  uint64_t relocations = 0;
  uint64_t relocations_size = 0;
  bool has_calls_through_relocations = false;
};

class KernelObject {
 public:
  explicit KernelObject(Bytes bytes) : bytes_(bytes) {}

  absl::Status Check(const std::vector<std::string>& functions) {
    // The writable check comes last: what makes data writable mostly has a more telling message.
    for (auto step : {&KernelObject::ReadHeader, &KernelObject::ReadSegments, &KernelObject::ReadDynamic,
                      &KernelObject::ReadSymbols, &KernelObject::CheckRelocations, &KernelObject::CheckWritable}) {
      if (absl::Status status = (this->*step)(); !status.ok()) return status;
    }
    for (const std::string& function : functions) {
      if (!functions_.contains(function)) {
        return Refuse(absl::StrCat("the ELF object does not define the function '", absl::CEscape(function), "'"));
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status ReadHeader();
  absl::Status ReadSegments();
  absl::Status CheckWritable();
  absl::Status ReadDynamic();
  absl::Status TakeDynamicEntry(const Elf64_Dyn& entry);
  absl::Status CheckRelocations();
  absl::Status ReadSymbols();
  absl::Status ReadSymbol(uint64_t index);
  std::optional<uint64_t> SymbolCount() const;

  // T at a virtual address, if it is in the file's part of one segment.
  template <typename T>
  std::optional<T> ReadAt(uint64_t address) const {
    for (const Elf64_Phdr& load : loads_) {
      if (address < load.p_vaddr || address - load.p_vaddr > load.p_filesz ||
          sizeof(T) > load.p_filesz - (address - load.p_vaddr)) {
        continue;
      }
      return Read<T>(bytes_, load.p_offset + (address - load.p_vaddr));
    }
    return std::nullopt;
  }
  std::optional<std::string> StringAt(uint64_t offset) const;
  bool IsExecutable(uint64_t address) const;

  Bytes bytes_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> loads_;
  std::optional<Elf64_Phdr> dynamic_segment_;
  std::optional<Elf64_Phdr> relro_;
  bool has_stack_ = false;
  Dynamic dynamic_;
  absl::flat_hash_set<std::string> functions_;
};

absl::Status KernelObject::ReadHeader() {
  const std::optional<Elf64_Ehdr> header = Read<Elf64_Ehdr>(bytes_, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return Refuse("not an ELF object");
  header_ = *header;
  if (header_.e_ident[EI_CLASS] != ELFCLASS64 || header_.e_ident[EI_DATA] != ELFDATA2LSB ||
      header_.e_machine != EM_X86_64 || header_.e_type != ET_DYN || header_.e_version != EV_CURRENT) {
    return Refuse("the ELF object is not a shared object for x86-64");
  }
  if (header_.e_phentsize != sizeof(Elf64_Phdr) || header_.e_phnum == 0 || header_.e_phnum > kMaxProgramHeaders) {
    return Refuse("the ELF object has damaged program headers");
  }
  return absl::OkStatus();
}

absl::Status KernelObject::ReadSegments() {
  for (uint64_t i = 0; i < header_.e_phnum; ++i) {
    if (header_.e_phoff > bytes_.size()) return Refuse("the ELF object has damaged program headers");
    const std::optional<Elf64_Phdr> segment = Read<Elf64_Phdr>(bytes_, header_.e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment) return Refuse("the ELF object has damaged program headers");
    if (segment->p_offset > bytes_.size() || segment->p_filesz > bytes_.size() - segment->p_offset ||
        segment->p_vaddr > kMaxAddress || segment->p_memsz > kMaxAddress ||
        (segment->p_type == PT_LOAD && segment->p_filesz > segment->p_memsz)) {
      return Refuse("a segment of the ELF object is outside of it");
    }
    switch (segment->p_type) {
      case PT_LOAD:
        if (!loads_.empty() && segment->p_vaddr < loads_.back().p_vaddr + loads_.back().p_memsz) {
          return Refuse("segments of the ELF object overlap or are out of order");
        }
        loads_.push_back(*segment);
        break;
      case PT_DYNAMIC:
        dynamic_segment_ = segment;
        break;
      case PT_GNU_RELRO:
        relro_ = segment;
        break;
      case PT_GNU_STACK:
        has_stack_ = true;
        if (segment->p_flags & PF_X) return Refuse("the ELF object asks for an executable stack");
        break;
      case PT_TLS:
      case PT_INTERP:
        return Refuse("the ELF object has thread-local data or an interpreter");
      default:
        break;  // notes, unwinding tables and the headers' own entry
    }
  }
  if (!has_stack_) return Refuse("the ELF object asks for an executable stack (it has no PT_GNU_STACK)");
  if (!dynamic_segment_ || loads_.empty()) return Refuse("the ELF object has no dynamic section");
  return absl::OkStatus();
}

absl::Status KernelObject::CheckWritable() {
  for (const Elf64_Phdr& load : loads_) {
    if (!(load.p_flags & PF_W)) continue;
    const bool sealed =
        relro_ && load.p_vaddr >= relro_->p_vaddr && load.p_vaddr + load.p_memsz <= relro_->p_vaddr + relro_->p_memsz;
    if (!sealed || (load.p_flags & PF_X)) return Refuse("the ELF object has writable data");
  }
  return absl::OkStatus();
}

absl::Status KernelObject::ReadDynamic() {
  const uint64_t count = dynamic_segment_->p_filesz / sizeof(Elf64_Dyn);
  for (uint64_t i = 0; i < count; ++i) {
    const std::optional<Elf64_Dyn> entry = ReadAt<Elf64_Dyn>(dynamic_segment_->p_vaddr + i * sizeof(Elf64_Dyn));
    if (!entry) return Refuse("the ELF object has a damaged dynamic section");
    if (entry->d_tag == DT_NULL) {
      if (dynamic_.symbols == 0 || dynamic_.strings == 0 || (dynamic_.gnu_hash == 0 && dynamic_.hash == 0)) {
        return Refuse("the ELF object has no symbol table with a hash");
      }
      return absl::OkStatus();
    }
    if (absl::Status status = TakeDynamicEntry(*entry); !status.ok()) return status;
  }
  return Refuse("the ELF object has a damaged dynamic section");
}

// An allow-list: an entry that is not known here could run code or load a library.
absl::Status KernelObject::TakeDynamicEntry(const Elf64_Dyn& entry) {
  switch (entry.d_tag) {
    case DT_SYMTAB:
      dynamic_.symbols = entry.d_un.d_ptr;
      break;
    case DT_STRTAB:
      dynamic_.strings = entry.d_un.d_ptr;
      break;
    case DT_STRSZ:
      dynamic_.strings_size = entry.d_un.d_val;
      break;
    case DT_GNU_HASH:
      dynamic_.gnu_hash = entry.d_un.d_ptr;
      break;
    case DT_HASH:
      dynamic_.hash = entry.d_un.d_ptr;
      break;
    case DT_RELA:
      dynamic_.relocations = entry.d_un.d_ptr;
      break;
    case DT_RELASZ:
      dynamic_.relocations_size = entry.d_un.d_val;
      break;
    case DT_SYMENT:
      if (entry.d_un.d_val != sizeof(Elf64_Sym)) return Refuse("the ELF object has symbols of another size");
      break;
    case DT_RELAENT:
      if (entry.d_un.d_val != sizeof(Elf64_Rela)) return Refuse("the ELF object has relocations of another size");
      break;
    case DT_FLAGS:
      if (entry.d_un.d_val & ~uint64_t{DF_SYMBOLIC | DF_BIND_NOW}) return Refuse("the ELF object has text relocations");
      break;
    case DT_RELACOUNT:
    case DT_SONAME:
    case DT_SYMBOLIC:
    case DT_FLAGS_1:
      break;
    case DT_NEEDED:
      return Refuse("the ELF object needs another library");
    case DT_INIT:
    case DT_FINI:
    case DT_INIT_ARRAY:
    case DT_FINI_ARRAY:
    case DT_PREINIT_ARRAY:
      return Refuse("the ELF object runs code when it is loaded or unloaded");
    case DT_JMPREL:
    case DT_PLTRELSZ:
    case DT_PLTREL:
    case DT_PLTGOT:
      dynamic_.has_calls_through_relocations = true;
      break;
    default:
      return Refuse(absl::StrCat("the ELF object has an unexpected dynamic entry 0x", absl::Hex(entry.d_tag)));
  }
  return absl::OkStatus();
}

absl::Status KernelObject::CheckRelocations() {
  if (dynamic_.has_calls_through_relocations) {
    return Refuse("the ELF object calls functions through relocations (link with -Bsymbolic)");
  }
  const uint64_t count = dynamic_.relocations_size / sizeof(Elf64_Rela);
  for (uint64_t i = 0; i < count; ++i) {
    const std::optional<Elf64_Rela> relocation = ReadAt<Elf64_Rela>(dynamic_.relocations + i * sizeof(Elf64_Rela));
    if (!relocation) return Refuse("the ELF object has damaged relocations");
    if (ELF64_R_TYPE(relocation->r_info) != R_X86_64_RELATIVE) {
      return Refuse(absl::StrCat("the ELF object has a relocation of type ", ELF64_R_TYPE(relocation->r_info),
                                 " where only relative ones are allowed (link with -Bsymbolic)"));
    }
    const bool inside_relro =
        relro_ && relocation->r_offset >= relro_->p_vaddr && relocation->r_offset - relro_->p_vaddr < relro_->p_memsz;
    if (!inside_relro) return Refuse("the ELF object has a relocation outside of its read-only data");
  }
  return absl::OkStatus();
}

// The hash table covers the symbols from `offset` on; the last one is the end of the longest chain.
std::optional<uint64_t> KernelObject::SymbolCount() const {
  if (dynamic_.gnu_hash == 0) {
    // Bucket count, then chain count, which is the number of symbols.
    const std::optional<uint32_t> count = ReadAt<uint32_t>(dynamic_.hash + 4);
    return count ? std::optional<uint64_t>(*count) : std::nullopt;
  }
  struct HashHeader {
    uint32_t buckets, offset, bloom_words, bloom_shift;
  };
  const std::optional<HashHeader> header = ReadAt<HashHeader>(dynamic_.gnu_hash);
  if (!header) return std::nullopt;
  const uint64_t buckets = dynamic_.gnu_hash + sizeof(HashHeader) + uint64_t{header->bloom_words} * 8;
  const uint64_t chains = buckets + uint64_t{header->buckets} * 4;
  uint64_t last = 0;
  for (uint64_t i = 0; i < header->buckets; ++i) {
    const std::optional<uint32_t> first = ReadAt<uint32_t>(buckets + i * 4);
    if (!first) return std::nullopt;
    last = std::max<uint64_t>(last, *first);
  }
  if (last < header->offset) return header->offset;
  for (;; ++last) {
    const std::optional<uint32_t> link = ReadAt<uint32_t>(chains + (last - header->offset) * 4);
    if (!link) return std::nullopt;
    if (*link & 1) return last + 1;
  }
}

absl::Status KernelObject::ReadSymbols() {
  const std::optional<uint64_t> count = SymbolCount();
  if (!count) return Refuse("the ELF object has a damaged symbol hash table");
  for (uint64_t i = 1; i < *count; ++i) {
    if (absl::Status status = ReadSymbol(i); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status KernelObject::ReadSymbol(uint64_t index) {
  const std::optional<Elf64_Sym> symbol = ReadAt<Elf64_Sym>(dynamic_.symbols + index * sizeof(Elf64_Sym));
  const std::optional<std::string> name = symbol ? StringAt(symbol->st_name) : std::nullopt;
  if (!name) return Refuse("the ELF object has a damaged symbol table");
  if (symbol->st_shndx == SHN_UNDEF) {
    return Refuse(absl::StrCat("the ELF object has the undefined symbol '", absl::CEscape(*name), "'"));
  }
  const int type = ELF64_ST_TYPE(symbol->st_info);
  if (type == STT_GNU_IFUNC || type == STT_TLS) {
    return Refuse(absl::StrCat("the symbol '", absl::CEscape(*name), "' is resolved by code or thread-local"));
  }
  if (type == STT_FUNC && symbol->st_shndx < SHN_LORESERVE && IsExecutable(symbol->st_value)) {
    functions_.insert(*name);
  }
  return absl::OkStatus();
}

std::optional<std::string> KernelObject::StringAt(uint64_t offset) const {
  std::string text;
  for (; offset < dynamic_.strings_size; ++offset) {
    const std::optional<char> character = ReadAt<char>(dynamic_.strings + offset);
    if (!character) return std::nullopt;
    if (*character == '\0') return text;
    text.push_back(*character);
  }
  return std::nullopt;
}

bool KernelObject::IsExecutable(uint64_t address) const {
  return std::any_of(loads_.begin(), loads_.end(), [&](const Elf64_Phdr& load) {
    return (load.p_flags & PF_X) && address >= load.p_vaddr && address - load.p_vaddr < load.p_filesz;
  });
}

}  // namespace

absl::Status CheckKernelObject(Bytes object, const std::vector<std::string>& functions) {
  return KernelObject(object).Check(functions);
}

}  // namespace sgd::artifact
