"""trace: what PENSTOCK_TRACE wrote, as a Job and for Perfetto."""
