# What `cmake --install` puts where: the library, its headers, and how CMake and pkg-config find them.
include(CMakePackageConfigHelpers)

target_compile_features(penstock_core INTERFACE cxx_std_20)  # for users of the C++ headers
set_target_properties(penstock_core penstock_server PROPERTIES
  INSTALL_RPATH_USE_LINK_PATH ON)  # an HDF5 or MPI of one's own is found again

install(TARGETS penstock_core EXPORT penstock
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS penstock_server RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/penstock)
install(DIRECTORY include/ ${PROJECT_BINARY_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

if(PENSTOCK_FORTRAN)
  penstock_finds_library(penstock_fortran ${CMAKE_INSTALL_LIBDIR})
  install(TARGETS penstock_fortran EXPORT penstock_fortran LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES ${PROJECT_BINARY_DIR}/include/penstock/fortran/penstock.mod
    ${PROJECT_BINARY_DIR}/include/penstock/fortran/penstock_c.mod
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/penstock/fortran)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/penstock)
install(EXPORT penstock FILE penstock-targets.cmake NAMESPACE penstock:: DESTINATION ${package_dir})
if(PENSTOCK_FORTRAN)  # a set of its own: only projects in Fortran have MPI's Fortran target
  install(EXPORT penstock_fortran FILE penstock-fortran-targets.cmake NAMESPACE penstock:: DESTINATION ${package_dir})
endif()
configure_package_config_file(cmake/penstock-config.cmake.in penstock-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(penstock-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/penstock-config.cmake ${PROJECT_BINARY_DIR}/penstock-config-version.cmake
  DESTINATION ${package_dir})

# pkg-config: with the flags of the MPI that this build used, since penstock.h includes its mpi.h.
set(pc_mpi_flags "")
set(pc_mpi_libraries "")
if(PENSTOCK_MPI)
  list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND "-I" OUTPUT_VARIABLE pc_mpi_flags)
  list(JOIN pc_mpi_flags " " pc_mpi_flags)
  list(JOIN MPI_C_LIBRARIES " " pc_mpi_libraries)
endif()
set(pc_prefix ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")  # found from the file itself, so that an installation may be moved
  file(RELATIVE_PATH up ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  string(REGEX REPLACE "/$" "" up ${up})
  set(pc_prefix "\${pcfiledir}/${up}")
endif()
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_INCLUDEDIR BASE_DIRECTORY "\${prefix}" OUTPUT_VARIABLE pc_includedir)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY "\${prefix}" OUTPUT_VARIABLE pc_libdir)
set(pc_rpath "-Wl,-rpath,\${libdir} ")  # a program starts as it was linked, with nothing in LD_LIBRARY_PATH
if("${CMAKE_INSTALL_FULL_LIBDIR}" IN_LIST CMAKE_PLATFORM_IMPLICIT_LINK_DIRECTORIES)
  set(pc_rpath "")
endif()
configure_file(cmake/penstock.pc.in penstock.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/penstock.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(PENSTOCK_FORTRAN)
  configure_file(cmake/penstock-fortran.pc.in penstock-fortran.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/penstock-fortran.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

# Made by tools/manual where its Python libraries are: `make install` has them made.
install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL)
set(completions ${PROJECT_BINARY_DIR}/completions)
install(DIRECTORY ${completions}/bash/ DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions OPTIONAL)
install(DIRECTORY ${completions}/zsh/ DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions OPTIONAL)
install(DIRECTORY ${completions}/fish/ DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d OPTIONAL)

# Environment Modules, and Lmod, which reads the same file: `module load penstock`.
set(module_python "")
if(TARGET penstock_python AND NOT IS_ABSOLUTE "${PENSTOCK_PYTHON_DIR}")
  set(module_python "prepend-path PYTHONPATH           $prefix/${PENSTOCK_PYTHON_DIR}\n")
endif()
configure_file(packaging/modules/penstock.in modules/penstock/${PROJECT_VERSION} @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/modules/penstock/${PROJECT_VERSION}
  DESTINATION ${CMAKE_INSTALL_DATADIR}/modulefiles/penstock)
