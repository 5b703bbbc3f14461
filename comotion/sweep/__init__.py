"""Search over the fields of a config: which values give the best bound on data to choose on."""
