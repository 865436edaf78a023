// The page without its data, which the build makes of the files in web/.
#pragma once

#include <cstddef>

namespace sgd::page {

// "@DATA@" stands once where the data goes.
extern const unsigned char kPageTemplate[];
extern const size_t kPageTemplateSize;

}  // namespace sgd::page
