"""Capture: a tool call that changed something becomes an operational_event, by way of a spool on disk."""
