"""base: what every room uses: errors, words for quantities, how programs are started, pages."""
