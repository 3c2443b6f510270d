"""files: containers, read without the library; catalogues; pictures; descriptions of Fortran records."""
