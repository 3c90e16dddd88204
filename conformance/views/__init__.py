"""Views: what people see of a report. They are made from its lines, never from a run."""
