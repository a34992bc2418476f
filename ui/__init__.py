"""The app: draws what memoir_engine's facade answers, and decides nothing."""
