// Files that are cut short while this process has them mapped: touching a page that has gone raises SIGBUS, which
// becomes an error that names the file.
#pragma once

namespace sgd::process {

// From now on SIGBUS within the mapping of a file ends the process by LeaveAtOnce with the file's path, as the command
// line has it where it names the file or its folder. Elsewhere the signal does what it did before. Call it once, at the
// start of main, whose arguments must live on.
void LeaveWhenFilesShrink(int argc, const char* const* argv);

}  // namespace sgd::process
