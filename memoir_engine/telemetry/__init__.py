"""What runs and model calls tell OpenTelemetry, where a setting asks for it."""
