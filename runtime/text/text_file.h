// Reads files that people write: models, recipes, topologies.
#ifndef SGD_RUNTIME_TEXT_TEXT_FILE_H
#define SGD_RUNTIME_TEXT_TEXT_FILE_H

#include <cstddef>
#include <optional>
#include <string>

namespace sgd::text {

/// Reads the regular file `path` into `text`. Returns the cause if that fails. Refuses devices, pipes and folders,
/// which may never end, without waiting for them. Does not map the file: another program may cut it short meanwhile.
std::optional<std::string> ReadTextFile(const std::string& path, std::string& text);

/// Likewise, but reads `most_bytes` from its start at most.
std::optional<std::string> ReadStartOfFile(const std::string& path, size_t most_bytes, std::string& text);

/// Reads standard input, of any kind, to its end.
std::optional<std::string> ReadStandardInput(std::string& text);

}  // namespace sgd::text

#endif
