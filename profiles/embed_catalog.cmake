# SPDX-License-Identifier: Apache-2.0
# cmake -DCATALOG=DIR -DOUTPUT=FILE.cpp -P embed_catalog.cmake
# Writes the profiles of DIR into a C++ source, so that the program needs no files beside it.
file(GLOB profiles "${CATALOG}/*.toml")
list(SORT profiles)
set(entries "")
foreach(profile IN LISTS profiles)
  get_filename_component(name "${profile}" NAME_WE)
  file(READ "${profile}" text)
  string(REGEX MATCHALL "(^|\n)# [^\n]*" comments "${text}")
  set(summary "")
  foreach(comment IN LISTS comments)
    string(REGEX REPLACE "^\n?# " "" comment "${comment}")
    if(NOT summary AND NOT comment MATCHES "^SPDX-")
      set(summary "${comment}")
    endif()
  endforeach()
  string(APPEND entries "    {R\"profile(${name})profile\", R\"profile(${summary})profile\", R\"profile(${text})profile\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made from profiles/catalog by profiles/embed_catalog.cmake.
#include \"profiles/catalog.h\"

namespace gradstorm::profiles {

namespace {
constexpr CatalogEntry kEntries[] = {
${entries}};
}  // namespace

std::span<const CatalogEntry> catalog() { return kEntries; }

}  // namespace gradstorm::profiles
")
