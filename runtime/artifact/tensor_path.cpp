// A scanner for JAX's keystr.
#include "runtime/artifact/tensor_path.h"

#include <algorithm>
#include <cctype>

namespace sgd::artifact {
namespace {

// "0", and "<flat index 0>" of structures that name nothing.
bool IsIndex(std::string_view text) {
  constexpr std::string_view kFlat = "<flat index ";
  if (text.starts_with(kFlat)) return true;
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c) != 0; });
}

// The end of the key that begins at `begin`, behind its quote: a quote, a bracket, and then another part or the end. A
// key may hold brackets, dots and, behind a backslash, its own quote.
size_t KeyEnd(std::string_view name, size_t begin, char quote) {
  for (size_t i = begin; i + 1 < name.size(); ++i) {
    if (name[i] == '\\') {
      ++i;
      continue;
    }
    const bool is_end = i + 2 == name.size() || name[i + 2] == '.' || name[i + 2] == '[';
    if (name[i] == quote && name[i + 1] == ']' && is_end) return i;
  }
  return std::string_view::npos;
}

TensorPath Parse(std::string_view name) {
  TensorPath path;
  size_t i = 0;
  while (i < name.size()) {
    const char quote = name[i] == '[' && i + 1 < name.size() ? name[i + 1] : '\0';
    if (quote == '\'' || quote == '"') {
      const size_t end = KeyEnd(name, i + 2, quote);
      path.push_back({std::string(name.substr(i + 2, end == std::string_view::npos ? end : end - i - 2)), false});
      i = end == std::string_view::npos ? name.size() : end + 2;
    } else if (name[i] == '[') {
      const size_t end = std::min(name.find(']', i), name.size());
      const std::string_view text = name.substr(i + 1, end - i - 1);
      path.push_back({std::string(text), IsIndex(text)});
      i = end + 1;
    } else {
      const size_t begin = name[i] == '.' ? i + 1 : i;
      const size_t end = std::min(name.find_first_of(".[", begin), name.size());
      if (end > begin) path.push_back({std::string(name.substr(begin, end - begin)), false});
      i = std::max(end, i + 1);
    }
  }
  return path;
}

}  // namespace

TensorPath ArgumentPath(std::string_view name) { return Parse(name); }

TensorPath ResultPath(std::string_view name) {
  constexpr std::string_view kRoot = "result";
  const bool has_root = name.starts_with(kRoot) &&
                        (name.size() == kRoot.size() || name[kRoot.size()] == '.' || name[kRoot.size()] == '[');
  return Parse(has_root ? name.substr(kRoot.size()) : name);
}

std::string DottedText(const TensorPath& path) {
  std::string text;
  for (const PathPart& part : path) text += (text.empty() ? "" : ".") + part.text;
  return text;
}

std::string PathText(const TensorPath& path) {
  std::string text;
  for (const PathPart& part : path) {
    if (part.is_index) {
      text += "[" + part.text + "]";
    } else if (text.empty()) {
      text += part.text;
    } else {
      text += "['" + part.text + "']";
    }
  }
  return text;
}

}  // namespace sgd::artifact
