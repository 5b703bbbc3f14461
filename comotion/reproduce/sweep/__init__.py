"""Search over the fields of a config: which values make data to choose on likeliest."""
