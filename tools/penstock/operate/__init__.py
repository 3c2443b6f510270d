"""operate: what is on this node now: monitor, feed, and leftovers of killed programs."""
