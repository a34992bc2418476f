"""The Streamlit app: draws what the engine's facade returns and decides nothing itself."""
