# mezzo_build_flags: how the repository's own programs are compiled. Nothing of it reaches users.

set(MEZZO_SANITIZE "" CACHE STRING "Sanitizers for tests, examples and benchmarks: address (with undefined), thread, or none")
set_property(CACHE MEZZO_SANITIZE PROPERTY STRINGS "" address thread)

add_library(mezzo_build_flags INTERFACE)
target_compile_options(mezzo_build_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow -Werror)
if(MEZZO_SANITIZE STREQUAL "")
  target_compile_options(mezzo_build_flags INTERFACE -O2)
elseif(MEZZO_SANITIZE STREQUAL "address")
  target_compile_options(mezzo_build_flags INTERFACE -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all)
  target_link_options(mezzo_build_flags INTERFACE -fsanitize=address,undefined)
elseif(MEZZO_SANITIZE STREQUAL "thread")
  target_compile_options(mezzo_build_flags INTERFACE -O1 -g1 -fsanitize=thread)
  target_link_options(mezzo_build_flags INTERFACE -fsanitize=thread)
else()
  message(FATAL_ERROR "MEZZO_SANITIZE is '${MEZZO_SANITIZE}'; it can be address, thread or empty")
endif()
if(MEZZO_SANITIZE)  # instrumented loops are not vectorised, and clang warns where they ask to be
  target_compile_options(mezzo_build_flags INTERFACE $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed>)
endif()
