"""The recall index, derived from the table: resident vectors and BM25."""
