// A linker for the objects that kernels compile to.
#include "targets/cpu/codegen/shared_object.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using namespace llvm::object;
using ElfFile = ELFFile<ELF64LE>;

namespace {

constexpr uint64_t kPage = 4096;

/// A section of an input with its offset in the output.
struct Piece {
  ArrayRef<uint8_t> bytes;
  uint64_t alignment;
  uint64_t address = 0;
};

struct Input {
  ElfFile file;
  DenseMap<unsigned, Piece> pieces;  // by section number
};

struct Export {
  StringRef name;
  unsigned input, section;
  uint64_t value, size;
};

class Linker {
 public:
  Expected<SmallVector<char, 0>> run(ArrayRef<SmallVector<char, 0>> objects);

 private:
  Error read(ArrayRef<char> object);
  Error readSymbols(unsigned input, const ELF64LE::Shdr& table);
  void layOut();
  void place(bool executable, uint64_t& address);
  Error relocate(Input& input);
  Error applyRelocation(Input& input, const Piece& piece, const ELF64LE::Rela& rela, ArrayRef<ELF64LE::Sym> symbols);
  void writeHeaders();
  template <typename T>
  void put(uint64_t offset, const T& value) {
    memcpy(output.data() + offset, &value, sizeof(value));
  }

  SmallVector<Input, 8> inputs;
  SmallVector<Export> exports;
  std::string names = std::string(1, '\0');
  uint64_t symbolsAt = 0, namesAt = 0, hashAt = 0, dynamicAt = 0, readOnlyEnd = 0, codeAt = 0, codeEnd = 0;
  SmallVector<char, 0> output;
};

constexpr unsigned kProgramHeaders = 4, kDynamicEntries = 6;

Error Linker::read(ArrayRef<char> object) {
  Expected<ElfFile> file = ElfFile::create(StringRef(object.data(), object.size()));
  if (!file) return file.takeError();
  inputs.push_back(Input{*file, DenseMap<unsigned, Piece>()});
  auto sections = file->sections();
  if (!sections) return sections.takeError();
  for (auto [number, section] : enumerate(*sections)) {
    if (!(section.sh_flags & ELF::SHF_ALLOC) || section.sh_size == 0) continue;
    Expected<StringRef> name = file->getSectionName(section);
    if (!name) return name.takeError();
    if (*name == ".eh_frame") continue;
    if (section.sh_flags & ELF::SHF_WRITE || section.sh_type != ELF::SHT_PROGBITS)
      return createStringError("kernel object has data that is written or run at load: %s", name->str().c_str());
    Expected<ArrayRef<uint8_t>> bytes = file->getSectionContents(section);
    if (!bytes) return bytes.takeError();
    inputs.back().pieces[number] = Piece{*bytes, std::max<uint64_t>(section.sh_addralign, 1)};
  }
  for (const auto& section : *sections)
    if (section.sh_type == ELF::SHT_SYMTAB)
      if (Error error = readSymbols(inputs.size() - 1, section)) return error;
  return Error::success();
}

Error Linker::readSymbols(unsigned input, const ELF64LE::Shdr& table) {
  auto symbols = inputs[input].file.symbols(&table);
  auto strings = inputs[input].file.getStringTableForSymtab(table);
  if (!symbols) return symbols.takeError();
  if (!strings) return strings.takeError();
  for (const auto& symbol : drop_begin(*symbols)) {
    Expected<StringRef> name = symbol.getName(*strings);
    if (!name) return name.takeError();
    if (symbol.st_shndx == ELF::SHN_UNDEF)
      return createStringError("kernel object refers to '%s', which no artifact provides", name->str().c_str());
    if (symbol.getBinding() == ELF::STB_GLOBAL)
      exports.push_back({*name, input, symbol.st_shndx, symbol.st_value, symbol.st_size});
  }
  return Error::success();
}

void Linker::place(bool executable, uint64_t& address) {
  for (Input& input : inputs) {
    auto sections = cantFail(input.file.sections());
    for (unsigned number = 0; number < sections.size(); ++number) {
      auto piece = input.pieces.find(number);
      if (piece == input.pieces.end() || bool(sections[number].sh_flags & ELF::SHF_EXECINSTR) != executable) continue;
      address = alignTo(address, piece->second.alignment);
      piece->second.address = address;
      address += piece->second.bytes.size();
    }
  }
}

void Linker::layOut() {
  for (const Export& symbol : exports) names += symbol.name.str() + '\0';
  symbolsAt = sizeof(ELF::Elf64_Ehdr) + kProgramHeaders * sizeof(ELF::Elf64_Phdr);
  namesAt = symbolsAt + (exports.size() + 1) * sizeof(ELF::Elf64_Sym);
  hashAt = alignTo(namesAt + names.size(), 8);
  dynamicAt = alignTo(hashAt + (3 + 2 * (exports.size() + 1)) * 4, 8);  // as many buckets as symbols
  readOnlyEnd = dynamicAt + kDynamicEntries * sizeof(ELF::Elf64_Dyn);
  place(false, readOnlyEnd);
  codeAt = codeEnd = alignTo(readOnlyEnd, kPage);
  place(true, codeEnd);
  output.assign(codeEnd, 0);
}

Error Linker::applyRelocation(Input& input, const Piece& piece, const ELF64LE::Rela& rela,
                              ArrayRef<ELF64LE::Sym> symbols) {
  const auto& symbol = symbols[rela.getSymbol(false)];
  auto target = input.pieces.find(symbol.st_shndx);
  if (target == input.pieces.end()) return createStringError("kernel object refers to a section that is not kept");
  uint64_t place = piece.address + rela.r_offset;
  int64_t value = target->second.address + symbol.st_value + rela.r_addend - place;
  switch (rela.getType(false)) {
    case ELF::R_X86_64_PC32:
    case ELF::R_X86_64_PLT32:
      if (!isInt<32>(value)) return createStringError("kernels exceed 2 GiB");
      support::endian::write32le(output.data() + place, static_cast<uint32_t>(value));
      return Error::success();
    case ELF::R_X86_64_PC64:
      support::endian::write64le(output.data() + place, value);
      return Error::success();
    default:
      return createStringError("kernel object needs relocation type %u at load", rela.getType(false));
  }
}

Error Linker::relocate(Input& input) {
  auto sections = cantFail(input.file.sections());
  for (const auto& section : sections) {
    if (section.sh_type != ELF::SHT_RELA) continue;
    auto piece = input.pieces.find(section.sh_info);
    if (piece == input.pieces.end()) continue;
    auto relocations = input.file.relas(section);
    auto symbols = input.file.symbols(&sections[section.sh_link]);
    if (!relocations) return relocations.takeError();
    if (!symbols) return symbols.takeError();
    for (const auto& rela : *relocations)
      if (Error error = applyRelocation(input, piece->second, rela, *symbols)) return error;
  }
  return Error::success();
}

void Linker::writeHeaders() {
  ELF::Elf64_Ehdr header = {};
  const unsigned char identity[] = {
      0x7f, 'E', 'L', 'F', ELF::ELFCLASS64, ELF::ELFDATA2LSB, ELF::EV_CURRENT, ELF::ELFOSABI_NONE};
  std::copy(std::begin(identity), std::end(identity), header.e_ident);
  header.e_type = ELF::ET_DYN, header.e_machine = ELF::EM_X86_64, header.e_version = ELF::EV_CURRENT;
  header.e_phoff = header.e_ehsize = sizeof(header);
  header.e_phentsize = sizeof(ELF::Elf64_Phdr), header.e_phnum = kProgramHeaders;
  put(0, header);
  auto segment = [&](unsigned number, uint32_t type, uint32_t flags, uint64_t at, uint64_t size, uint64_t align) {
    ELF::Elf64_Phdr program = {};
    program.p_type = type, program.p_flags = flags;
    program.p_offset = program.p_vaddr = program.p_paddr = at;
    program.p_filesz = program.p_memsz = size, program.p_align = align;
    put(sizeof(header) + number * sizeof(program), program);
  };
  segment(0, ELF::PT_LOAD, ELF::PF_R, 0, readOnlyEnd, kPage);
  segment(1, ELF::PT_LOAD, ELF::PF_R | ELF::PF_X, codeAt, codeEnd - codeAt, kPage);
  segment(2, ELF::PT_DYNAMIC, ELF::PF_R, dynamicAt, kDynamicEntries * sizeof(ELF::Elf64_Dyn), 8);
  segment(3, ELF::PT_GNU_STACK, ELF::PF_R | ELF::PF_W, 0, 0, 16);

  memcpy(output.data() + namesAt, names.data(), names.size());
  uint32_t count = exports.size() + 1, nameAt = 1;
  SmallVector<uint32_t> buckets(count, 0), chains(count, 0);
  for (auto [number, symbol] : enumerate(exports)) {
    ELF::Elf64_Sym entry = {};
    entry.st_name = nameAt;
    entry.setBindingAndType(ELF::STB_GLOBAL, ELF::STT_FUNC);
    entry.st_shndx = 1;  // defined; there is no section table
    entry.st_value = inputs[symbol.input].pieces[symbol.section].address + symbol.value;
    entry.st_size = symbol.size;
    put(symbolsAt + (number + 1) * sizeof(entry), entry);
    uint32_t bucket = hashSysV(symbol.name) % count;
    chains[number + 1] = buckets[bucket];
    buckets[bucket] = number + 1;
    nameAt += symbol.name.size() + 1;
  }
  put(hashAt, count), put(hashAt + 4, count);
  memcpy(output.data() + hashAt + 8, buckets.data(), count * 4);
  memcpy(output.data() + hashAt + 8 + count * 4, chains.data(), count * 4);
  const std::pair<int64_t, uint64_t> dynamic[kDynamicEntries] = {{ELF::DT_HASH, hashAt},
                                                                 {ELF::DT_STRTAB, namesAt},
                                                                 {ELF::DT_SYMTAB, symbolsAt},
                                                                 {ELF::DT_STRSZ, names.size()},
                                                                 {ELF::DT_SYMENT, sizeof(ELF::Elf64_Sym)},
                                                                 {ELF::DT_NULL, 0}};
  for (auto [number, entry] : enumerate(dynamic))
    put(dynamicAt + number * 16, entry.first), put(dynamicAt + number * 16 + 8, entry.second);
}

Expected<SmallVector<char, 0>> Linker::run(ArrayRef<SmallVector<char, 0>> objects) {
  for (const auto& object : objects)
    if (Error error = read(object)) return std::move(error);
  layOut();
  for (Input& input : inputs) {
    for (auto& [number, piece] : input.pieces)
      memcpy(output.data() + piece.address, piece.bytes.data(), piece.bytes.size());
    if (Error error = relocate(input)) return std::move(error);
  }
  writeHeaders();
  return std::move(output);
}

}  // namespace

Expected<SmallVector<char, 0>> mlir::sgd::cpu::linkSharedObject(ArrayRef<SmallVector<char, 0>> objects) {
  return Linker().run(objects);
}
