// Memory of Python objects that have the buffer protocol.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <span>

namespace sgd::python {

// Bytes of a contiguous buffer, which its owner keeps while this lives. Throws what the owner raises, or where it is
// read-only or not contiguous.
class Buffer {
 public:
  enum class Access { kRead, kWrite };
  Buffer(nanobind::handle owner, Access access) {
    const int flags = PyBUF_SIMPLE | (access == Access::kWrite ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(owner.ptr(), &view_, flags) != 0) throw nanobind::python_error();
  }
  ~Buffer() { PyBuffer_Release(&view_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(view_.buf), static_cast<size_t>(view_.len)}; }

 private:
  Py_buffer view_ = {};
};

}  // namespace sgd::python
