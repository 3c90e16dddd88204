"""Reports: JSON lines, written as the run goes. A report without a footer is incomplete."""
