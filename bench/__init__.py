"""What the harness costs, measured: `python3 bootstrap.py exec python -m bench`. Nothing here is a test."""
