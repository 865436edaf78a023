# Writes OUT, a header with the SHA-256 of FILES, which lie below ROOT: programs and plugins that were built from other contents know it.
foreach(file IN LISTS FILES)
  file(SHA256 ${file} hash)
  file(RELATIVE_PATH name ${ROOT} ${file})
  string(APPEND hashes "${name} ${hash}\n")
endforeach()
string(SHA256 hash "${hashes}")
file(WRITE ${OUT} "#define SGD_INTERFACE_HASH \"${hash}\"\n")
