"""The documents, and the programs that write those of them which are made from data."""
