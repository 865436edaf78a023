// Checks JSON values against JSON Schema, draft 2020-12: the keywords that docs/schemas uses.
#ifndef SGD_TESTS_COMPILER_SCHEMAS_JSON_SCHEMA_H
#define SGD_TESTS_COMPILER_SCHEMAS_JSON_SCHEMA_H

#include <string>

#include "runtime/json/json_text.h"

namespace mlir::sgd {

using Json = nlohmann::ordered_json;

/// The JSON of a file of this repository; discarded, and a failure of the test, if there is none.
Json readJsonFile(const std::string& path);

class JsonSchema {
 public:
  explicit JsonSchema(Json root) : root(std::move(root)) {}

  /// Whether `value` is valid. A keyword that this class does not know fails the test.
  bool accepts(const Json& value) const { return accepts(root, value); }

  /// The schema that `pointer` leads to, "/$defs/rule".
  const Json& at(const std::string& pointer) const { return root.at(Json::json_pointer(pointer)); }

 private:
  bool accepts(const Json& schema, const Json& value) const;
  bool keywordAccepts(const Json& schema, const std::string& keyword, const Json& argument, const Json& value) const;
  bool acceptsFields(const Json& schema, const Json& object) const;

  Json root;
};

}  // namespace mlir::sgd

#endif
