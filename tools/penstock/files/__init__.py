"""files: what files contain, read without the library: containers, catalogues, pictures, records of others."""
