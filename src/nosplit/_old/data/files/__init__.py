"""Files of rows: CSV, NumPy and Parquet."""
