"""replay: the pattern of a finding played before and after its remedy, here, by penstock-bench replay."""
