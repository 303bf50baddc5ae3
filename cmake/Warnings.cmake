# SPDX-License-Identifier: Apache-2.0
# gradstorm_warnings: linked privately by every target of ours, never by users of a library.
add_library(gradstorm_warnings INTERFACE)
target_compile_options(gradstorm_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wnon-virtual-dtor
  -Woverloaded-virtual -Wcast-qual -Wformat=2 -Wimplicit-fallthrough)
if(GRADSTORM_WERROR)
  target_compile_options(gradstorm_warnings INTERFACE -Werror)
endif()
