# penstock_room: one room of the house as one target, whose ARROWS are its link line and the include check's law.

# penstock_room(NAME FOLDER SOURCES... ARROWS rooms... [LIBRARIES targets...] [TESTS files...])
# FOLDER is relative to the root. Arrows are written to build/arrows.txt ("FOLDER: FOLDER FOLDER ..."), which
# tools/checks/arrows.py reads.
function(penstock_room name folder)
  cmake_parse_arguments(ROOM "" "" "SOURCES;ARROWS;LIBRARIES;TESTS" ${ARGN})
  set(target penstock_${name})
  add_library(${target} OBJECT ${ROOM_SOURCES})
  penstock_unity_groups(${target})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include
    ${PROJECT_BINARY_DIR}/include)
  set(arrows "")
  foreach(room IN LISTS ROOM_ARROWS)
    target_link_libraries(${target} PUBLIC penstock_${room})
    get_target_property(room_folder penstock_${room} PENSTOCK_FOLDER)
    string(APPEND arrows " ${room_folder}")
  endforeach()
  target_link_libraries(${target} PRIVATE ${ROOM_LIBRARIES})
  set_target_properties(${target} PROPERTIES PENSTOCK_FOLDER ${folder} POSITION_INDEPENDENT_CODE ON)
  set_property(GLOBAL APPEND PROPERTY PENSTOCK_ROOMS ${target})
  set_property(GLOBAL APPEND PROPERTY PENSTOCK_LIBRARIES ${ROOM_LIBRARIES})
  set_property(GLOBAL APPEND_STRING PROPERTY PENSTOCK_ARROWS "${folder}:${arrows}\n")
  if(PENSTOCK_TESTS AND ROOM_TESTS)
    penstock_unit_test(${name}_test ${ROOM_TESTS})
  endif()
endfunction()

# penstock_vectors(SOURCES): compiled with -O3, which makes vectors of their loops.
function(penstock_vectors)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS $<$<NOT:$<CONFIG:Debug>>:-O3> UNITY_GROUP vectors)
endfunction()

# penstock_unity_groups(TARGET): a unity build compiles the sources of one UNITY_GROUP as one source, and those without
# a group by sixteen.
function(penstock_unity_groups target)
  get_target_property(sources ${target} SOURCES)
  set(count 0)
  foreach(source IN LISTS sources)
    get_source_file_property(group ${source} UNITY_GROUP)
    if(NOT group)
      math(EXPR number "${count} / 16")
      math(EXPR count "${count} + 1")
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP rest${number})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()

# penstock_targets_below(FOLDER VARIABLE): the targets of FOLDER and of all folders below it.
function(penstock_targets_below folder variable)
  get_property(found DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  get_property(subfolders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(subfolder IN LISTS subfolders)
    penstock_targets_below(${subfolder} more)
    list(APPEND found ${more})
  endforeach()
  set(${variable} ${found} PARENT_SCOPE)
endfunction()

# penstock_unit_test(NAME SOURCES...): a GoogleTest program on the whole library, run on one process.
function(penstock_unit_test name)
  if(NOT PENSTOCK_UNIT_TESTS)
    return()
  endif()
  add_executable(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF EXCLUDE_FROM_ALL ON)
  set_property(GLOBAL APPEND PROPERTY PENSTOCK_TEST_TARGETS ${name})
  target_link_libraries(${name} PRIVATE penstock_core GTest::gtest_main fmt::fmt nlohmann_json::nlohmann_json)
  # Optimised, they take seconds to run; but under sanitizers they take minutes more to compile.
  set(optimised -O1)
  if(PENSTOCK_SANITIZE)
    set(optimised -O0)
  endif()
  target_compile_options(${name} PRIVATE ${optimised})
  if(NOT TARGET penstock_unit_headers)
    file(WRITE ${PROJECT_BINARY_DIR}/unit_headers.cpp "")
    add_library(penstock_unit_headers OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/unit_headers.cpp)
    target_link_libraries(penstock_unit_headers PRIVATE GTest::gtest fmt::fmt nlohmann_json::nlohmann_json)
    target_compile_options(penstock_unit_headers PRIVATE ${optimised})
    set_target_properties(penstock_unit_headers PROPERTIES UNITY_BUILD OFF)
    target_precompile_headers(penstock_unit_headers PRIVATE
      <gtest/gtest.h> <fmt/format.h> <filesystem> <functional> <map> <random> <set> <span> <string> <thread> <vector>)
  endif()
  target_precompile_headers(${name} REUSE_FROM penstock_unit_headers)
  gtest_discover_tests(${name} NO_PRETTY_VALUES PROPERTIES LABELS unit DISCOVERY_TIMEOUT 60)
endfunction()

# penstock_entry(NAME BUILT NEEDS): if BUILT is false, entry NAME stays in its room's table, and says NEEDS. Only its
# describe.cpp is then compiled, which defines `Descriptor NAME_descriptor();` and uses no library.
macro(penstock_entry name built needs)
  set(${name}_missing "")
  if(NOT (${built}))
    set(${name}_missing "${needs}")
  endif()
endmacro()

# penstock_entries(SOURCES TESTS NAMES...): the sources, and apart from them the *_test.cpp, of the entries in folders
# NAMES. A unity build compiles each folder as one source, since two folders use the same names.
macro(penstock_entries sources tests)
  set(${sources} "")
  set(${tests} "")
  foreach(entry ${ARGN})
    if("${${entry}_missing}" STREQUAL "")
      file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${entry}/*.cpp)
    else()
      set(found ${CMAKE_CURRENT_SOURCE_DIR}/${entry}/describe.cpp)
    endif()
    list(APPEND ${sources} ${found})
    list(APPEND ${tests} ${found})
    set_source_files_properties(${found} PROPERTIES UNITY_GROUP ${entry})
  endforeach()
  list(FILTER ${sources} EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER ${tests} INCLUDE REGEX "_test\\.cpp$")
endmacro()

# penstock_table(OUTPUT TYPE HEADER NAMES...): generates the table of a room's entries: each folder NAME defines
# `const TYPE& NAME_<type>();`. For entries that penstock_entry found missing, an Absent<TYPE> stands in.
function(penstock_table output type header)
  string(TOLOWER ${type} lower)
  set(declarations "")
  set(entries "")
  foreach(entry IN LISTS ARGN)
    if("${${entry}_missing}" STREQUAL "")
      set_property(GLOBAL APPEND PROPERTY PENSTOCK_BUILT_${type} ${entry})
      string(APPEND declarations "const ${type}& ${entry}_${lower}();\n")
    else()
      string(APPEND declarations "Descriptor ${entry}_descriptor();
static const ${type}& ${entry}_${lower}() {
  static const Absent${type} absent(${entry}_descriptor(), \"${${entry}_missing}\");
  return absent;
}
")
    endif()
    string(APPEND entries "      &${entry}_${lower}(),\n")
  endforeach()
  file(CONFIGURE OUTPUT ${output} @ONLY CONTENT
"// The table of ${lower}s that are built; generated from this room's CMakeLists.txt.
#include \"${header}\"

namespace penstock {

${declarations}
std::span<const ${type}* const> ${lower}s() {
  static const ${type}* const table[] = {
${entries}  };
  return table;
}

const ${type}* find_${lower}(std::string_view name) {
  for (const ${type}* entry : ${lower}s())
    if (entry->describe().name == name) return entry;
  return nullptr;
}

}  // namespace penstock
")
endfunction()
