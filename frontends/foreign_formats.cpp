#include "frontends/foreign_formats.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

using namespace mlir;
using namespace mlir::sgd;

namespace {

constexpr StringLiteral kAsText =
    "print the program by jax.jit(f).lower(...).as_text(debug_info=True) and give that text to sgdc";
constexpr StringLiteral kExport =
    "export the module by torch.export.save(torch.export.export(module, inputs), 'model.pt2')";
constexpr StringLiteral kOnRun = "tensors are for sgdrun (--init, --inputs, --batches, --data); sgdc takes the program";

/// `magic` is what the file begins with.
struct BinaryFormat {
  StringLiteral magic, name, advice;
};

constexpr BinaryFormat kBinaryFormats[] = {
    {"ML\xefR", "MLIR bytecode", kAsText},
    {"\x80\x02", "a Python pickle", kExport},
    {"\x80\x03", "a Python pickle", kExport},
    {"\x80\x04", "a Python pickle", kExport},
    {"\x80\x05", "a Python pickle", kExport},
    {"\x93NUMPY", "a NumPy array", kOnRun},
    {"\x89HDF", "an HDF5 file", kExport},
    {"GGUF", "a GGUF file, which has weights and no program", kExport},
    {"\x89SGDA", "a compiled artifact", "run it by sgdrun, or look at it by sgd-inspect"},
    {"\x1f\x8b", "a gzip archive", "unpack it first"},
    {"\x28\xb5\x2f\xfd", "a zstd archive", "unpack it first"},
    {"\x7f"
     "ELF",
     "a program or library of this machine", "sgdc compiles text of programs, PyTorch archives and graphs"},
};

/// A safetensors file begins with the size of its JSON header, in eight bytes.
bool isSafetensors(StringRef bytes) { return bytes.size() > 9 && bytes.substr(8).starts_with("{\"") && bytes[7] == 0; }

/// Field 1 of an ONNX model is its version, a small number; field 2 names who wrote it.
bool isOnnx(StringRef bytes) {
  return bytes.size() > 4 && bytes[0] == '\x08' && bytes[1] > 0 && bytes[1] < 32 && bytes[2] == '\x12';
}

/// Field 1 of an HLO module is its name, behind the name's length.
bool isHloProto(StringRef bytes) {
  if (bytes.size() < 4 || bytes[0] != '\n') return false;
  auto length = static_cast<uint8_t>(bytes[1]);
  StringRef name = bytes.substr(2, length);
  auto isInName = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '-'; };
  return length > 0 && length < 128 && name.size() == length && llvm::all_of(name, isInName);
}

/// The name of the first member of a zip archive.
StringRef getFirstMember(StringRef bytes) {
  constexpr size_t kLengthAt = 26, kNameAt = 30;
  if (!bytes.starts_with("PK\3\4") || bytes.size() < kNameAt) return "";
  return bytes.substr(kNameAt, llvm::support::endian::read16le(bytes.data() + kLengthAt));
}

bool isPython(StringRef text) {
  constexpr StringLiteral kStarts[] = {"import ", "from ", "def ", "class ", "@", "\"\"\"", "# ", "#!/"};
  return llvm::any_of(kStarts, [&](StringRef start) { return text.starts_with(start); });
}

/// `{`, then a key in quotes: MLIR has keys without quotes behind an op's name only.
bool isJson(StringRef text) { return text.consume_front("{") && text.ltrim().starts_with("\""); }

std::optional<ForeignFormat> findText(StringRef bytes) {
  StringRef text = bytes.ltrim();
  if (text.starts_with("version https://git-lfs"))
    return ForeignFormat{"a pointer of Git LFS in place of the file", "fetch the file by git lfs pull"};
  if (text.starts_with_insensitive("<!doctype html") || text.starts_with_insensitive("<html"))
    return ForeignFormat{"a web page", "download the file again, and look at the address"};
  if (text.starts_with("HloModule ")) return ForeignFormat{"HLO text", kAsText};
  if (text.starts_with("{ lambda ")) return ForeignFormat{"a jaxpr", kAsText};
  if (isJson(text))
    return ForeignFormat{"JSON", "recipes are given by --recipe and topologies by --topology; MODEL is the program"};
  if (isPython(text))
    return ForeignFormat{
        "Python source",
        "sgdc takes what the script exports: jax.jit(f).lower(...).as_text(debug_info=True), or torch.export.save"};
  return std::nullopt;
}

}  // namespace

std::optional<ForeignFormat> mlir::sgd::findForeignFormat(StringRef bytes) {
  for (const BinaryFormat& format : kBinaryFormats)
    if (bytes.starts_with(format.magic)) return ForeignFormat{format.name, format.advice};
  StringRef member = getFirstMember(bytes);
  if (member.ends_with(".npy")) return ForeignFormat{"an npz file of arrays", kOnRun};
  if (member.ends_with("data.pkl")) return ForeignFormat{"what torch.save writes", kExport};
  if (isSafetensors(bytes)) return ForeignFormat{"a safetensors file", kOnRun};
  if (isOnnx(bytes)) return ForeignFormat{"an ONNX model", kExport};
  if (isHloProto(bytes)) return ForeignFormat{"an HLO module as a protocol buffer", kAsText};
  return findText(bytes);
}
