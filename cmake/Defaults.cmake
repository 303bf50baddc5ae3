# SPDX-License-Identifier: Apache-2.0
# Language and output settings that every target shares.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

# A prefetch for writing takes the line away from the other core at once. Without this flag GCC and Clang fetch it shared,
# and each first store to it waits for the other core all the same. The instruction does nothing on processors that do
# not know it (Intel SDM, PREFETCHW).
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|amd64")
  add_compile_options(-mprfchw)
endif()

# With paths relative to the tree, build folders and clones share what was compiled once.
find_program(GRADSTORM_CCACHE ccache)
if(GRADSTORM_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
      "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=true "${GRADSTORM_CCACHE}")
endif()
