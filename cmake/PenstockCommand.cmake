# penstock_command: a program that the command `penstock` starts, installed beside it, and in the Python package.

# The folder of this build in the package: its library, under a name of its own, and its programs.
set(PENSTOCK_WHEEL_HOME penstock_native/${PENSTOCK_MPI_FLAVOUR})
if(PENSTOCK_WHEEL)
  add_custom_target(penstock_wheel)  # what the package holds
endif()

function(penstock_command target)
  install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  if(PENSTOCK_WHEEL)
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
    install(TARGETS ${target} RUNTIME DESTINATION ${PENSTOCK_WHEEL_HOME}/bin COMPONENT python)
    add_dependencies(penstock_wheel ${target})
  endif()
endfunction()
