// Standard input, output and error of a process that was started without them.
#pragma once

namespace sgd::artifact {

// Opens those of the descriptors 0 to 2 that are closed, before anything else opens a file: it would get such a number,
// and messages would be written into it. They still cannot be written to. Call first in main.
void ReserveStandardDescriptors();

}  // namespace sgd::artifact
