#include "tests/compiler/schemas/json_schema.h"

#include <fstream>
#include <set>
#include <sstream>

#include "gtest/gtest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Regex.h"

using namespace mlir::sgd;

Json mlir::sgd::readJsonFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  Json json = Json::parse(text.str(), nullptr, /*allow_exceptions=*/false);
  EXPECT_FALSE(json.is_discarded()) << path;
  return json;
}

static bool hasType(const std::string& type, const Json& value) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "number") return value.is_number();
  EXPECT_EQ(type, "integer");
  return value.is_number_integer();
}

static bool isUnique(const Json& list) {
  std::set<std::string> seen;
  return llvm::all_of(list, [&](const Json& entry) { return seen.insert(entry.dump()).second; });
}

static bool hasFields(const Json& object, const Json& names) {
  return llvm::all_of(names, [&](const Json& name) { return object.contains(name.get<std::string>()); });
}

/// `properties` and `additionalProperties`, which depend on each other.
bool JsonSchema::acceptsFields(const Json& schema, const Json& object) const {
  const auto properties = schema.find("properties"), others = schema.find("additionalProperties"), none = schema.end();
  for (const auto& [name, field] : object.items()) {
    const Json* found = others == none ? nullptr : &*others;
    if (properties != none)
      if (const auto property = properties->find(name); property != properties->end()) found = &*property;
    if (found == nullptr || *found == true) continue;
    if (*found == false || !accepts(*found, field)) return false;
  }
  return true;
}

bool JsonSchema::keywordAccepts(const Json& schema, const std::string& keyword, const Json& argument,
                                const Json& value) const {
  auto isValid = [&](const Json& other) { return accepts(other, value); };
  static const std::set<std::string> silent = {"$schema", "$defs", "title", "description", "then"};
  if (silent.count(keyword)) return true;
  if (keyword == "$ref") return accepts(at(argument.get<std::string>().substr(1)), value);
  if (keyword == "type") return hasType(argument.get<std::string>(), value);
  // llvm::is_contained would call Json::contains, which looks for a key.
  if (keyword == "enum") return llvm::any_of(argument, [&](const Json& allowed) { return allowed == value; });
  if (keyword == "const") return argument == value;
  if (keyword == "allOf") return llvm::all_of(argument, isValid);
  if (keyword == "anyOf") return llvm::any_of(argument, isValid);
  if (keyword == "oneOf") return llvm::count_if(argument, isValid) == 1;
  if (keyword == "not") return !isValid(argument);
  if (keyword == "if") return !isValid(argument) || isValid(schema["then"]);
  if (keyword == "minimum") return !value.is_number() || value >= argument;
  if (keyword == "maximum") return !value.is_number() || value <= argument;
  if (keyword == "exclusiveMinimum") return !value.is_number() || value > argument;
  if (keyword == "exclusiveMaximum") return !value.is_number() || value < argument;
  if (keyword == "minLength") return !value.is_string() || value.get<std::string>().size() >= argument;
  if (keyword == "pattern")
    return !value.is_string() || llvm::Regex(argument.get<std::string>()).match(value.get<std::string>());
  if (keyword == "minItems") return !value.is_array() || value.size() >= argument;
  if (keyword == "maxItems") return !value.is_array() || value.size() <= argument;
  if (keyword == "uniqueItems") return !value.is_array() || isUnique(value);
  if (keyword == "items")
    return !value.is_array() || llvm::all_of(value, [&](const Json& entry) { return accepts(argument, entry); });
  if (keyword == "contains")
    return !value.is_array() || llvm::any_of(value, [&](const Json& entry) { return accepts(argument, entry); });
  if (keyword == "minProperties") return !value.is_object() || value.size() >= argument;
  if (keyword == "maxProperties") return !value.is_object() || value.size() <= argument;
  if (keyword == "required") return !value.is_object() || hasFields(value, argument);
  if (keyword == "properties" || keyword == "additionalProperties")
    return !value.is_object() || acceptsFields(schema, value);
  if (keyword == "propertyNames")
    return !value.is_object() ||
           llvm::all_of(value.items(), [&](const auto& item) { return accepts(argument, Json(item.key())); });
  if (keyword == "dependentRequired")
    return !value.is_object() || llvm::all_of(argument.items(), [&](const auto& item) {
      return !value.contains(item.key()) || hasFields(value, item.value());
    });
  ADD_FAILURE() << "unknown keyword " << keyword;
  return false;
}

bool JsonSchema::accepts(const Json& schema, const Json& value) const {
  return llvm::all_of(schema.items(),
                      [&](const auto& item) { return keywordAccepts(schema, item.key(), item.value(), value); });
}
