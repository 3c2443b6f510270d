"""pages: what the HTML pages of `penstock report` and `penstock doctor` share: frame, colours, figures."""
