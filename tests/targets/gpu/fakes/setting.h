// Variables that say what the fakes are.
#pragma once

#include <stdlib.h>

namespace sgd::emulated {

inline int Setting(const char* name, int otherwise) {
  const char* value = getenv(name);
  return value == nullptr ? otherwise : atoi(value);
}

}  // namespace sgd::emulated
