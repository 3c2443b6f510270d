# penstock_command: a program that the command `penstock` starts, installed beside it, and in the Python package.

# The folder of this build in the package: its library, under a name of its own, and its programs.
set(PENSTOCK_WHEEL_HOME penstock_native/${PENSTOCK_MPI_FLAVOUR})
if(PENSTOCK_WHEEL)
  add_custom_target(penstock_wheel)  # what the package holds
endif()

# penstock_finds_library(TARGET FOLDER [LIBRARIES]): TARGET, installed in FOLDER, finds the library in LIBRARIES (lib),
# and others where it was linked with them. Relative, so that an installation may be moved.
function(penstock_finds_library target folder)
  set(libraries ${ARGN})
  if(NOT libraries)
    set(libraries ${CMAKE_INSTALL_LIBDIR})
  endif()
  if(IS_ABSOLUTE "${folder}" OR IS_ABSOLUTE "${libraries}")
    set(place ${CMAKE_INSTALL_FULL_LIBDIR})
  else()
    file(RELATIVE_PATH place /prefix/${folder} /prefix/${libraries})
    set(place $ORIGIN/${place})
  endif()
  set(places ${place} ${CMAKE_INSTALL_RPATH})
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "${places}" INSTALL_RPATH_USE_LINK_PATH ON)
endfunction()

function(penstock_command target)
  install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  penstock_finds_library(${target} ${CMAKE_INSTALL_BINDIR})
  if(PENSTOCK_WHEEL)
    penstock_finds_library(${target} ${PENSTOCK_WHEEL_HOME}/bin ${PENSTOCK_WHEEL_HOME}/lib)
    install(TARGETS ${target} RUNTIME DESTINATION ${PENSTOCK_WHEEL_HOME}/bin COMPONENT python)
    add_dependencies(penstock_wheel ${target})
  endif()
endfunction()
