// Kernels of hand-built artifacts, compiled like generated ones: no library, no writable data. See Kernel in program.fbs.
typedef __INT64_TYPE__ int64_t;

// buffers: source, target; target[i] = 2 * source[i] + coordinates[0].
void scale(void* const* buffers, const int64_t* coordinates, int64_t begin, int64_t end) {
  const float* source = buffers[0];
  float* target = buffers[1];
  for (int64_t i = begin; i < end; ++i) target[i] = 2.0f * source[i] + (float)coordinates[0];
}

// buffers: target; target[i] = end of the part that i was in, to see how a launch was cut.
void parts(void* const* buffers, const int64_t* coordinates, int64_t begin, int64_t end) {
  (void)coordinates;
  int64_t* target = buffers[0];
  for (int64_t i = begin; i < end; ++i) target[i] = end;
}
