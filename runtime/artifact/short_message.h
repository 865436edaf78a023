// Messages of a length that people read, whatever stands in the names that they quote.
#pragma once

#include <string>
#include <string_view>

namespace sgd::artifact {

// Returns `message` with "..." for the middle of each word of more than 300 bytes, and of a text that is still longer
// than 10,000 bytes: names in files and arguments may be of any size, and hide the cause. Cuts between UTF-8
// characters.
std::string ShortMessage(std::string_view message);

}  // namespace sgd::artifact
