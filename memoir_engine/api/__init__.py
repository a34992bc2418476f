"""The faces: they bind what the features give, and decide nothing."""
