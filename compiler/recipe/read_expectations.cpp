// The field `expect` of a recipe: which keys an entry has says what it is about.
#include "compiler/recipe/recipe_json.h"
#include "llvm/ADT/STLExtras.h"
#include "runtime/comm/collectives/collective_kind.h"

using namespace mlir::sgd;
using llvm::ArrayRef;
using llvm::Error;
using llvm::StringRef;
using llvm::Twine;
using Json = nlohmann::ordered_json;

namespace {

/// The fields that an entry with the key `name` may have.
struct EntryForm {
  StringRef name;
  Expectation::Kind kind;
  std::string Expectation::* subject;  ///< that the key's value names; null: the value is the number of bytes
  ArrayRef<StringRef> fields;
};

}  // namespace

static ArrayRef<EntryForm> getForms() {
  using Kind = Expectation::Kind;
  static constexpr StringRef kOfCollectives[] = {"collective", "axis", "scope", "bytes"};
  static constexpr StringRef kOfTensors[] = {"replicated", "axis", "bytes"};
  static constexpr StringRef kSent[] = {"sent_bytes"}, kPeak[] = {"peak"};
  static const EntryForm forms[] = {{"collective", Kind::Collective, &Expectation::collective, kOfCollectives},
                                    {"replicated", Kind::Replicated, &Expectation::tensor, kOfTensors},
                                    {"sent_bytes", Kind::SentBytes, nullptr, kSent},
                                    {"peak", Kind::Peak, nullptr, kPeak}};
  return forms;
}

static Error expected(const Twine& path, const Json& value, const Twine& what) {
  return fail("field '" + path + "' is " + ShowJson(value) + "; expected " + what);
}

static Error readBytes(const Twine& path, const Json& value, uint64_t& bytes) {
  std::optional<int64_t> number = getInteger(value);
  if (number && *number >= 0) {
    bytes = static_cast<uint64_t>(*number);
    return Error::success();
  }
  if (!value.is_string()) return expected(path, value, "a number of bytes, 0 or \"1.2GB\"");
  llvm::Expected<uint64_t> size = parseByteSize(value.get<std::string>());
  if (!size) return fail("field '" + path + "': " + llvm::toString(size.takeError()));
  bytes = *size;
  return Error::success();
}

static Error readText(const Twine& path, const Json& value, const Twine& what, std::string& text) {
  if (!value.is_string() || value == "") return expected(path, value, what);
  text = value.get<std::string>();
  return Error::success();
}

/// `collective` is a kind, or `any`.
static Error checkCollective(const Expectation& expectation) {
  llvm::SmallVector<StringRef> known = {"any", "send"};
  for (const auto& traits : ::sgd::comm::kCollectives) known.push_back(traits.name);
  if (llvm::is_contained(known, expectation.collective)) return Error::success();
  StringRef nearest = findNearestName(expectation.collective, known);
  std::string message = "field '" + expectation.path + ".collective' is \"" + expectation.collective +
                        "\"; expected the kind of a collective, such as \"all_gather\", \"send\", or \"any\"";
  return fail(message + (nearest.empty() ? "" : "; did you mean \"" + nearest.str() + "\"?"));
}

static const EntryForm* findForm(const Json& entry) {
  const EntryForm* found = nullptr;
  for (const EntryForm& form : getForms()) {
    if (!entry.contains(form.name.str())) continue;
    if (found) return nullptr;
    found = &form;
  }
  return found;
}

static llvm::Expected<Expectation> readEntry(const std::string& path, const Json& entry) {
  const EntryForm* form = entry.is_object() ? findForm(entry) : nullptr;
  if (!form)
    return expected(path, entry,
                    "an object with one of 'collective', 'replicated', 'sent_bytes' and 'peak', such as "
                    "{\"collective\": \"all_gather\", \"axis\": \"model\", \"bytes\": 0}");
  if (Error error = checkFieldNames(entry, path + ".", form->fields)) return std::move(error);
  Expectation expectation{.path = path, .kind = form->kind};
  const Json& subject = entry[form->name.str()];
  const std::string key = path + "." + form->name.str();
  if (!form->subject) {
    if (Error error = readBytes(key, subject, expectation.bytes)) return std::move(error);
    return expectation;
  }
  if (Error error = readText(key, subject, "a string that is not empty", expectation.*form->subject))
    return std::move(error);
  if (form->kind == Expectation::Kind::Collective)
    if (Error error = checkCollective(expectation)) return std::move(error);
  if (auto axis = entry.find("axis"); axis != entry.end())
    if (Error error = readText(path + ".axis", *axis, "an axis of the mesh", expectation.axis)) return std::move(error);
  if (auto scope = entry.find("scope"); scope != entry.end())
    if (Error error = readText(path + ".scope", *scope, "a glob", expectation.scope)) return std::move(error);
  auto bytes = entry.find("bytes");
  if (bytes == entry.end())
    return fail("field '" + path + ".bytes' is missing; expected the bytes that are allowed, such as 0");
  if (Error error = readBytes(path + ".bytes", *bytes, expectation.bytes)) return std::move(error);
  return expectation;
}

llvm::Expected<std::vector<Expectation>> mlir::sgd::readExpectations(const Json& value) {
  if (!value.is_array()) return expected("expect", value, "a list, such as [{\"sent_bytes\": \"1.2GB\"}]");
  std::vector<Expectation> expectations;
  for (auto [index, entry] : llvm::enumerate(value)) {
    llvm::Expected<Expectation> expectation = readEntry("expect[" + std::to_string(index) + "]", entry);
    if (!expectation) return expectation.takeError();
    expectations.push_back(std::move(*expectation));
  }
  return expectations;
}
