// Finds the libraries that are opened at run time: lib/sgd of a build, an installation or a wheel.
#pragma once

#include <filesystem>
#include <string>

namespace sgd::plugin {

// The path of lib/sgd/`name` beside the file that this code is linked into, be it a program, libsgd.so, a Python module
// or a plugin of JAX. Where no such file exists, the path beside the program, for messages.
std::filesystem::path PathOf(const std::string& name);

}  // namespace sgd::plugin
