// Where a tensor is in the user's structures, read from the name that JAX gives it: "state.params['w'][0]" is state,
// params, w, 0.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sgd::artifact {

// Attributes and keys are names, so ".w" and "['w']" are the same part; "[0]" is a position.
struct PathPart {
  std::string text;
  bool is_index = false;

  bool operator==(const PathPart&) const = default;
};
using TensorPath = std::vector<PathPart>;

// Of an argument: begins with the parameter of the user's function, "state.params['w']". Whatever is no path is one
// part.
TensorPath ArgumentPath(std::string_view name);

// Of a result, without the leading "result": "result[0].params['w']", in older texts "[0].params['w']". "result" alone
// and "" are the only result, with an empty path.
TensorPath ResultPath(std::string_view name);

// "state.params.w.0" for "state.params['w'][0]": as recipes name tensors.
std::string DottedText(const TensorPath& path);

// "state.params['w']" once more, or "[0]['w']".
std::string PathText(const TensorPath& path);

}  // namespace sgd::artifact
