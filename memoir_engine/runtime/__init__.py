"""Runtime: the engine's composition, runs and jobs, the model of a run, caches kept up to date, access."""
