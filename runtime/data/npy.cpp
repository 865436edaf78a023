// A parser of the one form of dictionary that NumPy writes.
#include "runtime/data/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace sgd::data {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kMostDims = 64;

absl::Status NotNpy(const auto&... what) { return absl::InvalidArgumentError(absl::StrCat(what...)); }

std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<Dims> shape;
};

// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  absl::Status Parse(Header& header) {
    if (!Take("{")) return Malformed();
    while (!Take("}")) {
      const std::optional<std::string> key = TakeString();
      if (!key || !Take(":")) return Malformed();
      if (absl::Status status = ParseValue(*key, header); !status.ok()) return status;
      if (Take(",")) continue;
      if (!Take("}")) return Malformed();
      break;
    }
    SkipSpace();
    if (!text_.empty() || !header.descr || !header.fortran_order || !header.shape) return Malformed();
    return absl::OkStatus();
  }

 private:
  static absl::Status Malformed() {
    return NotNpy("its .npy header is no dictionary of descr, fortran_order and shape; write it by numpy.save");
  }

  absl::Status ParseValue(const std::string& key, Header& header) {
    if (key == "descr" && !header.descr) {
      SkipSpace();
      if (text_.starts_with("["))
        return NotNpy("holds records; expected an array of numbers; save each field by itself");
      header.descr = TakeString();
      return header.descr ? absl::OkStatus() : Malformed();
    }
    if (key == "fortran_order" && !header.fortran_order) {
      if (Take("True"))
        header.fortran_order = true;
      else if (Take("False"))
        header.fortran_order = false;
      return header.fortran_order ? absl::OkStatus() : Malformed();
    }
    if (key == "shape" && !header.shape) return ParseShape(header);
    return Malformed();
  }

  absl::Status ParseShape(Header& header) {
    Dims dims;
    if (!Take("(")) return Malformed();
    while (!Take(")")) {
      SkipSpace();
      uint64_t dim = 0;
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), dim);
      if (error != std::errc() || dims.size() == kMostDims) return Malformed();
      text_.remove_prefix(static_cast<size_t>(end - text_.data()));
      dims.push_back(dim);
      if (Take(",")) continue;
      if (!Take(")")) return Malformed();
      break;
    }
    header.shape = std::move(dims);
    return absl::OkStatus();
  }

  void SkipSpace() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) text_.remove_prefix(1);
  }

  bool Take(std::string_view token) {
    SkipSpace();
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }

  std::optional<std::string> TakeString() {
    SkipSpace();
    if (text_.empty() || (text_.front() != '\'' && text_.front() != '"')) return std::nullopt;
    const size_t end = text_.find(text_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string value(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return value;
  }

  std::string_view text_;
};

std::optional<ElementType> ElementOf(std::string_view descr) {
  struct Name {
    std::string_view descr;
    ElementType element;
  };
  static constexpr Name kNames[] = {{"|b1", ElementType::Bool}, {"|i1", ElementType::I8},  {"<i2", ElementType::I16},
                                    {"<i4", ElementType::I32},  {"<i8", ElementType::I64}, {"|u1", ElementType::U8},
                                    {"<u2", ElementType::U16},  {"<u4", ElementType::U32}, {"<u8", ElementType::U64},
                                    {"<f2", ElementType::F16},  {"<f4", ElementType::F32}, {"<f8", ElementType::F64},
                                    {"<c8", ElementType::C64}};
  const auto* const at = std::ranges::find(kNames, descr, &Name::descr);
  if (at == std::end(kNames)) return std::nullopt;
  return at->element;
}

// The header's text, and where the elements begin.
absl::StatusOr<std::string_view> TextOfHeader(std::span<const std::byte> bytes, uint64_t& end) {
  const std::string_view text = AsText(bytes);
  if (text.size() < 10) return NotNpy("truncated: its .npy header is cut short");
  const auto version = static_cast<uint8_t>(text[6]);
  if (version < 1 || version > 3)
    return NotNpy("has version ", version, " of the .npy format; expected 1 to 3; write it by numpy.save");
  const size_t length_bytes = version == 1 ? 2 : 4;
  const size_t begin = 8 + length_bytes;
  uint32_t length = 0;
  if (text.size() < begin) return NotNpy("truncated: its .npy header is cut short");
  std::memcpy(&length, bytes.data() + 8, length_bytes);
  if (length > kMostNpyHeader - begin)
    return NotNpy("its .npy header would take ", length, " bytes; expected at most ", kMostNpyHeader - begin);
  if (length > text.size() - begin)
    return NotNpy("truncated: its .npy header takes ", length, " bytes, but ", text.size() - begin, " are there");
  end = begin + length;
  return text.substr(begin, length);
}

}  // namespace

bool IsNpy(std::span<const std::byte> bytes) { return AsText(bytes).starts_with(kMagic); }

absl::StatusOr<TensorEntry> ReadNpyHeader(std::span<const std::byte> bytes, uint64_t size) {
  if (!IsNpy(bytes)) return NotNpy("not a .npy file: it does not begin with \\x93NUMPY");
  TensorEntry entry;
  absl::StatusOr<std::string_view> text = TextOfHeader(bytes, entry.offset);
  if (!text.ok()) return text.status();
  Header header;
  if (absl::Status status = HeaderParser(*text).Parse(header); !status.ok()) return status;
  const std::optional<ElementType> element = ElementOf(*header.descr);
  if (!element) {
    return NotNpy(
        "has dtype ", QuotedName(*header.descr),
        ", which is not supported; expected little-endian numbers or booleans, as '<f4'; convert it by astype");
  }
  if (*header.fortran_order && std::ranges::count_if(*header.shape, [](uint64_t dim) { return dim != 1; }) > 1)
    return NotNpy("is in Fortran order; expected C order, in which rows are whole; save numpy.ascontiguousarray of it");
  entry.element = *element;
  entry.dims = *std::move(header.shape);
  if (!TensorBytes(entry.element, entry.dims, entry.size)) return NotNpy("its shape overflows");
  if (entry.size != size - entry.offset) {
    return NotNpy(entry.size > size - entry.offset ? "truncated: " : "", FileTypeText(entry.element, entry.dims),
                  " takes ", entry.size, " bytes, but ", size - entry.offset, " follow its header");
  }
  return entry;
}

}  // namespace sgd::data
