"""The offline model: answers every prompt by word statistics, one file per task. Source: DESIGN §10."""
