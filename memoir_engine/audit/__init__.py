"""What is told about the record: words for what happened, and documents to keep. Pure: values in, text out."""
