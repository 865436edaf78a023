// Signals of the Python interpreter that this process may be, for calls that wait for other processes.
#pragma once

namespace sgd::pjrt {

// Whether a signal, such as Ctrl-C, has come for this thread, the interpreter's main one. It is then raised again, and
// the interpreter handles it once the call has returned. False elsewhere, and without an interpreter. Takes the
// interpreter's lock for a moment, so the caller must hold no lock that a thread of Python may wait for.
bool HasPythonSignal();

}  // namespace sgd::pjrt
