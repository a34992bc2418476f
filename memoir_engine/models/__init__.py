"""The only place that talks to models: pydantic-ai, litellm and the built-in offline model live here."""
