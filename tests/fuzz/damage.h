// Texts that are almost programs.
#ifndef SGD_TESTS_FUZZ_DAMAGE_H
#define SGD_TESTS_FUZZ_DAMAGE_H

#include <string>

#include "tests/fuzz/choices.h"

namespace mlir::sgd::fuzz {

/// `text` with some of its tokens dropped, doubled, exchanged for others of the text, or for what a program rarely has.
/// Comments stay as they are.
std::string damage(Choices& choices, const std::string& text);

}  // namespace mlir::sgd::fuzz

#endif
